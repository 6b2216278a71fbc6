import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { describe, expect, inject, it } from 'vitest'
import { userEnv } from './installed.ts'

const { folder, root, tarballBytes, files, installedBytes } = inject('installed')
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly name: string
  readonly version: string
  readonly repository?: object
  readonly exports: Readonly<Record<string, string | { readonly types: string; readonly default: string }>>
}

/** What is imported by name, without the manifest. */
const doors = Object.keys(manifest.exports)
  .filter((door) => door !== './package.json')
  .map((door) => join('crosswalk', door))

it('stays within its bounds', () => {
  const [tarball, installed] = [tarballBytes / 1e6, installedBytes / 2 ** 20]
  console.log(`tarball ${tarball.toFixed(2)} MB with ${files.length} files; installed ${installed.toFixed(0)} MB without optional packages`)
  expect(tarball).toBeLessThan(2.5)
  expect(files.length).toBeLessThan(1500)
  expect(installed).toBeLessThan(60)
})

it('holds no file of a source that is gone, no test, and not the program that makes the site', () => {
  expect(files.filter((path) => /stale|\.test\.|^test\/|^src\/|^docs\/site\/|tsbuildinfo/.test(path))).toEqual([])
})

describe('its README', () => {
  const base = manifest.repository ? '' : `https://unpkg.com/${manifest.name}@${manifest.version}/`
  const packed = readFileSync(join(root, 'README.md'), 'utf8')

  it('links to files of the package, on the page of a registry too', () => {
    const targets = [...packed.replace(/```.*?```/gs, '').matchAll(/\]\(([^)\s#]+)/g)].map(([, target = '']) => target)
    expect(targets).toContain(`${base}docs/start/endpoint.md`)
    const others = targets.filter((target) => !target.startsWith(base) || !files.includes(target.slice(base.length)))
    expect(others.filter((target) => base !== '' || !/^[a-z]+:/.test(target))).toEqual([])
  })

  it('differs from that of the tree by these addresses alone', () => {
    expect(packed.replaceAll(`](${base}`, '](')).toBe(readFileSync('README.md', 'utf8'))
  })
})

it('has no fault that publint knows', async () => {
  const { messages, pkg } = await publint({ pkgDir: root, strict: true, pack: false })
  expect(messages.map((message) => formatMessage(message, pkg, { color: false }))).toEqual([])
})

it.each(doors)('imports %s in a program', (door) => {
  const program = `const door = await import(${JSON.stringify(door)}); console.log(Object.keys(door).length)`
  const out = execFileSync(process.execPath, ['--input-type=module', '--eval', program], { cwd: folder, env: userEnv(), encoding: 'utf8' })
  expect(Number(out)).toBeGreaterThan(0)
})

it.each(['nodenext', 'bundler'])('has complete types for a program that resolves by %s', (resolution) => {
  const source = join(folder, 'consumer.ts')
  const uses = doors.map(
    (door, nth) => `import * as door${nth} from ${JSON.stringify(door)}\nexport const used${nth}: object = door${nth}\n`,
  )
  writeFileSync(
    source,
    `${uses.join('')}import { text } from 'crosswalk/tables'\n// @ts-expect-error: the name of a member is a text\ntext(1)\n`,
  )
  const options = ['--module', resolution === 'bundler' ? 'esnext' : 'nodenext', '--moduleResolution', resolution, '--target', 'es2022']
  const types = ['--typeRoots', join(process.cwd(), 'node_modules/@types'), '--types', 'node']
  const compiler = join(process.cwd(), 'node_modules/typescript/bin/tsc')
  const argv = [compiler, '--noEmit', '--strict', '--skipLibCheck', 'false', ...options, ...types, source]
  expect(outputOf(argv)).toBe('')
})

/** What a program prints, whatever its exit code. */
function outputOf(argv: readonly string[]): string {
  try {
    return execFileSync(process.execPath, argv, { cwd: dirname(root), encoding: 'utf8' })
  } catch (error) {
    return (error as { stdout: string }).stdout
  }
}
