import { METHODS } from 'node:http'
import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify'
import { ApiError } from '../errors/api-error.ts'
import { asApiError } from '../errors/to-v1.ts'
import type { Announce } from './announce.ts'
import { sendError } from './answer.ts'
import type { Classify } from './classify.ts'
import type { Compat } from './compat.ts'
import type { Begin } from './edge.ts'
import { requestId } from './exchange.ts'
import type { Passthrough } from './passthrough.ts'
import { refuseSocket } from './refusal.ts'

/** Bytes of request line and headers; room for a list of many uids in a query. */
const MAX_HEADER_SIZE = 64 * 1024

type Serve = (request: FastifyRequest, reply: FastifyReply) => unknown

/**
 * The HTTP server of the proxy, before it knows what to serve. Every request reaches `serve`, also one that Fastify could not route, and
 * no text of Fastify's own can reach a client. Bodies are never touched here: each carrier reads its own.
 */
export function createApp(serve: Serve): FastifyInstance {
  const app = Fastify({
    genReqId: requestId,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    http: { maxHeaderSize: MAX_HEADER_SIZE },
    frameworkErrors: (_, request, reply) => void serve(request as FastifyRequest, reply as FastifyReply),
    clientErrorHandler: (error, socket) => refuseClient(error, socket as Socket),
  })
  for (const method of METHODS) app.addHttpMethod(method, { hasBody: false, overrideExisting: true })
  app.setErrorHandler((thrown, _, reply) => sendError(reply, asApiError(thrown)))
  app.setNotFoundHandler(serve)
  app.all('/*', serve)
  return app
}

/** One request: whose it is, and then to its carrier. */
export function createServe(begin: Begin, classify: Classify, passthrough: Passthrough, announce: Announce, compat: Compat): Serve {
  return (request, reply) => {
    const exchange = begin(request.raw, reply.raw, request.id)
    const target = classify(request.raw.url ?? '')
    if (target.kind === 'native') return passthrough.serve(request, reply, exchange)
    reply.header('x-request-id', exchange.id)
    announce(reply)
    if (target.kind === 'v1') return compat(request, reply, target.path, exchange)
    exchange.error = new ApiError('INVALID_ARGUMENT', 'the request target is not a well-formed path')
    return sendError(reply, exchange.error)
  }
}

const CLIENT_ERRORS: Readonly<Record<string, readonly [status: string, message: string]>> = {
  HPE_HEADER_OVERFLOW: ['431 Request Header Fields Too Large', `the request line and headers are larger than ${MAX_HEADER_SIZE} bytes`],
  ERR_HTTP_REQUEST_TIMEOUT: ['408 Request Timeout', 'the request headers did not arrive in time'],
}

/** What came in is not HTTP; there is no request to answer, only a connection to close. */
function refuseClient(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET') return void socket.destroy()
  const [status, message] = CLIENT_ERRORS[error.code ?? ''] ?? ['400 Bad Request', 'the request is not well-formed HTTP']
  refuseSocket(socket, new ApiError('INVALID_ARGUMENT', message), status)
}
