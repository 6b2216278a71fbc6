import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { ApiError, type ErrorForm, STATUS_FORM } from '../errors.ts'
import { isFound, type Routed } from '../request/route-request.ts'
import { needsV1 } from '../tables/query.ts'

/** Writes the v1 body of an error whose field names need no translation (facts §15). */
export function errorText({ code, http, message, details }: ApiError, { write }: ErrorForm = STATUS_FORM): string {
  return JSON.stringify(write({ code, http, message, details }).body)
}

/** Answers with an error without Fastify. If an answer has begun, breaks it off so that no client takes it for complete. */
export function refuse(response: ServerResponse, error: ApiError, status: number = error.http): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  refusing(error, status)(response)
}

/** Writes one error once, for many answers that have not begun. */
export function refusing(error: ApiError, status: number = error.http): (response: ServerResponse) => void {
  const text = errorText(error)
  const given = Object.entries(error.headers).flat()
  const headers = [...given, 'content-type', 'application/json', 'content-length', String(Buffer.byteLength(text))]
  return (response) => void response.writeHead(status, headers).end(text)
}

/** Answers with an error on a bare socket and closes it. */
export function refuseSocket(socket: Socket, error: ApiError, status = `${error.http} ${error.code}`): void {
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const text = errorText(error)
  const given = Object.entries(error.headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join('')
  const head = `HTTP/1.1 ${status}\r\n${given}content-type: application/json\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n`
  socket.end(head + text)
}

/** Refuses an `Expect` header other than 100-continue (RFC 9110 §10.1.1). */
export function refuseExpectation(_: IncomingMessage, response: ServerResponse): void {
  const message = 'the expect header can only be 100-continue'
  refuse(response, new ApiError('INVALID_ARGUMENT', message, { headers: { connection: 'close' } }), 417)
}

/** The answer of v1's gateway to an unknown path, and to a known path with another method (facts §15). */
export const notFound = (): ApiError => new ApiError('NOT_FOUND', 'Not Found')
const methodNotAllowed = (): ApiError => new ApiError('UNIMPLEMENTED', 'Method Not Allowed')

/** The error if no service can answer. For an operation that v2 lacks, it says what would let a v1 service answer. */
export function unserved(routed: Routed): ApiError {
  if (!isFound(routed)) return routed.match === 'other-method' ? methodNotAllowed() : notFound()
  const { id, because = '' } = routed.match.operation
  return new ApiError('UNIMPLEMENTED', `${id} ${needsV1(because)}`)
}
