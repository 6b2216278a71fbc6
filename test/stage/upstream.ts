import http, { type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, server, seen, close }
}

/** An upstream that answers every request with this JSON. */
export function answering(body: unknown, status = 200): Handler {
  return (_, response) => {
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(JSON.stringify(body))
  }
}
