import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { build } from 'vite'
import { expect, it, onTestFinished } from 'vitest'
import { buildCli } from '../cli/build.ts'
import { hasCurl } from '../cli/support.ts'

const DOCUMENT = readFileSync('docs/migration.md', 'utf8')

interface Block {
  readonly commands: string
  /** What they print, with `…` for anything; undefined where that is not told. */
  readonly output: string | undefined
}

/** The shell blocks of a document, each with the text block that follows it at once. */
function blocksOf(text: string): readonly Block[] {
  return [...text.matchAll(/```sh\n(.*?)```\n(?:\n```text\n(.*?)```\n)?/gs)].map(([, commands = '', output]) => ({ commands, output }))
}

/** A port that is free now. */
function freePort(): Promise<number> {
  return new Promise((done) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address()
      server.close(() => done(typeof address === 'object' && address ? address.port : 0))
    })
  })
}

/** Runs everything in one shell, as a reader does; resolves with what each block printed. */
function runAll(blocks: readonly Block[], cwd: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const separator = '=== end of a block'
  return new Promise((done, failed) => {
    const shell = spawn(
      'bash',
      [
        '-c',
        `trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n${blocks.map(({ commands }) => `${commands}\necho '${separator}'`).join('\n')}`,
      ],
      { cwd, env },
    )
    // Whatever becomes of the test, its shell ends, and with it what that started.
    onTestFinished(() => void shell.kill())
    let [out, err] = ['', '']
    shell.stdout.on('data', (chunk) => {
      out += chunk
    })
    shell.stderr.on('data', (chunk) => {
      err += chunk
    })
    shell.on('error', failed)
    shell.on('close', () => {
      if (err !== '') console.warn(err)
      done(out.split(`${separator}\n`).slice(0, -1))
    })
  })
}

function pattern(output: string): RegExp {
  const parts = output.split('…').map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('[^]*?')}$`)
}

it.skipIf(!hasCurl())(
  'docs/migration.md can be followed word for word on the sandbox',
  async () => {
    const folder = await mkdtemp(join(tmpdir(), 'migration-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const built = buildCli()
    onTestFinished(built.remove)
    const dist = resolve(built.cli, '../..')
    await build({
      root: 'src/report/web',
      configFile: 'src/report/web/vite.config.js',
      build: { outDir: join(dist, 'web') },
      logLevel: 'error',
    })
    await symlink(dist, join(folder, 'dist'))
    const [proxy, admin, sandbox] = await Promise.all([freePort(), freePort(), freePort()])
    const ported = DOCUMENT.replaceAll('8080', String(proxy)).replaceAll('8081', String(admin)).replaceAll('8090', String(sandbox))
    const ports = { CROSSWALK_PORT: String(proxy), CROSSWALK_ADMIN_PORT: String(admin), CROSSWALK_SANDBOX_PORT: String(sandbox) }
    const blocks = blocksOf(ported)
    const printed = await runAll(blocks, folder, { ...process.env, ...ports })
    expect(printed).toHaveLength(blocks.length)
    for (const [nth, { output }] of blocks.entries())
      if (output !== undefined) expect(printed[nth]?.trimEnd()).toMatch(pattern(output.trimEnd()))
    expect(blocks.filter(({ output }) => output !== undefined).length).toBeGreaterThan(8)
  },
  240_000,
)
