import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, inject, it } from 'vitest'
import { until } from '../../stage/clocks.ts'
import { userEnv } from './installed.ts'

const { folder, root } = inject('installed')
const program = join(root, 'dist/bundle/cli.js')

/** Runs `npx crosswalk demo` in a folder, on free ports. */
async function startDemo(folder: string, ...flags: readonly string[]) {
  const ports = { CROSSWALK_PORT: '0', CROSSWALK_ADMIN_PORT: '0', CROSSWALK_SANDBOX_PORT: '0' }
  const options = { cwd: folder, env: { ...userEnv(), ...ports }, detached: true } as const
  const child = spawn('npx', ['--no-install', 'crosswalk', 'demo', ...flags], { ...options, stdio: ['ignore', 'pipe', 'inherit'] })
  let out = ''
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    out += piece
  })
  // npx starts the program through a shell. A signal to npx alone would leave it running.
  const stop = async () => {
    const closed = once(child, 'close')
    if (child.pid !== undefined) process.kill(-child.pid)
    await closed
  }
  const urlOf = (name: string) => new RegExp(`^ *${name} +(http://\\S+)$`, 'm').exec(out)?.[1] ?? ''
  try {
    await until(async () => (out.match(/^curl /gm) ?? []).length === 5, 'the demo prints its requests')
  } catch (error) {
    await stop()
    throw error
  }
  /** The printed requests to try. */
  const curls = out.split('\n').filter((line) => line.startsWith('curl '))
  return { proxy: urlOf('v1 proxy'), sandbox: urlOf('sandbox v2'), admin: urlOf('admin'), curls, stop }
}

type Demo = Awaited<ReturnType<typeof startDemo>>

let demo: Demo
beforeAll(async () => {
  demo = await startDemo(folder, '--mode', 'diff-v1', '--records-file', 'records.ndjson')
})
afterAll(() => demo.stop())

/** Runs the installed program in the folder of its user. */
async function crosswalk(...argv: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(process.execPath, [program, ...argv], { cwd: folder, env: userEnv() })
  return stdout
}

it('answers the requests that npx crosswalk demo prints', async () => {
  expect(demo.curls).toHaveLength(5)
  for (const line of demo.curls) {
    const { stdout } = await promisify(execFile)('sh', ['-c', line])
    expect(stdout).toContain('"id":')
  }
})

it('prints a mismatch as a test that runs there', async () => {
  const fault = { match: 'GET /registry/v2/repos', change: { at: '/repos/0/name', to: 'wrong' } }
  const faults = `${demo.sandbox}/-/faults`
  await fetch(faults, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(fault) })
  await fetch(`${demo.proxy}/registry/v1/repos?limit=3`, { headers: { authorization: 'Bearer demo-owner' } })
  const { id } = await until(async () => (await comparisons()).find(isWrongRepo), 'the mismatch is recorded')
  await fetch(faults, { method: 'DELETE' })
  const text = await crosswalk('case', id, '--admin', demo.admin)
  expect(text).toMatch(/"totalCount": "\d+"/)
  expect(text).toMatch(/"where":"\/items\/\*\/name"/)
  writeFileSync(join(folder, 'mismatch.test.mjs'), text)
  const argv = ['--test', '--test-reporter=tap', 'mismatch.test.mjs']
  const { stdout } = await promisify(execFile)(process.execPath, argv, { cwd: folder, env: userEnv() })
  expect(stdout).toMatch(/^# pass 1$/m)
  expect(stdout).toMatch(/^# fail 0$/m)
})

interface Compared {
  readonly id: string
  readonly operation: string
  readonly outcome: string
}

async function comparisons() {
  const answer = await fetch(`${demo.admin}/comparisons`)
  return (await answer.json()) as readonly Compared[]
}

const isWrongRepo = ({ operation, outcome }: Compared) => operation === 'registry.repos.list' && outcome === 'mismatch'

/** Arguments of each command, and what it prints then. A command without a row is asked for its help. */
const ROWS: Readonly<Record<string, (running: Demo) => readonly [argv: readonly string[], prints: RegExp]>> = {
  'sandbox token': ({ sandbox }) => [['--as', 'viewer', '--url', sandbox], /^ey[\w-]+\./],
  operations: () => [[], /iam\.roles\.list/],
  openapi: () => [[], /"openapi": ?"3\.1/],
  explain: () => [['GET /iam/v1/roles'], /\/iam\/v2\/roles/],
  clients: ({ admin }) => [['--admin', admin], /registry\.repos\.list/],
  cutover: ({ admin }) => [['--admin', admin], /INCONCLUSIVE|NOT READY/],
  rollouts: ({ admin }) => [['--admin', admin], /rollout/],
  case: ({ admin }) => [['none', '--admin', admin], /There is no comparison none/],
  report: () => [['records.ndjson'], /registry\.repos\.list/],
  replay: () => [['records.ndjson'], /registry\.repos\.list/],
  config: () => [[], /upstream\.v2/],
  completion: () => [['bash'], /complete .*crosswalk/],
}

it('runs every command that ends by itself', async () => {
  const others: string[] = []
  for (const words of await commands()) {
    const [argv, prints] = ROWS[words]?.(demo) ?? [['--help'], new RegExp(`crosswalk ${words}`)]
    if (!(words in ROWS)) others.push(words)
    expect(await outputOf(...words.split(' '), ...argv)).toMatch(prints)
  }
  console.log(`asked for their help alone: ${others.join(', ')}`)
})

it.each([
  ['serve', ['--port', '0', '--admin-port', '0', '--upstream-v2', 'http://127.0.0.1:1']],
  ['sandbox', ['--port', '0']],
])('starts and stops %s', async (word, argv) => {
  const child = spawn(process.execPath, [program, word, ...argv], { cwd: folder, env: userEnv(), stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = await once(child.stdout, 'data')
  // The line comes a moment before the program listens to signals. An answer comes after it.
  const [url = ''] = /http:\/\/127\.0\.0\.1:\d+/.exec(String(line)) ?? []
  await (await fetch(`${url}/ping/v2/ping`)).text()
  child.kill()
  expect(await once(child, 'exit')).toEqual([0, null])
})

/** The words of all commands that the installed program has. */
async function commands(): Promise<readonly string[]> {
  const list = `import('${pathToFileURL(join(root, 'dist/src/app/cli/run.js')).href}').then(({ COMMANDS }) => console.log(Object.keys(COMMANDS).join('\\n')))`
  const { stdout } = await promisify(execFile)(process.execPath, ['--eval', list])
  return stdout.trim().split('\n')
}

/** What a command prints, whatever its exit code. */
async function outputOf(...argv: readonly string[]): Promise<string> {
  try {
    return await crosswalk(...argv)
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout: string; readonly stderr: string }
    return stdout + stderr
  }
}
