import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { Failure } from './failure.ts'

/** A request as a handler sees it. `id` is the variable of its route. */
export interface Asked {
  readonly id: string
  readonly query: URLSearchParams
  // biome-ignore lint/suspicious/noExplicitAny: a decoded JSON body, looked into by the handlers
  readonly body: any
}

/** `GET /v1/projects/{}` → what answers it. */
export type Routes = Readonly<Record<string, (asked: Asked) => unknown>>

export interface Listening {
  readonly url: string
  readonly close: () => Promise<void>
}

/** Serves routes on a port of the loopback address; 0 takes a free one. */
export async function listen(routes: Routes, port = 0): Promise<Listening> {
  const compiled = Object.entries(routes).map(([route, handler]) => {
    const [method = '', template = ''] = route.split(' ')
    return { method, path: new RegExp(`^${template.replace('{}', '([^/:]+)')}$`), handler }
  })
  const answer = async (request: IncomingMessage) => {
    if (!request.headers.authorization) throw new Failure('UNAUTHENTICATED', 'Request is missing required authentication credential.')
    const { pathname, searchParams: query } = new URL(request.url ?? '', 'http://localhost')
    for (const { method, path, handler } of compiled) {
      const match = method === request.method ? path.exec(pathname) : null
      if (match) return handler({ id: decodeURIComponent(match[1] ?? ''), query, body: await bodyOf(request) })
    }
    throw new Failure('NOT_FOUND', 'Method not found.')
  }
  const server = createServer(async (request, response) => {
    const { status, body } = await answer(request).then(
      (value) => ({ status: 200, body: value }),
      (thrown: unknown) => (thrown instanceof Failure ? thrown : new Failure('INVALID_ARGUMENT', String(thrown))),
    )
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const hasBody = Number(request.headers['content-length'] ?? 0) > 0 || request.headers['transfer-encoding'] !== undefined
  return hasBody ? json(request) : {}
}
