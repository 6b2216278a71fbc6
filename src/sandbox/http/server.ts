import { setMaxListeners } from 'node:events'
import http, { type Server } from 'node:http'
import type { Http2Server } from 'node:http2'
import type { Socket } from 'node:net'
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { bodyEntry, type Fault, faultStatus, queryObject } from '../control.ts'
import { CODES } from '../status.ts'
import { dispatch, headerText, outcomeOf, type Received, type ServerParts, splitUrl } from './dispatch.ts'
import { type Answer, pairsOf } from './route.ts'

/** No request of HTTP/1.1 begins like a connection of HTTP/2 (RFC 9113 §3.4). */
const PREFACE = 'PRI'

/** Reads until the first bytes tell the protocol, and puts them back. */
const isHttp2 = (socket: Socket): Promise<boolean> =>
  new Promise((resolve) => {
    let seen: Buffer = Buffer.alloc(0)
    const look = (): void => {
      seen = Buffer.concat([seen, socket.read() ?? Buffer.alloc(0)])
      const begun = seen.toString('latin1', 0, PREFACE.length)
      if (begun.length < PREFACE.length && PREFACE.startsWith(begun)) return
      socket.off('readable', look)
      socket.unshift(seen)
      resolve(begun === PREFACE)
    }
    socket.on('readable', look)
  })

/**
 * Lets an HTTP/1.1 server share its port with an HTTP/2 server, which `open` makes at the first connection that asks for one. `closing`
 * ends the connections that the HTTP/1.1 server does not know.
 */
const shareWithHttp2 = (server: Server, closing: AbortSignal, open: () => Promise<Http2Server>): Server => {
  const serveHttp1 = server.listeners('connection') as ((socket: Socket) => void)[]
  const mine = new Set<Socket>()
  let opened: Promise<Http2Server> | undefined
  const sort = async (socket: Socket): Promise<void> => {
    const lost = (): void => void socket.destroy()
    mine.add(socket)
    socket
      .once('close', () => mine.delete(socket))
      .on('error', lost)
      .once('end', lost)
    const other = await isHttp2(socket)
    opened ??= other ? open() : undefined
    const http2 = other ? await opened : undefined
    socket.off('error', lost).off('end', lost)
    if (socket.destroyed) return
    if (http2) return void http2.emit('connection', socket)
    mine.delete(socket)
    for (const listener of serveHttp1) listener.call(server, socket)
  }
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => void sort(socket))
  closing.addEventListener('abort', () => {
    for (const socket of mine) socket.destroy()
  })
  return server
}

/** The message limit of the service (semantics §4.3). */
const BODY_LIMIT = 100 * 1024 * 1024

/** Nothing of gRPC is loaded before the first connection that speaks HTTP/2. */
const openGrpc = async (parts: ServerParts, closing: AbortSignal) => (await import('../grpc/server.ts')).createGrpcServer(parts, closing)

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

/** True for a request of a page of another origin: a browser sends a text to any address without asking first. */
const isForeign = ({ headers: { origin, host } }: FastifyRequest): boolean =>
  origin !== undefined && origin.replace(/^https?:\/\//, '').toLowerCase() !== host?.toLowerCase()

const FOREIGN: Answer = {
  status: CODES.PERMISSION_DENIED.http,
  body: { code: CODES.PERMISSION_DENIED.code, message: 'a page of another origin may not steer the sandbox', details: [] },
}

const serve = async (parts: ServerParts, closing: AbortSignal, request: FastifyRequest, reply: FastifyReply, received: Received) => {
  const { world, router } = parts
  const [encoded, query] = splitUrl(received.url)
  const path = readablePath(encoded)
  if (path.startsWith('/-/')) return send(reply, isForeign(request) ? FOREIGN : await dispatch(router, world, received))
  const entry = { method: received.method, path, query: queryObject(pairsOf(query)), body: bodyEntry(received.text) }
  const outcome = await outcomeOf(parts, entry, closing, (fault) => dispatch(router, world, received, fault))
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
