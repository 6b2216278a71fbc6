import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, inject, onTestFinished } from 'vitest'
import { isFull } from '../sample.ts'
import { freePort } from '../stage/upstream.ts'

/** The facts show messages of v1 and v2. */
const IS_PAGE = /^(?!facts).*\.md$/

const PAGES = [
  'README.md',
  ...readdirSync('docs', { recursive: true, encoding: 'utf8' }).flatMap((name) => (IS_PAGE.test(name) ? [`docs/${name}`] : [])),
]

/** YAML elsewhere is for other programs. */
const WITH_YAML = 'docs/reference/configuration.md'

/** The blocks of the pages that show a configuration file. */
export const CONFIGURATIONS = PAGES.flatMap((page) => {
  const blocks = page === WITH_YAML ? /```(?:jsonc?|yaml)\n(.*?)```/gs : /```jsonc?\n(.*?)```/gs
  return [...readFileSync(page, 'utf8').matchAll(blocks)].map(([, text = '']) => ({ page, text }))
})

/** The commands of a page that no test runs as a whole, because they need a cluster or a real service: the lines after `$`. */
export function commandsOf(page: string): readonly string[] {
  const blocks = [...readFileSync(page, 'utf8').matchAll(/```console\n(.*?)```/gs)].map(([, text = '']) => text)
  return blocks.flatMap((text) => [...text.matchAll(/^\$ (.+)$/gm)].map(([, line = '']) => line))
}

/**
 * The pages whose commands the tests run, in lists that one shell runs in order: a page may go on from those before it.
 * A page with commands that stands in none of them fails.
 */
export const MIGRATION: readonly string[] = [
  'docs/start/shadow.md',
  'docs/how-to/are-we-done.md',
  'docs/how-to/client-breaks.md',
  'docs/how-to/difference.md',
  'docs/how-to/canary.md',
  'docs/how-to/rollout.md',
  'docs/how-to/switch-off.md',
  'docs/how-to/guide-clients.md',
]

export const OPERATIONS: readonly string[] = [
  'docs/how-to/practise.md',
  'docs/how-to/restart.md',
  'docs/how-to/requests-fail.md',
  'docs/how-to/grpc-calls-fail.md',
  'docs/how-to/overload.md',
  'docs/how-to/tls.md',
  'docs/how-to/go-back.md',
  'docs/how-to/notifications.md',
  'docs/how-to/admin-port.md',
]

/** Pages that need no other, with the number of outputs that they show. */
export const ALONE: readonly (readonly [page: string, outputs: number])[] = [
  ['README.md', 1],
  ['docs/start/endpoint.md', 3],
  ['docs/how-to/rehearse.md', 2],
  ['docs/how-to/balancer.md', 1],
  ['docs/reference/library.md', 0],
  ['docs/reference/openapi.md', 1],
  ['docs/reference/sandbox.md', 4],
]

interface Block {
  readonly commands: string
  /** The expected output, with `…` for any text. Undefined if the document shows none. */
  readonly output: string | undefined
}

/** The shell blocks of a document, each with the text block directly after it. */
function blocksOf(text: string): readonly Block[] {
  return [...text.matchAll(/```sh\n(.*?)```\n(?:\n```text\n(.*?)```\n)?/gs)].map(([, commands = '', output]) => ({ commands, output }))
}

/**
 * Runs `npm start` in a second terminal until it is ready. Other npm commands on the pages are skipped: the program is built, and `npm
 * test` runs this.
 */
const NPM = `npm() {
  [ "$1" = start ] || return 0
  node dist/bundle/cli.js demo >demo.log 2>demo.err &
  until grep -qs ^curl demo.log; do kill -0 $! || return 1; sleep 0.1; done
}`

/** Runs all blocks in one shell, as a reader does. Resolves with the output of each block. */
function runAll(blocks: readonly Block[], cwd: string, env: NodeJS.ProcessEnv): Promise<readonly string[]> {
  const separator = '=== end of a block'
  return new Promise((done, failed) => {
    const shell = spawn(
      'bash',
      [
        '-c',
        `trap 'kill $(jobs -p) 2>/dev/null; wait' EXIT\n${NPM}\n${blocks.map(({ commands }) => `${commands}\necho '${separator}'`).join('\n')}`,
      ],
      { cwd, env },
    )
    // The shell ends with the test, whatever its outcome, and its children with it.
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

/** The blocks of a long document that a test runs, unless everything is tried: the first ones, because each builds on those before it. */
export const SAMPLED = isFull ? undefined : 4

/**
 * Runs documents word for word and in order, in one shell and an empty folder. Free ports replace 8070, 8080, 8081 and 8090. Fails if an output differs.
 * Runs the first `most` blocks only, if that is given. Returns the number of compared outputs.
 */
export async function walkThrough(paths: readonly string[], most?: number): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'walk-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  await symlink(resolve(inject('cli'), '../..'), join(folder, 'dist'))
  const [proxy, admin, sandbox, receiver] = await Promise.all([freePort(), freePort(), freePort(), freePort()])
  const text = paths.map((path) => readFileSync(path, 'utf8')).join('\n')
  const named = { 8080: proxy, 8081: admin, 8090: sandbox, 8070: receiver }
  const ported = Object.entries(named).reduce((ported, [port, free]) => ported.replaceAll(port, String(free)), text)
  const ports = { CROSSWALK_PORT: String(proxy), CROSSWALK_ADMIN_PORT: String(admin), CROSSWALK_SANDBOX_PORT: String(sandbox) }
  const blocks = blocksOf(ported).slice(0, most)
  const printed = await runAll(blocks, folder, { ...process.env, ...ports })
  expect(printed).toHaveLength(blocks.length)
  const told = [...blocks.entries()].filter(([, { output }]) => output !== undefined)
  for (const [nth, { output = '' }] of told) expect(printed[nth]?.trimEnd()).toMatch(pattern(output.trimEnd()))
  return told.length
}
