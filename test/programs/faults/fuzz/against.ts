import type { Start } from '../process/child.ts'
import { sequences } from './frames.ts'
import { callHeads, headsBy, type OpenAskers, overGrpc, overHttp1, overHttp2, overWebSocket, V1_MODES, WAYS } from './heads.ts'
import { type Case, hunt, type Prey, startVictim, type Victim, type VictimSettings } from './hunt.ts'
import { REQUEST_BYTES, rpcCalls } from './rpc.ts'
import { SMUGGLED, upgrades } from './upgrades.ts'
import { keysIn } from './upstream.ts'

const CONTROLS = 100

const EVERY_WAY: readonly (readonly [name: string, open: OpenAskers, path: string])[] = [
  ['native over HTTP/1.1', overHttp1, '/iam/v2/groups'],
  ['native over HTTP/2', overHttp2, '/iam/v2/groups'],
  ['v1 over HTTP/1.1', overHttp1, '/iam/v1/groups'],
  ['v1 over HTTP/2', overHttp2, '/iam/v1/groups'],
  ['gRPC', overGrpc, '/test.Echo/Unary'],
  ['WebSocket', overWebSocket, '/iam/v2/socket'],
]

/** Returns the wrong answers: not 200 (101 for a handshake), or not of the request; undefined if there are none. */
export async function controls({ upstream, url }: Pick<Victim, 'upstream' | 'url'>): Promise<string | undefined> {
  for (const [name, open, path] of EVERY_WAY) {
    const [client] = open(url(), 1)
    for (let nth = 0; nth < CONTROLS; nth++) {
      const key = upstream.newKey()
      const given = await client?.ask({ method: 'GET', path, key, body: '' })
      const keys = new Set(keysIn(given?.text ?? ''))
      const isRight = (given?.status === 200 || given?.status === 101) && keys.size === 1 && keys.has(key) && !given.isBroken
      if (!isRight) return `control ${nth} ${name}, ${key}: ${JSON.stringify(given)}`
    }
    client?.close()
  }
  return undefined
}

export interface Fuzzing {
  readonly cases: number
  readonly seed: number
  readonly start: Start
  readonly note: (line: string) => void
}

type Hunting = <C extends Case>(prey: Prey<C>) => Promise<void>

/** Hunts in one proxy and then checks that nothing is left over. Returns the failures. */
async function inVictim(settings: VictimSettings, fuzzing: Fuzzing, use: (hunting: Hunting) => Promise<void>): Promise<readonly string[]> {
  const { cases, seed, start, note } = fuzzing
  const victim = await startVictim(settings, start)
  const failures: string[] = []
  await use(async (prey) => {
    const begun = performance.now()
    const found = await hunt(prey, victim, cases, seed)
    note(`${prey.name}: ${cases} cases in ${((performance.now() - begun) / 1000).toFixed(1)} s, ${found.length} failures`)
    failures.push(...found)
  })
  failures.push(...(await looked(victim)).map((wrong) => `CROSSWALK_SEED=${seed}, afterwards: ${wrong}`))
  await victim.stop()
  return failures
}

async function looked(victim: Victim): Promise<readonly string[]> {
  await victim.revive()
  return [await victim.leftovers(), await controls(victim)].filter((wrong) => wrong !== undefined)
}

/** Sends heads of services over every carrier to clients of both protocols. */
export async function fuzzHeads(fuzzing: Fuzzing): Promise<readonly string[]> {
  const fromV2 = await inVictim({}, fuzzing, async (hunting) => {
    for (const way of WAYS) if (!way.hasV1) await hunting(headsBy(way))
    await hunting(callHeads)
  })
  const fromV1 = await inVictim({ modes: V1_MODES }, fuzzing, async (hunting) => {
    for (const way of WAYS) if (way.hasV1) await hunting(headsBy(way))
  })
  return [...fromV2, ...fromV1]
}

/** Sends sequences of HTTP/2 frames, each twice: in many writes and in one. */
export function fuzzFrames(fuzzing: Fuzzing): Promise<readonly string[]> {
  // After an error, some versions of Node wait for their client in vain (nghttp2 before 1.69). Only this limit ends that.
  return inVictim({ limits: { 'idle-timeout-ms': 500 } }, fuzzing, (hunting) => hunting(sequences))
}

/** Sends offers of other protocols. The bytes in their bodies must never be read as a request. */
export async function fuzzUpgrades(fuzzing: Fuzzing): Promise<readonly string[]> {
  const [line = ''] = SMUGGLED.split('\r\n')
  let smuggled = 0
  const seen = (head: string) => {
    if (head.startsWith(line)) smuggled += 1
  }
  const failures = await inVictim({ seen }, fuzzing, (hunting) => hunting(upgrades))
  return smuggled === 0 ? failures : [...failures, `upgrades, CROSSWALK_SEED=${fuzzing.seed}: ${smuggled} requests out of bodies`]
}

export function fuzzRpc(fuzzing: Fuzzing): Promise<readonly string[]> {
  return inVictim({ limits: { 'request-bytes': REQUEST_BYTES } }, fuzzing, (hunting) => hunting(rpcCalls))
}
