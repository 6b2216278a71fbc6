import { once } from 'node:events'
import http2 from 'node:http2'
import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import type { Config } from '../../../src/app/config/settings.ts'
import { connect2 } from '../../listen/fetch2.ts'
import type { TestProxy } from '../../stage/proxy.ts'
import { until } from '../../stage/until.ts'
import type { Fault } from '../fault.ts'
import { metric } from '../process/child.ts'
import { say } from '../say.ts'
import { SECURE, talk } from '../wire.ts'
import { inWorld, serving } from '../world.ts'

const CREATE = `/iam/v1/groups/${'a'.repeat(40)}`
const BODIES: Partial<Config> = { 'limits.requestBytes': 512 * 1024, 'limits.bodiesBytes': 1024 * 1024, 'upstream.v1': undefined }
const CROWD = 12
const PART = 'x'.repeat(200_000)

const refused = (proxy: TestProxy, reason: string) => metric(proxy, `crosswalk_refused_total{reason="${reason}"}`)

/** A write of so many bytes, or its beginning. */
const write = (bytes: number, body: string) =>
  `POST ${CREATE} HTTP/1.1\r\nhost: x\r\ncontent-length: ${bytes}\r\nconnection: close\r\n\r\n${body}`
const whole = (bytes: number) => write(bytes, JSON.stringify({ name: 'x'.repeat(bytes - 11) }))

/** Sends half a body from each client and waits; the returned function ends them. */
type Crowd = (proxy: TestProxy) => Promise<() => void>

const over1: Crowd = async ({ url }) => {
  const sockets = Array.from({ length: CROWD }, () => net.connect(Number(new URL(url).port), '127.0.0.1'))
  for (const socket of sockets) socket.on('error', () => {}).write(write(2 * PART.length, PART))
  return () => {
    for (const socket of sockets) socket.destroy()
  }
}

/** The same over HTTP/2, as REST or as a call. */
const over2 =
  (path: string, type: string): Crowd =>
  async ({ url }) => {
    const session = await connect2(url)
    for (let nth = 0; nth < CROWD; nth += 1) {
      const stream = session.request({ ':path': path, ':method': 'POST', 'content-type': type }, { endStream: false })
      stream.on('error', () => {}).write(type === 'application/grpc' ? FRAME : PART)
    }
    return () => session.destroy()
  }

const CALL = '/chainguard.platform.iam.Groups/Create'

/** The beginning of a message of twice the length. */
const FRAME = Buffer.concat([Buffer.of(0, 0, 6, 26, 128), Buffer.from(PART)])

const CROWDS: Readonly<Record<string, Crowd>> = {
  'HTTP/1': over1,
  'HTTP/2': over2(CREATE, 'application/json'),
  gRPC: over2(CALL, 'application/grpc'),
  Connect: over2(CALL, 'application/json'),
}

/** Checks that bodies that never end fill the memory for bodies, and nothing else. */
async function unfinished(crowd: Crowd): Promise<string> {
  return inWorld(serving(3), BODIES, async ({ proxy }) => {
    const leave = await crowd(proxy)
    await until(async () => (await refused(proxy, 'bodies')) > 0)
    const [another] = (await talk(proxy.url, whole(500_000), 1)).answers
    const [read] = (await talk(proxy.url, 'GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\n\r\n', 1)).answers
    leave()
    await until(async () => (await metric(proxy, 'crosswalk_requests_in_flight')) === 0)
    const [afterwards] = (await talk(proxy.url, whole(500_000), 1)).answers
    return `another body ${say(another)}; a read ${say(read)}; when they are gone ${say(afterwards)}`
  })
}

const MOST = 20

/** Opens more silent connections than the limit. */
async function connections(settings: Partial<Config>, connect: (port: number) => Socket): Promise<string> {
  return inWorld(serving(3), { 'limits.clientConnections': MOST, ...settings }, async ({ proxy }) => {
    const port = Number(new URL(proxy.url).port)
    const sockets = Array.from({ length: MOST }, () => connect(port).on('error', () => {}))
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    const further = Array.from({ length: 5 }, () => connect(port).on('error', () => {}))
    await Promise.all(further.map((socket) => new Promise((resolve) => socket.once('close', resolve))))
    const open = sockets.filter((socket) => !socket.destroyed).length
    for (const socket of sockets) socket.destroy()
    return `${open} stay open, 5 further ones are closed and counted: ${await refused(proxy, 'connections')}`
  })
}

const SESSIONS = 28
const STREAMS = 100

/** HTTP/2 clients that allow no bytes, not even for refusals; 800 of their requests are admitted. */
async function unreadRefusals(): Promise<string> {
  return inWorld(serving(3), { 'limits.requestsInFlight': 800, 'upstream.v1': undefined }, async ({ proxy }) => {
    const sessions = Array.from({ length: SESSIONS }, () => http2.connect(proxy.url, { settings: { initialWindowSize: 0 } }))
    let reset = 0
    for (const session of sessions) {
      session.on('error', () => {})
      await once(session, 'remoteSettings')
      for (let nth = 0; nth < STREAMS; nth += 1) {
        const stream = session.request({ ':path': '/iam/v1/nothing', authorization: 'Bearer t' }).on('error', () => {})
        stream.once('close', () => {
          if (stream.rstCode === http2.constants.NGHTTP2_REFUSED_STREAM) reset += 1
        })
      }
    }
    await until(async () => (await refused(proxy, 'overload')) === SESSIONS * STREAMS - 800)
    await until(async () => reset >= SESSIONS * STREAMS - 1800)
    for (const session of sessions) session.destroy()
    await until(async () => (await metric(proxy, 'crosswalk_requests_in_flight')) === 0)
    const [afterwards] = (await talk(proxy.url, 'GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\n\r\n', 1)).answers
    return `1000 refusals wait, ${reset} streams are reset; when they are gone ${say(afterwards)}`
  })
}

export const memoryAttacks: readonly Fault[] = [
  ...Object.entries(CROWDS).map(([way, crowd]) => ({
    name: `bodies over ${way} that are never finished`,
    expected: 'another body 503/14, again after 1 s; a read 200, 3 rows; when they are gone 200',
    see: () => unfinished(crowd),
    ...(!way.startsWith('HTTP') && { full: true as const }),
  })),
  {
    name: 'refusals over HTTP/2 that nobody reads',
    expected: '1000 refusals wait, 1000 streams are reset; when they are gone 200, 3 rows',
    see: unreadRefusals,
  },
  {
    name: 'more connections than there may be',
    expected: '20 stay open, 5 further ones are closed and counted: 5',
    see: () => connections({}, (port) => net.connect(port, '127.0.0.1')),
  },
  {
    name: 'more connections over TLS than there may be',
    expected: '20 stay open, 5 further ones are closed and counted: 5',
    see: () => connections(SECURE, (port) => tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false })),
  },
]
