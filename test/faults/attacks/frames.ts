import type { Config } from '../../../src/app/config/settings.ts'
import { until } from '../../stage/until.ts'
import type { Fault } from '../fault.ts'
import { bytesOf, type FieldLine, FLAG, type Frame, frame, GOAWAY, headers, PREFACE, TYPE, uint32 } from '../frames.ts'
import { send } from '../fuzz/frames/frames.ts'
import { metric } from '../process/child.ts'
import { say } from '../say.ts'
import { SECURE, talk } from '../wire.ts'
import { inWorld, serving } from '../world.ts'

const CANCEL = 8
const NOTHING = 0

const request = (...fields: readonly FieldLine[]): Frame => headers(1, [[':scheme', 'http'], [':authority', 'x'], ...fields])
const GRPC: FieldLine = ['content-type', 'application/grpc']

const REQUESTS: Readonly<Record<string, Frame>> = {
  'a gRPC call': request([':method', 'POST'], [':path', '/test.Echo/Unary'], GRPC),
  'a gRPC call to a path that is none': request([':method', 'POST'], [':path', '/'], GRPC),
  'a translated gRPC call': request([':method', 'POST'], [':path', '/chainguard.platform.iam.Groups/List'], GRPC),
  'a call of gRPC-Web': request(
    [':method', 'POST'],
    [':path', '/chainguard.platform.iam.Groups/List'],
    ['content-type', 'application/grpc-web'],
  ),
  'a call of Connect': request(
    [':method', 'POST'],
    [':path', '/chainguard.platform.iam.Groups/List'],
    ['content-type', 'application/json'],
  ),
  'a native upload': request([':method', 'POST'], [':path', '/iam/v2/groups']),
  'a translated write': request([':method', 'POST'], [':path', `/iam/v1/groups/${'a'.repeat(40)}`]),
  'what v1 answers': request([':method', 'POST'], [':path', '/registry/v1/vuln_reports']),
  'an extended CONNECT': request([':method', 'CONNECT'], [':protocol', 'websocket'], [':path', '/socket']),
}

/** Frames that end a stream or its connection; Node emits the request all the same. */
const ENDINGS: Readonly<Record<string, Frame>> = {
  RST_STREAM: frame(TYPE.RST_STREAM, 0, 1, uint32(CANCEL)),
  'a window of 0 for its stream': frame(TYPE.WINDOW_UPDATE, 0, 1, uint32(NOTHING)),
  'a window of 0 for all': frame(TYPE.WINDOW_UPDATE, 0, 0, uint32(NOTHING)),
  GOAWAY,
  'a PING that is too short': frame(TYPE.PING, 0, 0, Buffer.alloc(1)),
  'SETTINGS that are too short': frame(TYPE.SETTINGS, 0, 0, Buffer.alloc(5)),
  'a header table that is none': frame(TYPE.HEADERS, FLAG.END_HEADERS, 3, Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f)),
  'trailers without an end': headers(1, [['x', 'y']]),
}

/** The pairs that once ended the process. The others run in `npm run faults`. */
const QUICK = new Set(['RST_STREAM', 'a window of 0 for its stream'])

const TIMES = 3

/** Sends a request and its end in one packet, a few times. The next client must be answered. */
async function onePacket(begin: Frame, end: Frame, settings: Partial<Config>): Promise<string> {
  // Some versions of Node do not close a connection after an error; this limit ends it.
  return inWorld(serving(3), { 'limits.idleTimeoutMs': 500, ...settings }, async ({ proxy }) => {
    const packet = Buffer.concat([PREFACE, ...[frame(TYPE.SETTINGS, 0, 0), begin, end].map(bytesOf)])
    for (let nth = 0; nth < TIMES; nth += 1) await send(proxy.url, [packet], 'fin')
    return nextOf(proxy)
  })
}

/** Waits until nothing is in flight, and tells how the next client is answered. */
async function nextOf(proxy: Parameters<typeof metric>[0] & { readonly url: string }): Promise<string> {
  await until(async () => (await metric(proxy, 'crosswalk_requests_in_flight')) === 0)
  const { answers } = await talk(proxy.url, 'GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\n\r\n', 1)
  return `none in flight; then ${say(answers[0])}`
}

/** Streams behind the GOAWAY of a connection, connections at a time, and times: together they ended the process on Node 20. */
const LATE = { streams: 100, connections: 50, times: 10 }

/** Sends requests behind a GOAWAY, in the same packet. The next client must be answered. */
async function behindGoaway(): Promise<string> {
  return inWorld(serving(3), {}, async ({ proxy }) => {
    const fields: readonly FieldLine[] = [
      [':method', 'GET'],
      [':path', '/iam/v1/groups'],
      [':scheme', 'http'],
      [':authority', 'x'],
    ]
    const late = Array.from({ length: LATE.streams }, (_, nth) => headers(2 * nth + 1, fields, FLAG.END_STREAM | FLAG.END_HEADERS))
    const packet = Buffer.concat([PREFACE, ...[frame(TYPE.SETTINGS, 0, 0), GOAWAY, ...late].map(bytesOf)])
    for (let nth = 0; nth < LATE.times; nth += 1) {
      await Promise.all(Array.from({ length: LATE.connections }, () => send(proxy.url, [packet], 'fin')))
    }
    return nextOf(proxy)
  })
}

/** Every request with every end. */
const endings: readonly Fault[] = Object.entries(REQUESTS).flatMap(([name, begin]) =>
  Object.entries(ENDINGS).flatMap(([ending, end]) =>
    [false, true].map((isSecure) => ({
      name: `${name} and ${ending} in one packet${isSecure ? ' over TLS' : ''}`,
      expected: 'none in flight; then 200, 3 rows',
      see: () => onePacket(begin, end, isSecure ? SECURE : {}),
      ...((isSecure || !QUICK.has(ending) || name.startsWith('a call of')) && { full: true as const }),
    })),
  ),
)

export const frameAttacks: readonly Fault[] = [
  ...endings,
  {
    name: 'requests behind a GOAWAY, in one packet on many connections',
    expected: 'none in flight; then 200, 3 rows',
    see: behindGoaway,
    full: true,
  },
]
