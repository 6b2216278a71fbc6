import { readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { type ModeRules, readModeRules } from '../../../../src/migrate/modes/rules.ts'
import type { RolloutStatus } from '../../../../src/migrate/rollout/machine.ts'
import { until } from '../../../stage/clocks.ts'
import { temporaryFolder } from '../../../stage/programs.ts'
import { startUpstream } from '../../../stage/upstream.ts'
import { type Behaviour, type Fault, inWorld, listOf, longFault, serving } from '../fault.ts'
import { type Child, serve } from './child.ts'

/** Milliseconds. */
export const DAY = 24 * 60 * 60 * 1000

/** Replaces the time of day for every part of the proxy; none of them may depend on it. */
export async function withClock<T>(use: (jump: (ms: number) => void) => Promise<T>): Promise<T> {
  const { now } = Date
  let offset = 0
  Date.now = () => now() + offset
  try {
    return await use((ms) => {
      offset += ms
    })
  } finally {
    Date.now = now
  }
}

/** A proxy with one rollout. */
interface Rolling {
  readonly url: string
  readonly adminUrl: string
}

const CLIENTS = 40

/** Sends one request of each client, so many at the same time. Returns the different statuses. */
export async function crowd({ url }: Rolling, together = CLIENTS): Promise<string> {
  const ask = async (nth: number) => {
    const answer = await fetch(`${url}/iam/v1/groups`, { headers: { authorization: `Bearer client-${nth}` } })
    await answer.arrayBuffer()
    return answer.status
  }
  const statuses: number[] = []
  for (let from = 0; from < CLIENTS; from += together) {
    statuses.push(...(await Promise.all(Array.from({ length: together }, (_, nth) => ask(from + nth)))))
  }
  return [...new Set(statuses)].sort().join(', ')
}

export async function rollout({ adminUrl }: Rolling): Promise<RolloutStatus> {
  const [first] = (await (await fetch(`${adminUrl}/rollouts`)).json()) as readonly RolloutStatus[]
  if (!first) throw new Error('no rule has a rollout')
  return first
}

/** `running, step 1 of 2, 50 %` */
export const placeOf = ({ phase, step, steps, percent }: RolloutStatus) => `${phase}, step ${step} of ${steps}, ${percent} %`

/** Sends requests until the rollout is as wanted. */
export function sendUntil(proxy: Rolling, isThere: (status: RolloutStatus) => boolean, together?: number): Promise<RolloutStatus> {
  return until(async () => {
    await crowd(proxy, together)
    const status = await rollout(proxy)
    return isThere(status) && status
  })
}

/** Waits until the rollout was looked at twice with requests in between, so that it had every chance to move. */
export async function twoLooks(proxy: Rolling): Promise<RolloutStatus> {
  const { heldMs } = await sendUntil(proxy, (status) => status.heldMs > 0)
  return sendUntil(proxy, (status) => status.heldMs > heldMs || status.phase !== 'running')
}

/** The first step takes a second, the second one an hour. */
export const QUICK_STEPS = [
  { percent: 50, observations: 5 },
  { percent: 60, hold: '1h' },
]

/** The modes with a rollout of these steps. Callers beyond the share are not compared. */
export function rollingModes(steps: readonly object[]) {
  const rule = { operations: 'iam.*', mode: 'v1', canary: { mode: 'diff-v2', rollout: { name: 'iam', target: 0.5, steps } } }
  return { default: 'v1', rules: [rule] }
}

/** The same, read. */
export function rolling(steps: readonly object[]): ModeRules {
  const read = readModeRules(rollingModes(steps))
  if ('problem' in read) throw new Error(read.problem)
  return read
}

const isV1 = ({ url = '' }: IncomingMessage) => url.startsWith('/iam/v1')

/** Plays v1 and v2 over one empty store, except for what is given. */
export function sides({ v1 = right, v2 = right }: { readonly v1?: Behaviour; readonly v2?: Behaviour }): Behaviour {
  return (request, response, body) => (isV1(request) ? v1 : v2)(request, response, body)
}

const right: Behaviour = (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' }).end(isV1(request) ? '{"items":[]}' : listOf(0))
}

export const hanging: Behaviour = () => {}

/** A process with the rollout of `QUICK_STEPS`, its records, and what v2 answers. */
interface Restarted {
  readonly records: string
  /** Breaks v2, or mends it. */
  setBroken(isBroken: boolean): void
  /** Starts the process on the records. */
  start(): Promise<Child>
  /** Resolves when the rollout is there and the records say so. */
  reach(child: Child, phase: string): Promise<string>
}

async function inProcess(use: (restarted: Restarted) => Promise<string>): Promise<string> {
  const { path: directory, remove } = temporaryFolder('rollout')
  const [records, config] = [join(directory, 'records.ndjson'), join(directory, 'config.json')]
  writeFileSync(config, JSON.stringify({ modes: rollingModes(QUICK_STEPS) }))
  let v2 = serving(0)
  const upstream = await startUpstream(sides({ v2: (...given) => v2(...given) }))
  const settings = { 'upstream-v2': upstream.url, 'upstream-v1': upstream.url, config, 'records-file': records, 'diff-per-second': 0 }
  const started: Child[] = []
  try {
    return await use({
      records,
      setBroken: (isBroken) => {
        v2 = serving(isBroken ? 1 : 0)
      },
      async start() {
        const child = await serve(settings)
        started.push(child)
        return child
      },
      async reach(child, phase) {
        const place = placeOf(await sendUntil(child, (status) => placeOf(status).startsWith(phase)))
        await until(async () => lastSaved(records).includes(`"phase":"${phase.split(',')[0]}","at":${place.includes('step 2') ? 1 : 0}`))
        return place
      },
    })
  } finally {
    await Promise.all(started.filter((child) => child.isAlive()).map((child) => child.stop('SIGKILL')))
    await upstream.close()
    remove()
  }
}

const lastSaved = (path: string) =>
  readFileSync(path, 'utf8')
    .split('\n')
    .findLast((line) => line.includes('"kind":"rollout"')) ?? ''

function killed(): Promise<string> {
  return inProcess(async ({ setBroken, start, reach }) => {
    const seen: string[] = []
    let child = await start()
    const restart = async () => {
      await child.stop('SIGKILL')
      child = await start()
      seen.push(placeOf(await rollout(child)))
    }
    seen.push(await reach(child, 'running, step 2'))
    await restart()
    setBroken(true)
    seen.push(await reach(child, 'turned-back'))
    await restart()
    return [...seen, `clients get ${await crowd(child)}`].join(' > ')
  })
}

/** Starts anew on records that were lost or spoilt, in each state. Returns the shares before and after. */
function restartedOn(spoil: (path: string) => void): () => Promise<string> {
  return () =>
    inProcess(async ({ records, setBroken, start, reach }) => {
      const seen: string[] = []
      for (const [phase, isBroken] of [
        ['running, step 2', false],
        ['turned-back', true],
      ] as const) {
        const child = await start()
        setBroken(isBroken)
        seen.push(await reach(child, phase))
        await child.stop('SIGKILL')
        spoil(records)
        const again = await start()
        seen.push(placeOf(await rollout(again)))
        await again.stop('SIGKILL')
        setBroken(false)
      }
      return seen.join(' > ')
    })
}

/** Cuts the last line about the rollout, as a crash in the middle of writing does. */
function cutLast(path: string): void {
  const text = readFileSync(path, 'utf8')
  const line = lastSaved(path)
  truncateSync(path, Buffer.byteLength(text.slice(0, text.lastIndexOf(line) + Math.floor(line.length / 2))))
}

export const rolloutRestartFaults: readonly Fault[] = [
  longFault(
    'kill -9 during a step of a rollout, and after it turned back',
    'running, step 2 of 2, 60 % > running, step 2 of 2, 60 % > turned-back, step 2 of 2, 0 % > turned-back, step 2 of 2, 0 % > clients get 200',
    killed,
  ),
  longFault(
    'the records of a rollout are lost',
    'running, step 2 of 2, 60 % > running, step 1 of 2, 50 % > turned-back, step 1 of 2, 0 % > running, step 1 of 2, 50 %',
    restartedOn((path) => rmSync(path)),
  ),
  longFault(
    'the last record of a rollout is cut',
    'running, step 2 of 2, 60 % > running, step 1 of 2, 50 % > turned-back, step 1 of 2, 0 % > turned-back, step 1 of 2, 0 %',
    restartedOn(cutLast),
  ),
]

const HOUR_STEPS = [
  { percent: 50, hold: '1h' },
  { percent: 100, hold: '1h' },
]

function clockJumps(): Promise<string> {
  return withClock((jump) =>
    inWorld(sides({}), { modes: rolling(HOUR_STEPS) }, async ({ proxy }) => {
      const seen = [await twoLooks(proxy)]
      for (const ms of [DAY, -2 * DAY, DAY]) {
        jump(ms)
        seen.push(await twoLooks(proxy))
      }
      const places = [...new Set(seen.map(placeOf))]
      const longest = Math.max(...seen.map(({ heldMs }) => heldMs))
      return `${places.join('; ')}; ${longest < 60_000 ? 'less than a minute' : `${longest} ms`} of its hour has passed`
    }),
  )
}

const ALL = [{ percent: 100, observations: 5 }]

function v2Hangs(): Promise<string> {
  const settings = { modes: rolling(QUICK_STEPS), 'limits.callTimeoutMs': 100, 'fallback.perMinute': 1000 }
  return inWorld(sides({ v2: hanging }), settings, async ({ proxy }) => {
    const status = await sendUntil(proxy, ({ phase }) => phase !== 'running')
    return `${placeOf(status)}; clients get ${await crowd(proxy)}`
  })
}

function v1Hangs(): Promise<string> {
  const settings = { modes: rolling(ALL), 'diff.deadlineMs': 50 }
  return inWorld(sides({ v1: hanging }), settings, async ({ proxy }) => {
    const clients = await crowd(proxy)
    const status = await twoLooks(proxy)
    return `clients get ${clients}; ${observedIn(status)}`
  })
}

/** v1 answers none of the comparisons until there is room again. */
async function queueFull(): Promise<string> {
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  const late: Behaviour = (request, response, body) => void held.then(() => sides({})(request, response, body))
  const settings = { modes: rolling(ALL), 'diff.waiting': 1, 'diff.parallel': 1 }
  return inWorld(sides({ v1: late }), settings, async ({ proxy }) => {
    const clients = await crowd(proxy)
    const full = await twoLooks(proxy)
    release()
    // Of many at once, the same two would always find room.
    const after = await sendUntil(proxy, ({ phase }) => phase !== 'running', 1)
    return `clients get ${clients}; ${observedIn(full)}; with room again ${placeOf(after)}`
  })
}

const observedIn = (status: RolloutStatus) => `${placeOf(status)}, ${status.observed} of ${status.wanted} observations`

export const rolloutFaults: readonly Fault[] = [
  ...rolloutRestartFaults,
  longFault(
    'a clock that jumps by a day, forward and back, during a rollout',
    'running, step 1 of 2, 50 %; less than a minute of its hour has passed',
    clockJumps,
  ),
  longFault('v2 hangs during a rollout', 'turned-back, step 1 of 2, 0 %; clients get 200', v2Hangs),
  longFault('v1 hangs during a rollout', 'clients get 200; running, step 1 of 1, 100 %, 0 of 5 observations', v1Hangs),
  longFault(
    'the waiting comparisons are full during a rollout',
    'clients get 200; running, step 1 of 1, 100 %, 0 of 5 observations; with room again watching, step 1 of 1, 100 %',
    queueFull,
  ),
]
