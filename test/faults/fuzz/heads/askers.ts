import http2, { type ClientHttp2Session, type ClientHttp2Stream, type IncomingHttpHeaders } from 'node:http2'
import type { Socket } from 'node:net'
import { readAnswers, talk, type WireAnswer } from '../../wire.ts'
import { openLane } from '../lanes.ts'

/** A client's request; its key identifies the case. */
export interface Question {
  readonly method: 'GET' | 'HEAD' | 'POST'
  readonly path: string
  readonly key: string
  readonly body: string
}

/** The answer that a client received. */
export interface Given {
  /** 0 if none arrived. */
  readonly status: number
  readonly type: string | undefined
  readonly body: string
  /** The whole text, including trailers. */
  readonly text: string
  /** True if the answer was visibly truncated. */
  readonly isBroken: boolean
}

/** A client that sends one request at a time. */
export interface Asker {
  ask(question: Question): Promise<Given>
  close(): void
}

/** Opens so many clients of one server. */
export type OpenAskers = (url: string, count: number) => readonly Asker[]

const NOTHING: Given = { status: 0, type: undefined, body: '', text: '', isBroken: true }

const headOf = ({ method, path, key, body }: Question) =>
  `${method} ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${key}\r\n${body === '' ? '' : `content-length: ${body.length}\r\n`}`

function givenBy(answer: WireAnswer | undefined): Given {
  if (!answer) return NOTHING
  const { status, headers, body, broken } = answer
  const text = [...headers].map((line) => line.join(': ')).join('\n')
  return { status, type: headers.get('content-type'), body, text: `${text}\n\n${body}`, isBroken: broken }
}

export const overHttp1: OpenAskers = (url, count) =>
  Array.from({ length: count }, () => {
    const lane = openLane(url)
    const ask = async (question: Question) =>
      givenBy(await lane.ask({ text: `${headOf(question)}\r\n${question.body}`, isHead: question.method === 'HEAD' }))
    return { ask, close: lane.close }
  })

/** Every handshake has a connection of its own, which its client closes after the answer. */
export const overWebSocket: OpenAskers = (url, count) =>
  Array.from({ length: count }, () => {
    let socket: Socket | undefined
    const ask = async (question: Question) => {
      const speak = (opened: Socket) => {
        socket = opened
        opened.write(`${headOf(question)}connection: Upgrade\r\nupgrade: websocket\r\n\r\n`)
      }
      const { answers } = await talk(url, speak, isAnswered)
      return givenBy(answers.find(({ status }) => status === 101 || status >= 200))
    }
    return { ask, close: () => socket?.destroy() }
  })

/** A tunnel has no end of its own. */
const isAnswered = (received: string) =>
  readAnswers(received, false, []).some(({ status, broken }) => !broken && (status === 101 || status >= 200))

/** Clients that share a connection. */
const STREAMS = 8

export const overHttp2: OpenAskers = (url, count) =>
  overSessions(url, count, (session, { method, path, key, body }) => {
    const stream = session.request({ ':method': method, ':path': path, authorization: `Bearer ${key}` }, { endStream: body === '' })
    if (body !== '') stream.end(body)
    return stream
  })

export const overGrpc: OpenAskers = (url, count) =>
  overSessions(url, count, (session, { path, key }) => {
    const stream = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' })
    const message = Buffer.alloc(5 + key.length)
    message.writeUInt32BE(key.length, 1)
    message.write(key, 5)
    stream.end(message)
    return stream
  })

type Open = (session: ClientHttp2Session, question: Question) => ClientHttp2Stream

function overSessions(url: string, count: number, open: Open): readonly Asker[] {
  const sessions: ClientHttp2Session[] = []
  const sessionFor = (nth: number) => {
    const known = sessions[nth]
    if (known && !known.closed && !known.destroyed) return known
    const fresh = http2.connect(url, { rejectUnauthorized: false })
    fresh.on('error', () => {})
    sessions[nth] = fresh
    return fresh
  }
  const close = () => {
    for (const session of sessions) session.destroy()
  }
  return Array.from({ length: count }, (_, nth) => ({
    ask: (question: Question) => listen(() => open(sessionFor(Math.floor(nth / STREAMS)), question)),
    close,
  }))
}

function listen(begin: () => ClientHttp2Stream): Promise<Given> {
  return new Promise((resolve) => {
    let head: IncomingHttpHeaders = {}
    let text = ''
    let rest = ''
    let body = ''
    const stream = begin()
    stream.setEncoding('latin1')
    stream.on('response', (headers: IncomingHttpHeaders, _: number, raw: readonly string[]) => {
      head = headers
      text = linesOf(raw)
    })
    stream.on('data', (chunk: string) => {
      body += chunk
    })
    stream.on('trailers', (_, __, raw: readonly string[]) => {
      rest = linesOf(raw)
    })
    stream.on('error', () => {})
    stream.once('close', () => {
      const said = `${text}\n\n${body}\n\n${rest}`
      resolve({ status: Number(head[':status'] ?? 0), type: head['content-type'], body, text: said, isBroken: stream.rstCode !== 0 })
    })
  })
}

/** A flat list of names and values as received. */
const linesOf = (raw: readonly string[]) =>
  Array.from({ length: raw.length / 2 }, (_, at) => `${raw[2 * at]}: ${raw[2 * at + 1]}`).join('\n')
