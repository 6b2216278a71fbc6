import { createHash } from 'node:crypto'
import { readFileSync, symlinkSync, unlinkSync, writeFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { openBlocks, readEntries } from '../../../../src/migrate/records/record-file.ts'
import { until } from '../../../stage/clocks.ts'
import { startProgram, temporaryFolder } from '../../../stage/programs.ts'
import { startUpstream } from '../../../stage/upstream.ts'
import { answerTo, type Behaviour, type Fault, fault, get, inWorld, listOf, longFault, serving } from '../fault.ts'
import { createCallers, openLoop } from '../load/overload.ts'
import { residentMiB } from '../soak/clients.ts'
import { talk } from '../wire.ts'
import { inFlight, metric, program, serve } from './child.ts'
import { DAY, rolloutFaults, withClock } from './rollouts.ts'

const KILLS = 10

/** Runs the writer until it reports that it has written for a while, and kills it during a write. */
async function writeAndDie(path: string, first: number): Promise<void> {
  const child = startProgram(process.execPath, [program('./write-records.js'), path, String(first)])
  await child.line(/^\d+$/)
  await child.stop('SIGKILL')
}

interface Written {
  readonly number: number
  readonly padding: string
  readonly sum: string
}

async function killed(): Promise<string> {
  const { path: directory, remove } = temporaryFolder('records')
  const path = join(directory, 'records.ndjson')
  let bad = 0
  let last = -1
  for (let kill = 0; kill < KILLS; kill++) await writeAndDie(path, (kill + 1) * 1_000_000 - 1)
  for await (const entry of readEntries(path)) {
    const { number, padding, sum } = entry as unknown as Written
    if (number <= last || sum !== createHash('sha256').update(`${number} ${padding}`).digest('hex')) bad += 1
    last = number
  }
  const { entries, skipped, close } = await openBlocks(path)
  await close()
  remove()
  const torn = skipped <= KILLS ? 'one torn line a kill at most' : `${skipped} torn lines`
  return `${entries > 0 ? 'records' : 'nothing'} read back, ${bad} of them damaged or doubled, ${torn}`
}

/** Both services in one, so that v1 and v2 agree. */
const both: Behaviour = ({ url = '' }, response) => {
  const list = url.startsWith('/iam/v1') ? '{"items":[]}' : listOf(0)
  response.writeHead(200, { 'content-type': 'application/json' }).end(list)
}

const ASKED = 20

async function diskFull(): Promise<string> {
  const { path: directory, remove } = temporaryFolder('records')
  const path = join(directory, 'records.ndjson')
  const rules = { default: 'diff-v1' as const, rules: [], testers: [] }
  const seen = await inWorld(both, { modes: rules, 'records.file': path, 'diff.learnEvery': 0 }, async ({ proxy }) => {
    // Uses different callers: repeated requests of one caller are recorded once.
    const askAll = async (callers: string) => {
      const said = new Set<string>()
      for (let nth = 0; nth < ASKED; nth++) {
        said.add(await ask(proxy.url, `authorization: ${callers}-${nth}\r\n`))
      }
      return [...said].join(', ')
    }
    const records = async () => {
      const { records: told } = (await (await fetch(`${proxy.adminUrl}/evidence`)).json()) as {
        records: { dropped: number; problem?: string }
      }
      return told
    }
    unlinkSync(path)
    symlinkSync('/dev/full', path)
    const full = await askAll('a')
    await until(async () => (await records()).dropped >= ASKED)
    const { problem = '' } = await records()
    unlinkSync(path)
    const after = await askAll('b')
    await until(async () => linesIn(path) >= ASKED)
    return `${full}; drops counted, ${problem}; with room again ${after}, written`
  })
  remove()
  return seen
}

function linesIn(path: string): number {
  try {
    return readFileSync(path, 'utf8').split('\n').length - 1
  } catch {
    return 0
  }
}

export const recordFaults: readonly Fault[] = [
  longFault('kill -9 while records are written', 'records read back, 0 of them damaged or doubled, one torn line a kill at most', killed),
  longFault(
    'no room on the disk for records',
    '200, 0 rows; drops counted, the disk is full; with room again 200, 0 rows, written',
    diskFull,
  ),
]

const REQUESTS = 10_000
const AT_A_TIME = 250

/** A separate write for every client: none can be joined, and each must reach v2 once. */
const write = (name: string) => {
  const body = JSON.stringify({ name })
  return `POST /iam/v1/groups/${'a'.repeat(40)} HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

function holdingUpstream() {
  const held: (() => void)[] = []
  let open = false
  const release = () => {
    open = true
    for (const answer of held.splice(0)) answer()
  }
  const behaviour = (_: unknown, response: ServerResponse, body: string) => {
    const answer = () => void response.end(JSON.stringify({ uid: 'a'.repeat(40), name: (JSON.parse(body) as { name: string }).name }))
    if (open) answer()
    else held.push(answer)
  }
  return { behaviour, release }
}

async function underLoad(): Promise<string> {
  const { behaviour, release } = holdingUpstream()
  const upstream = await startUpstream(behaviour)
  const minute = 60_000
  const child = await serve({
    'upstream-v2': upstream.url,
    'requests-in-flight': 2 * REQUESTS,
    'client-connections': 2 * REQUESTS,
    'call-timeout-ms': minute,
    'shutdown-ms': minute,
  })
  const clients: Promise<boolean>[] = []
  for (let begun = 0; begun < REQUESTS; begun += AT_A_TIME) {
    for (let nth = begun; nth < begun + AT_A_TIME; nth++) clients.push(isAnswered(child.url, `group-${nth}`))
    await until(async () => (await inFlight(child)) >= begun + AT_A_TIME)
  }
  const exit = child.stop('SIGTERM')
  await until(async () => refuses(child.url))
  release()
  const failed = (await Promise.all(clients)).filter((answered) => !answered).length
  const names = upstream.seen.map(({ body }) => body)
  const code = await exit
  await upstream.close()
  return `${failed} of ${REQUESTS} failed, ${names.length - new Set(names).size} written twice, exit code ${code}`
}

async function isAnswered(url: string, name: string): Promise<boolean> {
  const { answers } = await talk(url, write(name), 1)
  return answers[0]?.status === 200 && (JSON.parse(answers[0].body) as { name: string }).name === name
}

/**
 * True when the proxy has handled the signal and refuses new clients.
 * It requests what the proxy answers itself, because v2 does not answer yet.
 */
async function refuses(url: string): Promise<boolean> {
  try {
    await fetch(`${url}/iam/v1/groups`, { method: 'OPTIONS', headers: { connection: 'close' } })
    return false
  } catch {
    return true
  }
}

export const signalFaults: readonly Fault[] = [
  longFault(`SIGTERM with ${REQUESTS} requests in flight`, `0 of ${REQUESTS} failed, 0 written twice, exit code 0`, underLoad),
]

const PER_SECOND = 200
const MS = 3000

/** Changes of the modes, each of which is an event. More than wait. */
const CHANGES = 1500

/** Milliseconds that the end may take: the requests are over, the receiver gets three seconds. */
const END_MS = 6000

const MORE_MIB = 48

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Changes the modes again and again under load, with this receiver, and ends the process. */
async function withReceiver(answer: Answer): Promise<string> {
  const upstream = await startUpstream((_, response) => void response.end(listOf(20)))
  const webhook = await startUpstream(answer)
  let [open, most] = [0, 0]
  webhook.server.on('connection', (socket) => {
    open += 1
    most = Math.max(most, open)
    socket.on('close', () => {
      open -= 1
    })
  })
  const secret = `whsec_${Buffer.alloc(32, 'x').toString('base64')}`
  const notify = { 'notify-url': `${webhook.url}/hook`, 'notify-secret': secret, 'notify-timeout-ms': 1000 }
  const child = await serve({ 'upstream-v2': upstream.url, ...notify })
  const callers = createCallers(child.url, '/iam/v1/groups')
  const change = async () => {
    for (let nth = 0; nth < CHANGES; nth += 1) {
      const headers = { 'content-type': 'application/json' }
      await fetch(`${child.adminUrl}/modes`, { method: 'PUT', headers, body: '{"default":"v2"}' })
    }
  }
  try {
    await openLoop(callers, PER_SECOND, MS / 2)
    const before = residentMiB(child.pid)
    const [load] = await Promise.all([openLoop(callers, PER_SECOND, MS), change()])
    const more = residentMiB(child.pid) - before
    const waiting = await metric(child, 'crosswalk_notifications_waiting')
    const dropped = await metric(child, 'crosswalk_notifications_total{end="dropped"}')
    const begun = performance.now()
    const code = await child.stop('SIGTERM')
    const took = performance.now() - begun
    const wrong = load.outcomes.filter(({ status }) => status !== 200).length
    process.stderr.write(`      ${more.toFixed(0)} MiB more, ${waiting} wait, ${dropped} dropped, ended within ${took.toFixed(0)} ms\n`)
    return [
      `${wrong} requests failed`,
      // A connection that is given up may still be closing when the next one opens.
      most <= 2 ? 'one connection to it at a time' : `${most} connections to it at a time`,
      waiting <= 1001 && waiting + dropped >= CHANGES - 20 ? 'what does not wait is counted' : `${waiting} wait, ${dropped} dropped`,
      more <= MORE_MIB ? `at most ${MORE_MIB} MiB more` : `${more.toFixed(0)} MiB more`,
      took <= END_MS ? `the end within ${END_MS / 1000} s` : `the end after ${took.toFixed(0)} ms`,
      `exit code ${code}`,
    ].join('; ')
  } finally {
    callers.close()
    if (child.isAlive()) await child.stop('SIGKILL')
    await upstream.close()
    await webhook.close()
  }
}

const EXPECTED = `0 requests failed; one connection to it at a time; what does not wait is counted; at most ${MORE_MIB} MiB more; the end within 6 s; exit code 0`

const RECEIVERS: readonly (readonly [name: string, answer: Answer])[] = [
  ['hangs', () => {}],
  ['resets every connection', ({ socket }) => void socket.resetAndDestroy()],
  ['answers 500 for ever', (_, response) => void response.writeHead(500).end()],
]

export const webhookFaults: readonly Fault[] = RECEIVERS.map(([name, answer]) =>
  longFault(`a receiver of events that ${name}, under load`, EXPECTED, () => withReceiver(answer)),
)

const ask = (url: string, lines = '') => answerTo(url, get('/iam/v1/groups', lines))

const distinct = (said: readonly string[]) => [...new Set(said)].sort().join(', ')

function clockJumps(): Promise<string> {
  let release = () => {}
  let arrived = () => {}
  const waiting = new Promise<void>((resolve) => {
    arrived = resolve
  })
  return withClock((jump) =>
    inWorld(
      (request, response, body) => {
        release = () => serving(3)(request, response, body)
        if (request.headers.authorization === 'held') arrived()
        else release()
      },
      { 'limits.callerPerSecond': 1 },
      async ({ proxy }) => {
        const held = ask(proxy.url, 'authorization: held\r\n')
        await waiting
        jump(DAY)
        release()
        const said = [await held]
        jump(-30 * DAY)
        said.push(await ask(proxy.url, 'authorization: b\r\n'))
        jump(400 * DAY)
        const again = await ask(proxy.url, 'authorization: b\r\n')
        return `${distinct(said)}; a caller's pace is kept: ${again}`
      },
    ),
  )
}

