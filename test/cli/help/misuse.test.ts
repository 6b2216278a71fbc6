import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { COMMANDS, run } from '../../../src/app/cli/run.ts'
import { runCommand, untilEscaped } from '../support.ts'

let folder: string
let nonsense: string

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'crosswalk-misuse-'))
  nonsense = join(folder, 'nonsense.json')
  writeFileSync(nonsense, '{"no":"such thing"}\n')
})

afterAll(() => rmSync(folder, { recursive: true }))

/** What makes sense to a command besides its settings, so that nothing else is wrong. */
const SENSE: Readonly<Record<string, readonly string[]>> = {
  explain: ['GET /iam/v1/groups'],
  case: ['an-id'],
  draft: ['--v1', 'examples/resource-manager/openapi-v1.json', '--v2', 'examples/resource-manager/openapi-v3.json'],
  completion: ['bash'],
  report: ['test/cli/help/misuse.test.ts'],
  replay: ['test/cli/help/misuse.test.ts'],
}

const V2 = ['--upstream-v2', 'http://127.0.0.1:1']
const ANY_PORT = ['--sandbox-port', '0', '--port', '0']

/** What is wrong with a command by itself. `FOLDER` and `NONSENSE` stand for a folder and a file of something else. */
const WRONG: readonly (readonly string[])[] = [
  ...['clients', 'rollouts', 'circuits', 'modes', 'status', 'case an-id', 'cutover'].map((command) => [
    ...command.split(' '),
    '--admin',
    'nonsense',
  ]),
  ['rollouts', 'iam'],
  ['rollouts', 'iam', 'nonsense'],
  ['clients', '--top', 'x'],
  ['clients', '--operations', 'nonsense'],
  ['case', 'an-id', '--records', '/nowhere'],
  ['case', 'an-id', '--records', 'FOLDER'],
  ['cutover', '--target', '5'],
  ['operations', 'nonsense'],
  ['openapi', '--operations', 'nonsense'],
  ['openapi', '--out', '/nowhere/openapi.json'],
  ['explain', 'nonsense'],
  ['explain', '--guide', 'iam.nonsense'],
  ['explain', 'POST /iam/v1/groups', '--data', '/nowhere'],
  ['explain', 'POST /iam/v1/groups', '--data', 'FOLDER'],
  ['draft', '--v1', 'x.json'],
  ['draft', '--v1', '/nowhere', '--v2', '/nowhere'],
  ['draft', '--v1', 'FOLDER', '--v2', 'FOLDER'],
  ['draft', '--v1', 'NONSENSE', '--v2', 'NONSENSE'],
  ['check', '/nowhere'],
  ['check', 'NONSENSE'],
  ['check', '--v1', 'x.json'],
  ['check', '--v1', '/nowhere', '--v2', '/nowhere'],
  ['replay', '/nowhere'],
  ['replay', 'FOLDER'],
  ['replay', 'NONSENSE'],
  ['replay', 'NONSENSE', '--rows', 'x'],
  ['replay', 'NONSENSE', '--format', 'x'],
  ['report', 'NONSENSE', '--target', '5'],
  ['check', 'NONSENSE'],
  ['check', '/nowhere'],
  ['check', '--v1', 'x.json'],
  ['check', '--v1', '/nowhere', '--v2', '/nowhere'],
  ['completion', 'nonsense'],
  ['config', '--port', 'x'],
  ['serve'],
  ['serve', '--port', 'x', ...V2],
  ['serve', '--tables', '/nowhere', ...V2],
  ['serve', '--workers', '2', '--tables', 'FOLDER', ...V2],
  ['demo', '--port', 'x'],
  ['demo', '--data', '/nowhere.json', ...ANY_PORT],
  ['sandbox', '--port', 'x'],
  ['sandbox', '--data', '/nowhere.json', '--port', '0'],
  ['sandbox', '--data', 'NONSENSE', '--port', '0'],
  ['sandbox', 'token', '--url', 'x'],
  ['sandbox', 'token', '--subject', 'a', '--lifetime', 'x'],
]

const EVERY = Object.keys(COMMANDS)

/** A wrong use ends with code 2, one sentence, nothing on standard output and no code of the system. */
async function expectMisuse(argv: readonly string[], env: Record<string, string> = {}) {
  const { code, out, err } = await runCommand(argv, env)
  expect({ code, out }).toEqual({ code: 2, out: '' })
  expect(err).toMatch(/^[^\n]+$/)
  expect(err).not.toMatch(/\bE[A-Z]{4,}\b|^\w*Error|errno/)
}

it.each(WRONG.map((argv) => [argv.join(' '), argv] as const))('ends crosswalk %s with code 2', async (_, argv) => {
  await expectMisuse(argv.map((word) => ({ FOLDER: folder, NONSENSE: nonsense })[word] ?? word))
})

it.each(EVERY)('ends %s with code 2 if a flag is unknown', async (command) => {
  await expectMisuse([...command.split(' '), ...(SENSE[command] ?? []), '--nonsense', 'x'])
})

it.each(EVERY)('ends %s with code 2 if a variable is not a setting', async (command) => {
  await expectMisuse([...command.split(' '), ...(SENSE[command] ?? [])], { CROSSWALK_NONSENSE: 'x' })
})

/** These know no settings of the proxy. */
const WITHOUT_SETTINGS = ['sandbox', 'sandbox token', 'draft']

it.each(EVERY.filter((command) => !WITHOUT_SETTINGS.includes(command)))('ends %s with code 2 if a setting is wrong', async (command) => {
  const argv = [...command.split(' '), ...(SENSE[command] ?? [])]
  await expectMisuse(argv, { CROSSWALK_ADMIN_PORT: 'x' })
  await expectMisuse(argv, { CROSSWALK_CONFIG: '/nowhere' })
})

const LONG = [
  ['draft', '--v1', 'examples/resource-manager/openapi-v1.json', '--v2', 'examples/resource-manager/openapi-v3.json', '--out', 'OUT'],
  ['replay', 'NONSENSE', '--format', 'records'],
  ['replay', 'NONSENSE', '--format', 'records', '--guide', 'x'],
  ['replay', 'NONSENSE', '--format', 'access-log', '--against', 'http://127.0.0.1:1', ...V2],
  ['report', 'NONSENSE'],
  ['case', 'an-id', '--records', 'NONSENSE'],
  ['case', 'an-id', '--admin', 'http://127.0.0.1:1'],
  ['rollouts', '--admin', 'http://127.0.0.1:1'],
  ['clients', '--admin', 'http://127.0.0.1:1'],
  ['cutover', '--admin', 'http://127.0.0.1:1'],
]

it.each(LONG.map((argv) => [argv.join(' '), argv] as const))('shows on a terminal that crosswalk %s takes its time', async (_, argv) => {
  const written: string[] = []
  let now = 0
  const screen = {
    write: (text: string) => void written.push(text),
    // Every look at the clock is three seconds after the one before.
    now: () => {
      now += 3000
      return now
    },
    every: (_: number, look: () => void) => {
      queueMicrotask(look)
      return () => {}
    },
  }
  const words: Record<string, string> = { NONSENSE: nonsense, OUT: join(folder, 'out.ts') }
  const io = { ...{ out: () => {}, err: () => {}, stdin: async () => '', untilStopped: () => new Promise<void>(() => {}) }, untilEscaped }
  await run(
    argv.map((word) => words[word] ?? word),
    { ...io, env: { TOKEN: 'x' }, screen },
  )
  expect(written[0]).toMatch(/(reading|asking|sending) .+, 3 s$/)
  expect(written.at(-1)).toBe('\r\u001b[2K')
})
