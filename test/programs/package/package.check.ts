import { execFile, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { publint } from 'publint'
import { formatMessage } from 'publint/utils'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { userEnv } from './installed.ts'

describe('package', () => {
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
    console.log(
      `tarball ${tarball.toFixed(2)} MB with ${files.length} files; installed ${installed.toFixed(0)} MB without optional packages`,
    )
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
    const out = execFileSync(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: folder,
      env: userEnv(),
      encoding: 'utf8',
    })
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
})

describe('library', () => {
  const { folder, root } = inject('installed')
  const program = join(folder, 'library')

  /** Starts each example against a v2 service, asks it once, and closes it. Prints one line for each. */
  const MAIN = `import http from 'node:http'
import { startFastifyServer } from './fastify-server.ts'
import { startShop } from './own-tables.ts'
import { startPlainServer } from './plain-server.ts'

const [v2 = ''] = process.argv.slice(2)
const headers = { authorization: 'Bearer demo-owner' }
const plain = await startPlainServer(v2)
console.log('plain', (await fetch(\`\${plain.url}/iam/v1/roles?limit=1\`, { headers })).status)
await plain.close()
const app = await startFastifyServer(v2)
console.log('fastify', (await fetch(\`\${app.listeningOrigin}/old/iam/v1/roles?limit=1\`, { headers })).status)
await app.close()
const items = http.createServer((_, response) => response.setHeader('content-type', 'application/json').end('{"uid":"1","name":"a book"}'))
await new Promise<void>((resolve) => items.listen(0, '127.0.0.1', resolve))
const { port } = items.address() as { port: number }
const shop = await startShop(\`http://127.0.0.1:\${port}\`)
console.log('shop', await (await fetch(\`\${shop.url}/shop/v1/items/1\`, { headers })).text())
await shop.close()
items.close()
`

  let sandbox: { readonly url: string; readonly stop: () => Promise<void> }
  beforeAll(async () => {
    const child = spawn(process.execPath, [join(root, 'dist/bundle/cli.js'), 'sandbox', '--port', '0'], { cwd: folder, env: userEnv() })
    const [line] = await once(child.stdout, 'data')
    const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(String(line)) ?? []
    const stop = async () => {
      child.kill()
      await once(child, 'exit')
    }
    sandbox = { url, stop }
    mkdirSync(program)
    writeFileSync(join(program, 'package.json'), '{ "type": "module" }\n')
    writeFileSync(join(program, 'main.ts'), MAIN)
    for (const name of EXAMPLES) copyFileSync(join('examples/library', name), join(program, name))
  })
  afterAll(() => sandbox.stop())

  const EXAMPLES = ['plain-server.ts', 'fastify-server.ts', 'own-tables.ts']

  it('compiles the examples where it is installed, with the types of dependencies checked', async () => {
    writeFileSync(join(program, 'docs.ts'), blocksOf(readFileSync(join(root, 'docs/reference/library.md'), 'utf8')))
    const types = ['--typeRoots', join(process.cwd(), 'node_modules/@types'), '--types', 'node']
    const flags = ['--strict', '--exactOptionalPropertyTypes', '--skipLibCheck', 'false', '--module', 'nodenext', '--target', 'es2022']
    const argv = [
      join(process.cwd(), 'node_modules/typescript/bin/tsc'),
      ...flags,
      '--rewriteRelativeImportExtensions',
      ...types,
      'main.ts',
      'docs.ts',
    ]
    const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: program }).catch((error: { stdout: string }) => error)
    expect(stdout).toBe('')
  })

  it('runs the examples where it is installed', async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['main.js', sandbox.url], { cwd: program, env: userEnv() })
    expect(stdout.trim().split('\n')).toEqual(['plain 200', 'fastify 200', 'shop {"id":"1","title":"a book"}'])
  })

  /** The programs of the page as one that compiles: each in a block of its own below the imports of all. */
  function blocksOf(page: string): string {
    const blocks = [...page.matchAll(/```ts\n(.*?)```/gs)].map(([, text = '']) => text)
    expect(blocks.length).toBeGreaterThan(2)
    const body = blocks.map((text) => `{\n${text.replace(/^import .*\n/gm, '')}}\n`)
    return `import http from 'node:http'\nimport { createCrosswalk, crosswalk } from 'crosswalk'\nimport Fastify from 'fastify'\n\nconst app = Fastify()\n${body.join('')}`
  }
})
