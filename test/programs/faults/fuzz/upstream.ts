import net, { type AddressInfo, type Socket } from 'node:net'
import { bytesOf, type FieldLine, FLAG, type Frame, frame, headers, PREFACE, readBody, readFrames, TYPE, uint32 } from '../wire.ts'

/** What the upstream does with the request of a case. */
export type Script = Script1 | Script2

export interface Script1 {
  /** Each piece is a write of its own. */
  readonly pieces: readonly Buffer[]
  /** What happens to the connection afterwards; a kept tunnel stays until the other side ends it. */
  readonly afterwards: 'keep' | 'end' | 'reset'
  /** True if it answers after the head of the request, before the body. */
  readonly early: boolean
  /** Milliseconds before it begins. */
  readonly delayMs: number
}

/** An answer over HTTP/2; stream 1 stands for the stream of the request. */
export interface Script2 {
  readonly frames: readonly Frame[]
}

export type ScriptOf = (key: string) => Script | undefined

/**
 * Identifies the request that something belongs to: in `authorization` over HTTP/1.1, in the body over gRPC.
 * All keys have the same length.
 */
const KEY = /case-[\w]{8}/

/** A key that no request has. */
export const NO_KEY = 'case-00000000'

/** The key of answers without a request. */
export const EVIL_KEY = 'case-evilevil'

/** Five digits of a number, and three check digits that detect a mutated key. */
export function keyOf(nth: number): string {
  const check = (Math.imul(nth, 0x9e3779b1) >>> 0) % 36 ** 3
  return `case-${nth.toString(36).padStart(5, '0')}${check.toString(36).padStart(3, '0')}`
}

/** Returns the number of a key; undefined for anything else. */
export function numberOf(key: string): number | undefined {
  const nth = Number.parseInt(key.slice(5, 10), 36)
  return keyOf(nth) === key ? nth : undefined
}

export function keysIn(text: string): readonly string[] {
  return text.match(new RegExp(KEY, 'g')) ?? []
}

export const keyIn = (text: string): string | undefined => KEY.exec(text)?.[0]

export interface Connection {
  /** True during a request without its end, an answer, a stream or a tunnel. */
  isBusy(): boolean
}

interface Request {
  readonly head: string
  readonly isWhole: boolean
  readonly length: number
}

/** Returns the request at the beginning of a text once its head is complete. */
function requestIn(text: string): Request | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const head = text.slice(0, end + 4)
  const headers = new Map(
    head.split('\r\n').map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]),
  )
  if (!headers.has('content-length') && !headers.has('transfer-encoding')) return { head, isWhole: true, length: end + 4 }
  const { broken, length } = readBody(headers, text.slice(end + 4), false)
  return { head, isWhole: !broken, length: end + 4 + length }
}

/** Answers the requests of one connection as their scripts say; `seen` gets the head of each. */
export function serve1(socket: Socket, first: Buffer, scriptOf: ScriptOf, seen: (head: string) => void): Connection {
  let received = ''
  let answered = false
  let isWriting = false
  let isTunnel = false

  /** A request is answered first and removed when it is complete. */
  const next = () => {
    const request = isWriting || isTunnel ? undefined : requestIn(received)
    if (!request) return
    const key = keyIn(request.head)
    const script = (scriptOf(key ?? '') as Script1 | undefined) ?? answerTo(request.head, key ?? NO_KEY)
    if (!answered && script && (request.isWhole || script.early)) {
      answered = true
      isWriting = true
      seen(request.head)
      const done = () => {
        isWriting = false
        isTunnel =
          script.afterwards === 'keep' &&
          /\r\nupgrade:/i.test(request.head) &&
          script.pieces[0]?.subarray(0, 12).toString() === 'HTTP/1.1 101'
        next()
      }
      if (script.delayMs > 0) setTimeout(() => write(socket, script, done), script.delayMs)
      else write(socket, script, done)
      return
    }
    if (!request.isWhole || !answered) return
    received = received.slice(request.length)
    answered = false
    next()
  }
  const read = (bytes: Buffer) => {
    received += bytes.toString('latin1')
    next()
  }
  read(first)
  socket.on('data', read)
  return { isBusy: () => received !== '' || isWriting || isTunnel }
}

