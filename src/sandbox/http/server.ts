import { setMaxListeners } from 'node:events'
import http from 'node:http'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { type Fault, faultStatus } from '../control/faults.ts'
import { bodyEntry, queryObject } from '../control/journal.ts'
import { shifted } from '../control/spoil.ts'
import { CODES } from '../status.ts'
import { pairsOf } from './body.ts'
import { dispatch, type Received, splitUrl } from './dispatch.ts'
import { outcomeOf, type ServerParts } from './outcome.ts'
import type { Answer } from './route.ts'
import { shareWithHttp2 } from './two-protocols.ts'

/** The message limit of the service (semantics §4.3). */
const BODY_LIMIT = 100 * 1024 * 1024

/** Nothing of gRPC is loaded before the first connection that speaks HTTP/2. */
const openGrpc = async (parts: ServerParts, closing: AbortSignal) =>
  (await import('../grpc/grpc-server.ts')).createGrpcServer(parts, closing)

const headerText = (value: string | readonly string[] | undefined): string | undefined => (typeof value === 'string' ? value : value?.[0])

const receive = (request: FastifyRequest, contentType: string | undefined): Received => ({
  method: request.method,
  url: request.raw.url ?? '/',
  contentType,
  methodOverride: headerText(request.headers['x-http-method-override']),
  authorization: request.headers.authorization,
  text: typeof request.body === 'string' ? request.body : '',
})

/** The decoded path, for matching and for the journal. A path that cannot be decoded stays as received. */
const readablePath = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Sends bytes, because fastify would add a charset to the type of a text. JSON has none (facts §15). */
const bytes = (text: string): Buffer => Buffer.from(text)

const send = (reply: FastifyReply, { status = 200, body, headers = {} }: Answer): FastifyReply => {
  reply.code(status).headers(headers)
  return body === undefined ? reply.send() : reply.header('content-type', 'application/json').send(bytes(JSON.stringify(body)))
}

const sendFault = (reply: FastifyReply, fault: Fault): FastifyReply => {
  const { status = 200, body, headers = {} } = fault
  const text = body ?? JSON.stringify(faultStatus(fault))
  return reply.code(status).header('content-type', 'application/json').headers(headers).send(bytes(text))
}

const reset = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
  reply.hijack()
  request.raw.socket.resetAndDestroy()
  return reply
}

const serve = async (parts: ServerParts, closing: AbortSignal, request: FastifyRequest, reply: FastifyReply, received: Received) => {
  const { world, router } = parts
  const [encoded, query] = splitUrl(received.url)
  const path = readablePath(encoded)
  if (path.startsWith('/-/')) return send(reply, await dispatch(router, world, received))
  const entry = { method: received.method, path, query: queryObject(pairsOf(query)), body: bodyEntry(received.text) }
  const outcome = await outcomeOf(parts, entry, closing, (fault) =>
    dispatch(router, world, fault ? { ...received, url: shifted(received.url, fault) } : received),
  )
  if (outcome.kind === 'cut') return reset(request, reply)
  return outcome.kind === 'fault' ? sendFault(reply, outcome.fault) : send(reply, outcome.answer)
}

/** Reads every body as text and ignores its label, so that no Content-Type is refused. */
const acceptAnyBody = (app: FastifyInstance, labels: WeakMap<FastifyRequest, string | undefined>): void => {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body))
  app.addHook('onRequest', async (request) => {
    labels.set(request, request.headers['content-type'])
    // Fastify answers 415 to a label without a parser before it calls any parser.
    request.headers['content-type'] = 'text/plain'
  })
}

/** The gateway's form of a refusal by fastify, such as a body above the limit. */
const refused = ({ message, statusCode = 500 }: { readonly message: string; readonly statusCode?: number }): Answer => {
  const { code, http } = statusCode >= 500 ? CODES.INTERNAL : CODES.INVALID_ARGUMENT
  return { status: http, body: { code, message, details: [] } }
}

/** Creates the HTTP server. It does not listen yet. */
export const createServer = (parts: ServerParts): FastifyInstance => {
  const closing = new AbortController()
  // Every delayed answer adds a listener.
  setMaxListeners(0, closing.signal)
  const labels = new WeakMap<FastifyRequest, string | undefined>()
  const handler = (request: FastifyRequest, reply: FastifyReply) =>
    serve(parts, closing.signal, request, reply, receive(request, labels.get(request)))
  const app = fastify({
    bodyLimit: BODY_LIMIT,
    forceCloseConnections: true,
    routerOptions: { maxParamLength: 65_536 },
    // A path that cannot be decoded never reaches a route of fastify. Its body is not read.
    frameworkErrors: (_error, request, reply) => handler(request, reply),
    serverFactory: (listener, { keepAliveTimeout, requestTimeout }) => {
      const server = Object.assign(http.createServer(listener), { keepAliveTimeout, requestTimeout })
      return shareWithHttp2(server, closing.signal, () => openGrpc(parts, closing.signal))
    },
  })
  acceptAnyBody(app, labels)
  app.setNotFoundHandler(handler)
  app.setErrorHandler((error: Error & { readonly statusCode?: number }, _request, reply) => send(reply, refused(error)))
  app.addHook('preClose', async () => closing.abort())
  return app
}
