import net, { type Socket } from 'node:net'
import tls from 'node:tls'

/** One answer as sent. */
export interface WireAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
  /** True if the connection ended before the answer. */
  readonly broken: boolean
}

/** An answer and its length in the text. */
interface ReadAnswer extends WireAnswer {
  /** Its length in characters. */
  readonly length: number
}

/** The bytes received on a connection. */
export interface Talk {
  readonly answers: readonly WireAnswer[]
  /** True if the server closed the connection. */
  readonly closed: boolean
}

/** The proxy uses TLS with the certificate of the tests. */
export const SECURE = { 'tls.key': 'test/certificates/localhost.key', 'tls.cert': 'test/certificates/localhost.crt' }

/** Connects to a server, over TLS if its address says so. The certificate is not verified here. */
export function dial(url: string, protocol: 'http/1.1' | 'h2' = 'http/1.1'): Socket {
  const { hostname, port, protocol: scheme } = new URL(url)
  const to = { host: hostname, port: Number(port), noDelay: true }
  return scheme === 'https:' ? tls.connect({ ...to, rejectUnauthorized: false, ALPNProtocols: [protocol] }) : net.connect(to)
}

/** Writes to a connection; `send` resolves when the bytes are handed over. */
export type Speak = (socket: Socket) => void

/**
 * Sends bytes that no HTTP client would send, on a connection of its own. Reads answers until the server closes it or there are `enough`:
 * a number of final ones, or a test of everything received. `heads` lists the answers (from 0) that belong to a HEAD and have no body.
 */
export function talk(
  url: string,
  speak: string | Speak,
  enough: number | ((received: string) => boolean) = Number.POSITIVE_INFINITY,
  heads: readonly number[] = [],
): Promise<Talk> {
  const areFinal = (many: number) => (text: string) =>
    readAnswers(text, false, heads).filter(({ broken, status }) => !broken && status >= 200).length >= many
  const isEnough = typeof enough === 'number' ? areFinal(enough) : enough
  return new Promise((resolve) => {
    const socket = dial(url)
    let received = ''
    const done = (closed: boolean) => {
      socket.destroy()
      resolve({ answers: readAnswers(received, closed, heads), closed })
    }
    socket.setEncoding('latin1')
    socket.once('connect', () => (typeof speak === 'string' ? socket.write(speak, 'latin1') : speak(socket)))
    socket.on('data', (chunk: string) => {
      received += chunk
      if (isEnough(received)) done(false)
    })
    socket.on('error', () => {})
    socket.on('close', () => done(true))
  })
}

/** Returns the answers in a text of the wire; the last one is `broken` if it is incomplete. */
export function readAnswers(wire: string, closed: boolean, heads: readonly number[]): ReadAnswer[] {
  const answers: ReadAnswer[] = []
  let rest = wire
  while (rest !== '') {
    const end = rest.indexOf('\r\n\r\n')
    if (end < 0) return [...answers, { status: 0, headers: new Map(), body: rest, broken: true, length: rest.length }]
    const [start = '', ...lines] = rest.slice(0, end).split('\r\n')
    const headers = new Map(lines.map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 1).trim()]))
    const status = Number(/^HTTP\/1\.[01] (\d{3})/.exec(start)?.[1] ?? 0)
    const bodyless = status < 200 || status === 204 || status === 304 || heads.includes(answers.filter((one) => one.status >= 200).length)
    const { body, broken, length } = bodyless ? NOTHING : readBody(headers, rest.slice(end + 4), closed)
    answers.push({ status, headers, body, broken, length: end + 4 + length })
    rest = rest.slice(end + 4 + length)
  }
  return answers
}

interface WireBody {
  readonly body: string
  readonly broken: boolean
  /** Its length in bytes. */
  readonly length: number
}

const NOTHING: WireBody = { body: '', broken: false, length: 0 }

/** Returns the body at the beginning of a text, as the headers of its message frame it. */
export function readBody(headers: ReadonlyMap<string, string>, rest: string, closed: boolean): WireBody {
  const declared = headers.get('content-length')
  if (declared !== undefined) {
    const length = Math.min(Number(declared), rest.length)
    return { body: rest.slice(0, length), broken: length < Number(declared), length }
  }
  if (headers.get('transfer-encoding') === 'chunked') return readChunks(rest)
  return { body: rest, broken: !closed, length: rest.length }
}

function readChunks(rest: string): WireBody {
  let body = ''
  let at = 0
  for (;;) {
    const line = /^([0-9a-f]+)[^\r\n]*\r\n/i.exec(rest.slice(at))
    if (!line) return { body, broken: true, length: rest.length }
    const size = Number.parseInt(line[1] ?? '', 16)
    const from = at + line[0].length
    if (rest.length < from + size + 2) return { body, broken: true, length: rest.length }
    body += rest.slice(from, from + size)
    at = from + size + 2
    if (size === 0) return { body, broken: false, length: at }
  }
}
