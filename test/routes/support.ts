import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import net, { type AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import pino from 'pino'
import { mappings } from '../../mappings/index.ts'
import type { Config } from '../../src/config/settings.ts'
import { configWith } from '../../src/config.ts'
import { createServer, type Server } from '../../src/server.ts'
import type { Tracing } from '../../src/tracing/tracing.ts'

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

type Handler = (request: IncomingMessage, response: ServerResponse, body: string) => void

const PONG = '{"response":"pong"}'

/** A real HTTP server on a free port; `handle` is called once the body is there. The proxy's own pings are for `handle` too where they are `seen`. */
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, seen, close }
}

/** An upstream that answers everything with this JSON. */
export function answering(body: unknown, status = 200): Handler {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
}

export interface LogLine {
  readonly [member: string]: unknown
}

export interface TestProxy extends Pick<Server, 'url' | 'adminUrl' | 'close'> {
  readonly log: readonly LogLine[]
  /** Resolves with the next log line that fits. */
  logged(fits: (line: LogLine) => boolean): Promise<LogLine>
}

/** The proxy on free ports, its log kept. */
export async function startProxy(values: Partial<Config>, tracing?: Tracing): Promise<TestProxy> {
  const log: LogLine[] = []
  const waiting = new Set<() => void>()
  const write = (line: string) => {
    log.push(JSON.parse(line))
    for (const look of waiting) look()
  }
  const server = createServer(
    configWith({ 'listen.port': 0, 'admin.port': 0, ...values }),
    mappings,
    pino({ base: null }, { write }),
    tracing,
  )
  await server.listen()
  const logged = (fits: (line: LogLine) => boolean) =>
    new Promise<LogLine>((resolve) => {
      const look = () => {
        const found = log.find(fits)
        if (!found) return
        waiting.delete(look)
        resolve(found)
      }
      waiting.add(look)
      look()
    })
  return { url: server.url, adminUrl: server.adminUrl, close: server.close, log, logged }
}

/** Sends bytes on a new connection; everything that comes back until the other side closes it. */
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

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
