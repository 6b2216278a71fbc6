import type { Socket } from 'node:net'
import { bytesOf, type FieldLine, FLAG, type Frame, frame, headers, PREFACE, readFrames, TYPE, uint32 } from '../../frames.ts'
import { type Connection, keyIn, NO_KEY, type Script2, type ScriptOf } from './script.ts'

interface Stream {
  /** Its body so far. */
  body: string
  /** True if the proxy has sent all of it. */
  isWhole: boolean
  answered: boolean
  /** True if we have sent the whole answer. */
  isOver: boolean
}

/** The window of the proxy on the connection, which is refilled as bytes arrive. */
const WINDOW = 2 ** 30

/** Answers gRPC calls on one connection as their scripts say. Heads are never read: a call's key is in its body. */
export function serve2(socket: Socket, first: Buffer, scriptOf: ScriptOf): Connection {
  const streams = new Map<number, Stream>()
  let received = Buffer.alloc(0)
  let isGreeted = false
  const send = (...frames: readonly Frame[]) => {
    if (!socket.destroyed && socket.writable) socket.write(Buffer.concat(frames.map(bytesOf)))
  }
  const answer = (id: number, stream: Stream) => {
    const key = keyIn(stream.body)
    const script = key === undefined ? undefined : (scriptOf(key) as Script2 | undefined)
    if (stream.answered || !(script || stream.isWhole)) return
    stream.answered = true
    const frames = script ? own(script.frames, id) : answerTo(id, stream.body, key ?? NO_KEY)
    stream.isOver = frames.some(endsStream(id))
    send(...frames)
    if (!stream.isOver) send(frame(TYPE.RST_STREAM, 0, id, uint32(0)))
    // A reset stream sends nothing more.
    if (stream.isWhole || !stream.isOver || frames.some(({ type, stream: at }) => type === TYPE.RST_STREAM && at === id)) streams.delete(id)
  }
  const handle = ({ type, flags, stream: id, payload }: Frame) => {
    if (type === TYPE.SETTINGS && !(flags & FLAG.ACK)) send(frame(TYPE.SETTINGS, FLAG.ACK, 0))
    if (type === TYPE.PING && !(flags & FLAG.ACK)) send(frame(TYPE.PING, FLAG.ACK, 0, payload))
    if (type === TYPE.RST_STREAM) streams.delete(id)
    if (type === TYPE.HEADERS && !streams.has(id)) streams.set(id, { body: '', isWhole: false, answered: false, isOver: false })
    if (type === TYPE.DATA && payload.length > 0) send(frame(TYPE.WINDOW_UPDATE, 0, 0, uint32(payload.length)))
    if (type === TYPE.DATA && payload.length > 0 && streams.has(id)) send(frame(TYPE.WINDOW_UPDATE, 0, id, uint32(payload.length)))
    const stream = streams.get(id)
    if (!stream || (type !== TYPE.DATA && type !== TYPE.HEADERS)) return
    if (type === TYPE.DATA) stream.body += payload.toString('latin1')
    if (flags & FLAG.END_STREAM) stream.isWhole = true
    answer(id, stream)
    if (stream.isWhole && stream.answered) streams.delete(id)
  }
  const read = (bytes: Buffer) => {
    received = Buffer.concat([received, bytes])
    if (!isGreeted) {
      if (received.length < PREFACE.length) return
      isGreeted = true
      received = received.subarray(PREFACE.length)
      send(frame(TYPE.SETTINGS, 0, 0), frame(TYPE.WINDOW_UPDATE, 0, 0, uint32(WINDOW)))
    }
    const { frames, rest } = readFrames(received)
    received = Buffer.from(rest)
    for (const one of frames) handle(one)
  }
  read(first)
  socket.on('data', read)
  return { isBusy: () => streams.size > 0 }
}

const endsStream = (id: number) => (sent: Frame) =>
  sent.stream === id &&
  (sent.type === TYPE.RST_STREAM || ((sent.type === TYPE.DATA || sent.type === TYPE.HEADERS) && (sent.flags & FLAG.END_STREAM) !== 0))

const own = (frames: readonly Frame[], id: number) => frames.map((one) => (one.stream === 1 ? { ...one, stream: id } : one))

/** The bytes of a message that are echoed: few enough for a frame. */
const ECHO = 1000

/** Echoes the message, with its key in the trailers. */
function answerTo(id: number, message: string, key: string): readonly Frame[] {
  const begin: readonly FieldLine[] = [
    [':status', '200'],
    ['content-type', 'application/grpc'],
    ['x-case', key],
  ]
  const end: readonly FieldLine[] = [
    ['grpc-status', '0'],
    ['x-end', key],
  ]
  const body = frame(TYPE.DATA, 0, id, Buffer.from(message.slice(0, ECHO), 'latin1'))
  return [headers(id, begin), body, headers(id, end, FLAG.END_HEADERS | FLAG.END_STREAM)]
}
