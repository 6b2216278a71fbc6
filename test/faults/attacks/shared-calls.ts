import http2 from 'node:http2'
import net from 'node:net'
import { bearer } from '../../routes/support.ts'
import type { Fault } from '../fault.ts'
import { metric, until } from '../process/child.ts'
import { type Behaviour, inWorld, type World } from '../world.ts'

const PATH = '/iam/v1/groups?limit=200'
const HEADERS = { ...bearer('t'), 'user-agent': 'x' }

/** More than the buffers of a connection take. */
const LARGE = JSON.stringify({ groups: Array.from({ length: 200 }, (_, at) => ({ uid: String(at), description: 'x'.repeat(100_000) })) })

/** Answers wait until they are told to go. */
function held() {
  const waiting: (() => void)[] = []
  const behaviour: Behaviour = (_, response) => void waiting.push(() => response.end(LARGE))
  return { waiting, behaviour, release: () => waiting.splice(0).forEach((go) => void go()) }
}

/** Two clients that ask and then read nothing; the function returned makes them go. */
function idleReaders({ proxy }: World): () => void {
  const { hostname, port } = new URL(proxy.url)
  const headers = Object.entries({ host: 'x', ...HEADERS }).map(([name, value]) => `${name}: ${value}\r\n`)
  const socket = net.connect(Number(port), hostname, () => socket.write(`GET ${PATH} HTTP/1.1\r\n${headers.join('')}\r\n`))
  const session = http2.connect(proxy.url, { settings: { initialWindowSize: 0 } })
  for (const end of [socket.pause(), session, session.request({ ':path': PATH, ...HEADERS })]) end.on('error', () => {})
  return () => {
    socket.destroy()
    session.destroy()
  }
}

async function neverReading(): Promise<string> {
  const { waiting, behaviour, release } = held()
  return inWorld(behaviour, { 'upstream.v1': undefined }, async (world) => {
    const { proxy, upstream } = world
    const inFlight = () => metric(proxy, 'crosswalk_requests_in_flight')
    const go = idleReaders(world)
    const read = async () => (await fetch(proxy.url + PATH, { headers: HEADERS })).json() as Promise<{ items: unknown[] }>
    const isWhole = ({ items }: { items: unknown[] }) => items.length === 200
    const reading = Array.from({ length: 5 }, read)
    await until(async () => waiting.length === 1 && (await inFlight()) === 7)
    release()
    const whole = (await Promise.all(reading)).filter(isWhole).length
    const shared = upstream.seen.length
    const later = read()
    await until(async () => waiting.length === 1)
    release()
    const again = isWhole(await later)
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