const CONNECTIONS = 1000

async function withoutDescriptors(): Promise<string> {
  const upstream = await startUpstream(serving(3))
  const child = await serve({ 'upstream-v2': upstream.url, 'connect-timeout-ms': 1000, 'deadline-ms': 3000 }, { before: 'ulimit -n 300' })
  const clients = Array.from({ length: CONNECTIONS }, (_, nth) => ask(child.url, `connection: close\r\nauthorization: ${nth}\r\n`))
  const said = (await Promise.all(clients)).filter((one) => !['200, 3 rows', '503/14', 'no answer', '504/4'].includes(one))
  const after = await ask(child.url)
  const state = child.isAlive() ? 'alive' : 'dead'
  const code = await child.stop('SIGTERM')
  await upstream.close()
  return `${said.length} wrong answers, ${state}, afterwards ${after}, exit code ${code}`
}

async function brokenConfig(): Promise<string> {
  const upstream = await startUpstream(({ url = '' }, response) => {
    response.end(url.startsWith('/iam/v1') ? '{"items":[]}' : listOf(3))
  })
  const { path: directory, remove } = temporaryFolder('config')
  const path = join(directory, 'config.json')
  const config = (modes: unknown) => writeFileSync(path, JSON.stringify({ modes }))
  config({ default: 'v2' })
  const child = await serve({ 'upstream-v2': upstream.url, 'upstream-v1': upstream.url, config: path })
  const said = [await ask(child.url)]
  writeFileSync(path, '{"modes":')
  await child.line(/stays as it was.*cannot be read/)
  said.push(await ask(child.url))
  config({ default: 'v3' })
  await child.line(/stays as it was.*must be one of v1, v2/)
  said.push(await ask(child.url))
  config({ default: 'v1' })
  await child.line(/modes are now/)
  const after = await ask(child.url)
  await child.stop('SIGTERM')
  await upstream.close()
  remove()
  return `${distinct(said)} as before and the reason told; a good one is taken: ${after}`
}

