import { once } from 'node:events'
import http, { type IncomingMessage } from 'node:http'
import http2 from 'node:http2'
import { text } from 'node:stream/consumers'
import { setImmediate } from 'node:timers/promises'
import { bearer } from '../../stage/proxy.ts'
import { until } from '../../stage/until.ts'
import type { Fault } from '../fault.ts'
import { metric } from '../process/child.ts'
import { type Behaviour, inWorld, type World } from '../world.ts'

const PATH = '/iam/v1/groups?limit=200'
const HEADERS = { ...bearer('t'), 'user-agent': 'x' }

/** More than the buffers of a connection hold. */
const LARGE = JSON.stringify({ groups: Array.from({ length: 200 }, (_, at) => ({ uid: String(at), description: 'x'.repeat(100_000) })) })

/** Answers that wait for the test. */
function held() {
  const waiting: (() => void)[] = []
  const behaviour: Behaviour = (_, response) => void waiting.push(() => response.end(LARGE))
  return { waiting, behaviour, release: () => waiting.splice(0).forEach((go) => void go()) }
}

/** Opens the clients' connections first, so that parallel requests arrive within one turn of the event loop. Only then is a call shared. */
async function readers({ proxy }: World) {
  const agent = new http.Agent({ keepAlive: true })
  const ask = (path: string) => new Promise<IncomingMessage>((resolve) => http.get(proxy.url + path, { agent, headers: HEADERS }, resolve))
  const ready = await Promise.all(Array.from({ length: GOOD + 1 }, () => ask(UNKNOWN)))
  const session = http2.connect(proxy.url, { settings: { initialWindowSize: 0 } })
  session.on('error', () => {})
  await Promise.all([...ready.map(text), once(session, 'remoteSettings')])
  return {
    /** Resolves for all clients; two of them never read. The session writes after this turn, so the others wait for it. */
    async all(): Promise<readonly Promise<boolean>[]> {
      session.request({ ':path': PATH, ...HEADERS }).on('error', () => {})
      await setImmediate()
      http.get(proxy.url + PATH, { agent, headers: HEADERS }, (answer) => answer.on('error', () => {}).pause())
      return Array.from({ length: GOOD }, async () => isWhole(await text(await ask(PATH))))
    },
    one: async () => isWhole(await text(await ask(PATH))),
    go() {
      agent.destroy()
      session.destroy()
    },
  }
}

const GOOD = 5
const UNKNOWN = '/registry/v1/vuln_reports'
const isWhole = (json: string) => JSON.parse(json).items.length === 200

async function neverReading(): Promise<string> {
  const { waiting, behaviour, release } = held()
  return inWorld(behaviour, { 'upstream.v1': undefined }, async (world) => {
    const { proxy, upstream } = world
    const inFlight = () => metric(proxy, 'crosswalk_requests_in_flight')
    const { all, one, go } = await readers(world)
    const reading = await all()
    await until(async () => waiting.length > 0 && (await inFlight()) === GOOD + 2)
    release()
    const whole = (await Promise.all(reading)).filter(Boolean).length
    const shared = upstream.seen.length
    const later = one()
    await until(async () => waiting.length === 1)
    release()
    const again = await later
    go()
    await until(async () => (await inFlight()) === 0)
    return `${whole} of 5 whole from ${shared} call; a later one whole: ${again}; in flight ${await inFlight()} when they have gone`
  })
}

export const sharedCallAttacks: readonly Fault[] = [
  {
    name: 'two of seven who share a call to v2 never read, over HTTP/1.1 and HTTP/2',
    expected: '5 of 5 whole from 1 call; a later one whole: true; in flight 0 when they have gone',
    see: neverReading,
  },
]
