import { once } from 'node:events'
import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import http2, { type ClientHttp2Session, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import net, { type AddressInfo, createServer, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import tls from 'node:tls'

/** Ports below those that systems give to outgoing connections, so that none of these takes one while a process restarts. */
const LOWEST = 20_000
const HIGHEST = 32_000

/** Returns a port of this machine that nobody listens on, for a process that listens on it again after a restart. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = LOWEST + Math.floor(Math.random() * (HIGHEST - LOWEST))
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((done) => {
    const server = createServer().once('error', () => done(false))
    server.listen(port, '127.0.0.1', () => server.close(() => done(true)))
  })
}

/** Sends bytes on a new connection and returns everything until the other side closes it. */
export function rawExchange(url: string, bytes: string): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), hostname, () => socket.write(bytes))
    let received = ''
    socket.setEncoding('latin1')
    socket.on('data', (chunk: string) => {
      received += chunk
    })
    socket.on('close', () => resolve(received))
    socket.on('error', reject)
  })
}

type Close = () => Promise<void>

let whenOver = (_: Close): void => {}

/** Says what becomes of what was started and not closed: `test/setup.ts` closes it after its test or its file. */
export function closeBy(keep: (close: Close) => void): void {
  whenOver = keep
}

/** Returns what closes at most once, and is called at the latest when its test is over. */
export function closedLater(end: Close): Close {
  let ended: Promise<void> | undefined
  const close = () => {
    ended ??= end()
    return ended
  }
  whenOver(close)
  return close
}

/** Lets a server listen on a free port, with all its connections until it is closed, which it is at the latest when its test is over. */
export async function listening(server: net.Server) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => sockets.add(socket.once('close', () => sockets.delete(socket))))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = closedLater(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  )
  const { port } = server.address() as AddressInfo
  return { url: `${server instanceof tls.Server ? 'https' : 'http'}://127.0.0.1:${port}`, port, close }
}

/** A request as an upstream saw it. */
export interface Seen {
  readonly method: string
  readonly url: string
  readonly headers: http.IncomingHttpHeaders
  readonly body: string
}

export interface Upstream {
  readonly url: string
  readonly server: http.Server
  /** Requests whose body was read to its end. */
  readonly seen: Seen[]
  close(): Promise<void>
}

export type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

const PONG = '{"response":"pong"}'

/** A real HTTP server on a free port. `handle` is called once the body has arrived. With `seen`, it gets the proxy's pings too. */
export async function startUpstream(handle: Handler, pings?: 'seen'): Promise<Upstream> {
  const seen: Seen[] = []
  const server = http.createServer(async (request, response) => {
    try {
      const body = await text(request)
      if (pings !== 'seen' && request.headers['user-agent'] === 'crosswalk') return void response.end(PONG)
      seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers, body })
      handle(request, response, body)
    } catch {
      response.destroy()
    }
  })
  return { server, seen, ...(await listening(server)) }
}

/** An upstream that answers every request with this JSON. */
export function answering(body: unknown, status = 200): Handler {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
}

export interface Answer2 {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Makes one request over HTTP/2; rejects if the stream breaks off. */
export async function fetch2(session: ClientHttp2Session, path: string, headers: OutgoingHttpHeaders = {}, body?: string | Buffer) {
  const stream = session.request({ ':path': path, ...headers }, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  const closed = new Promise<number>((resolve) => stream.once('close', () => resolve(stream.rstCode ?? 0)))
  const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  const content = await text(stream)
  if ((await closed) !== 0) throw new Error(`the stream was reset: ${stream.rstCode}`)
  return { status: Number(answer[':status']), headers: answer, body: content } satisfies Answer2
}

/** Connects with HTTP/2 from the first byte, over TLS or in plain text. */
export async function connect2(url: string, ca?: string): Promise<ClientHttp2Session> {
  const session = http2.connect(url, { ...(ca !== undefined && { ca, servername: 'localhost' }) })
  session.on('error', () => {})
  await once(session, 'remoteSettings')
  return session
}