/** Throws an uncaught exception, and another one while the process ends. Requests in flight must still be answered. */
async function escapedException(): Promise<string> {
  let arrived = () => {}
  let release = () => {}
  const waiting = new Promise<void>((resolve) => {
    arrived = resolve
  })
  const upstream = await startUpstream((request, response, body) => {
    release = () => serving(3)(request, response, body)
    arrived()
  })
  const nodeFlags = ['--import', program('./escape.js')]
  const child = await serve({ 'upstream-v2': upstream.url, 'log-level': 'fatal' }, { nodeFlags })
  const held = ask(child.url)
  await waiting
  child.signal('SIGUSR2')
  await child.line(/"msg":"an exception escaped/)
  child.signal('SIGUSR2')
  release()
  const said = await held
  const code = await child.ended
  await upstream.close()
  const fatal = child.lines.filter((line) => line.includes('"level":60'))
  return `under way: ${said}; ${fatal.length} fatal line, its stack told: ${fatal.every((line) => line.includes('escape.js'))}; exit code ${code}`
}

export const processFaults: readonly Fault[] = [
  ...signalFaults,
  ...recordFaults,
  ...webhookFaults,
  ...rolloutFaults,
  longFault(
    'an exception that nobody catches',
    'under way: 200, 3 rows; 1 fatal line, its stack told: true; exit code 1',
    escapedException,
  ),
  longFault('file descriptors exhausted', '0 wrong answers, alive, afterwards 200, 3 rows, exit code 0', withoutDescriptors),
  longFault(
    'a broken configuration while it runs',
    '200, 3 rows as before and the reason told; a good one is taken: 200, 0 rows',
    brokenConfig,
  ),
  fault('a clock that jumps', "200, 3 rows; a caller's pace is kept: 429/8, again after 1 s", clockJumps),
]