/** Ends the connection in a separate step: the last write must arrive first. */
function write(socket: Socket, script: Script1, done: () => void): void {
  const [piece, ...rest] = script.pieces
  if (piece && !socket.destroyed) {
    socket.write(piece)
    if (rest.length > 0) return void setImmediate(() => write(socket, { ...script, pieces: rest }, done))
  }
  if (script.afterwards === 'end') socket.end()
  if (script.afterwards === 'reset') setImmediate(() => socket.resetAndDestroy())
  done()
}

/** Milliseconds that `/slow` takes: longer than the requests after it. */
const SLOW = 20

const WELL = (text: string): Script1 => ({ pieces: [Buffer.from(text, 'latin1')], afterwards: 'keep', early: false, delayMs: 0 })

/**
 * Answers well, with the key of the request.
 * `/hang` gets no answer, `/slow` a late one, `/early` one before the body, a handshake a tunnel.
 */
function answerTo(head: string, key: string): Script1 | undefined {
  const target = head.slice(0, head.indexOf('\r\n'))
  if (target.includes('/hang')) return undefined
  if (/\r\nupgrade: *websocket/i.test(head)) {
    return WELL(`HTTP/1.1 101 Switching Protocols\r\nconnection: Upgrade\r\nupgrade: websocket\r\nx-case: ${key}\r\n\r\n${key}`)
  }
  const body = target.startsWith('HEAD') ? '' : bodyTo(target, key)
  const early = target.includes('/early')
  const fields = `content-type: application/json\r\nx-case: ${key}\r\ncontent-length: ${body.length}\r\n`
  const answer = WELL(`HTTP/1.1 ${early ? '401 No' : '200 OK'}\r\n${fields}\r\n${body}`)
  return { ...answer, early, delayMs: target.includes('/slow') ? SLOW : 0 }
}

export function bodyTo(target: string, key: string): string {
  if (target.includes('/v1/')) return JSON.stringify({ items: [{ id: '0'.repeat(40), name: key }] })
  return JSON.stringify({ groups: [{ uid: '0'.repeat(40), name: key }], nextPageToken: '' })
}

interface Stream {
  body: string
  isWhole: boolean
  answered: boolean
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
    const frames = script ? own(script.frames, id) : answerToOfHttp2(id, stream.body, key ?? NO_KEY)
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

function answerToOfHttp2(id: number, message: string, key: string): readonly Frame[] {
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

export type ScriptedUpstream = Awaited<ReturnType<typeof startScripted>>

/**
 * Starts a server in the place of v2 and v1 that answers every request as its case says, byte for byte. `seen` gets the head of every request
 * over HTTP/1.1.
 */
export async function startScripted(seen: (head: string) => void = () => {}) {
  const scripts = new Map<string, Script>()
  const connections = new Map<Socket, Connection | undefined>()
  let keys = 0
  const server = net.createServer({ noDelay: true }, (socket) => {
    connections.set(socket, undefined)
    socket.on('error', () => {})
    socket.once('close', () => connections.delete(socket))
    socket.once('data', (first) => {
      const isHttp2 = first[0] === PREFACE[0] && first.subarray(0, 3).equals(PREFACE.subarray(0, 3))
      const scriptOf = (key: string) => scripts.get(key)
      connections.set(socket, isHttp2 ? serve2(socket, first, scriptOf) : serve1(socket, first, scriptOf, seen))
    })
  })
  await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 }, resolve))
  const cut = () => {
    for (const socket of connections.keys()) socket.destroy()
  }
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    play: (key: string, script: Script) => scripts.set(key, script),
    forget: (key: string) => scripts.delete(key),
    newKey() {
      keys += 1
      return keyOf(keys)
    },
    /**
     * Returns a known key in the text that is not in `own`.
     * An extra answer may be part of an answer to one of `own`: a body without an end runs into it.
     */
    foreignIn(text: string, own: readonly string[]) {
      const found = keysIn(text)
      const isOwn = found.some((key) => own.includes(key))
      const isIssued = (nth: number) => nth > 0 && nth <= keys
      const isKnown = (key: string) => (key === EVIL_KEY ? !isOwn : isIssued(numberOf(key) ?? 0))
      return found.find((key) => isKnown(key) && !own.includes(key))
    },
    /** Ends idle connections; returns the number of the remaining ones. */
    endIdle() {
      for (const [socket, connection] of connections) if (!connection?.isBusy()) socket.end()
      return connections.size
    },
    cut,
    close() {
      cut()
      return new Promise<void>((resolve) => server.close(() => resolve()))
    },
  }
}
