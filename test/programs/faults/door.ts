import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { until } from '../../stage/clocks.ts'
import { streamAttacks } from './attacks/streams.ts'
import { type Fault, inWorld, serving } from './fault.ts'
import { idle, inFlight } from './process/child.ts'
import { bytesOf, dial, type FieldLine, FLAG, type Frame, frame, headers, PREFACE, SECURE, TYPE, uint32 } from './wire.ts'

const POST: readonly FieldLine[] = [
  [':scheme', 'http'],
  [':authority', 'x'],
  [':method', 'POST'],
]
const UPLOAD: readonly FieldLine[] = [...POST, [':path', '/iam/v2/groups']]
const CALL: readonly FieldLine[] = [...POST, [':path', '/chainguard.platform.iam.Groups/List'], ['content-type', 'application/grpc']]

/** Frames that are wrong for the whole connection. After most of them, some versions of Node neither read on nor end it. */
const ERRORS: Readonly<Record<string, Frame>> = {
  'padding longer than its frame': frame(TYPE.DATA, FLAG.PADDED, 1, Buffer.of(200, 0)),
  'DATA of 17 KB': frame(TYPE.DATA, 0, 1, Buffer.alloc(17_000)),
  'RST_STREAM of three bytes': frame(TYPE.RST_STREAM, 0, 1, Buffer.alloc(3)),
  'a header table that is none': frame(TYPE.HEADERS, FLAG.END_HEADERS, 99, Buffer.of(0xff, 0xff, 0xff, 0xff, 0x0f)),
  'a lone CONTINUATION': frame(TYPE.CONTINUATION, FLAG.END_HEADERS, 1),
  'SETTINGS of five bytes': frame(TYPE.SETTINGS, 0, 0, Buffer.alloc(5)),
  'a PING of one byte': frame(TYPE.PING, 0, 0, Buffer.alloc(1)),
  'DATA of no stream': frame(TYPE.DATA, 0, 0, Buffer.alloc(10)),
  'a window of 0 for all': frame(TYPE.WINDOW_UPDATE, 0, 0, uint32(0)),
}

/** Streams of each connection, none of which ever gets its body. */
const WAITING = 8

/** Milliseconds from the wrong frame to the end of the client: Node has read the frame by then. */
const LEAVES_AFTER = 250

/** Milliseconds until the places of a client that has left are free. A busy machine has its share. */
const SOON = 6000

/** Opens streams, breaks the connection with a frame once the streams have places, and leaves. */
const leftAfter = (error: Frame, isSecure: boolean) =>
  inWorld(serving(3), isSecure ? SECURE : {}, async ({ proxy }) => {
    const begun = Array.from({ length: WAITING }, (_, nth) => headers(2 * nth + 1, nth % 2 === 0 ? CALL : UPLOAD))
    const socket = dial(proxy.url, 'h2')
    socket.resume()
    await once(socket, isSecure ? 'secureConnect' : 'connect')
    socket.write(Buffer.concat([PREFACE, ...[frame(TYPE.SETTINGS, 0, 0), ...begun].map(bytesOf)]))
    await until(async () => (await inFlight(proxy)) === WAITING)
    socket.write(bytesOf(error))
    await delay(LEAVES_AFTER)
    socket.destroy()
    const left = performance.now()
    await idle(proxy)
    const ms = performance.now() - left
    return ms < SOON ? 'its places are free soon' : `its places are free after ${(ms / 1000).toFixed(1)} s`
  })

const leftFaults: readonly Fault[] = Object.entries(ERRORS).flatMap(([name, error]) =>
  [false, true].map((isSecure) => ({
    name: `a client that leaves after ${name}${isSecure ? ', over TLS' : ''}`,
    expected: 'its places are free soon',
    see: () => leftAfter(error, isSecure),
    ...(isSecure && { full: true as const }),
  })),
)

export const doorFaults: readonly Fault[] = [...streamAttacks, ...leftFaults]
