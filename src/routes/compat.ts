import type { IncomingMessage } from 'node:http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { ApiError } from '../errors/api-error.ts'
import { asApiError } from '../errors/to-v1.ts'
import type { Operation, V1Request } from '../mapping/operation.ts'
import type { Answer } from '../translate/execute.ts'
import type { Router } from '../translate/router.ts'
import { type TranslateSettings, translate, unknownParameters } from '../translate/translated.ts'
import type { SendFor } from '../upstream/send.ts'
import { sendAnswer, sendError } from './answer.ts'
import { readBody } from './body.ts'
import type { Exchange } from './exchange.ts'
import { parseJson } from './json-text.ts'
import type { Legacy } from './legacy.ts'
import { type Routed, routeRequest } from './match.ts'
import { parseQuery, searchOf } from './query.ts'
import { methodNotAllowed, notFound } from './refusal.ts'
import { requestSignal } from './signal.ts'

interface CompatSettings extends TranslateSettings {
  readonly limits: TranslateSettings['limits'] & { readonly requestBytes: number; readonly deadlineMs: number }
}

/** Serves one v1 request; `path` is decoded. */
export type Compat = (request: FastifyRequest, reply: FastifyReply, path: string, exchange: Exchange) => Promise<FastifyReply>

/** The v1 surface, top to bottom. `legacy` is undefined when no v1 upstream is configured. */
export function createCompat(router: Router, sendFor: SendFor, legacy: Legacy | undefined, settings: CompatSettings): Compat {
  return async (request, reply, path, exchange) => {
    try {
      const routed = routeRequest(router, request.raw, path)
      const operation = typeof routed.match === 'object' ? routed.match.operation : undefined
      if (operation) exchange.operation = operation.id
      if (!operation?.plan) {
        if (!legacy) throw refusal(routed, operation)
        exchange.mode = 'v1'
        return legacy(request, reply, path, exchange)
      }
      const signal = requestSignal(reply.raw, settings.limits.deadlineMs)
      return sendAnswer(reply, await serve(operation, routed, request.raw, signal, exchange), signal)
    } catch (thrown) {
      exchange.error = asApiError(thrown)
      return sendError(reply, exchange.error)
    }
  }

  async function serve(operation: Operation, routed: Routed, raw: IncomingMessage, signal: AbortSignal, exchange: Exchange) {
    const v1Request = await readRequest(routed, raw, settings.limits.requestBytes, signal)
    exchange.dropped = unknownParameters(operation, v1Request)
    const onCall = () => {
      exchange.calls += 1
    }
    const send = sendFor({ headers: raw.headers, requestId: exchange.id, signal, onCall })
    const failed = (error: ApiError) => {
      exchange.error = error
    }
    return watched(await translate(operation, v1Request, send, settings, failed), signal, failed)
  }
}

/** What v1's gateway answered to such a path, or which setting would let a v1 service answer it. */
function refusal({ match }: Routed, operation: Operation | undefined): ApiError {
  if (!operation) return match === 'other-method' ? methodNotAllowed() : notFound()
  const message = `${operation.id} needs a v1 service: ${operation.because}; set upstream.v1 (CROSSWALK_UPSTREAM_V1) to pass it on`
  return new ApiError('UNIMPLEMENTED', message)
}

const WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

async function readRequest({ match, form }: Routed, raw: IncomingMessage, limit: number, signal: AbortSignal): Promise<V1Request> {
  const { operation, params } = match as Exclude<Routed['match'], string | undefined>
  const search = searchOf(raw.url ?? '')
  if (form) return { params, query: parseQuery(search, await readBody(raw, limit, signal)), body: undefined }
  const query = parseQuery(search)
  const body = WITH_BODY.has(operation.method) ? parseJson(await readBody(raw, limit, signal)) : undefined
  return { params, query, body }
}

/** The same answer; whatever breaks its stream off, be it v2 or the signal, is recorded before it breaks the connection. */
function watched(answer: Answer, signal: AbortSignal, failed: (error: ApiError) => void): Answer {
  if (!('stream' in answer)) return answer
  const { stream } = answer
  async function* observed() {
    try {
      yield* stream
    } catch (thrown) {
      failed(asApiError(signal.aborted ? signal.reason : thrown))
      throw thrown
    }
  }
  return { ...answer, stream: observed() }
}
