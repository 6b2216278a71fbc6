import { ApiError, asApiError } from '../../../errors.ts'
import { errorOfStatus } from '../../../rpc/messages/error-of-status.ts'
import { jsonOfQuery } from '../../../rpc/messages/json-of-query.ts'
import type { Rpc, RpcMethod } from '../../../rpc/open-rpc.ts'
import { bytesOfJson, jsonOfBytes } from '../../../rpc/recode.ts'
import { type CallContext, callHeaders } from '../../../serve/upstream/exchange.ts'
import { tell } from '../../../serve/upstream/flights.ts'
import type { SendFor } from '../../../serve/upstream/send.ts'
import type { JsonObject } from '../../../tables/json.ts'
import type { Call } from '../../../tables/turn.ts'
import type { CallUnary } from '../../../upstream/grpc/unary.ts'

interface GrpcSendParts {
  readonly rpc: Rpc
  /** Calls v2. */
  readonly call: CallUnary
}

/**
 * Makes the v2 calls of a v1 request as gRPC, each by the method with its route. It serves reads whose query REST cannot hold: a list of
 * messages is JSON text in the query of the call.
 */
export function createSendByGrpc({ rpc, call: callUnary }: GrpcSendParts): SendFor {
  const { registry, methods } = rpc
  const routes = new Map(methods.flatMap((one) => (one.version === 'v2' ? [[one.rule?.template, one] as const] : [])))
  const send = async (context: CallContext, call: Call): Promise<JsonObject> => {
    const method = routes.get(call.path)
    if (!method) throw new Error(`no method of v2 has the route ${call.path}`)
    const message = messageOf(method, call, registry)
    const watch = context.onCall(call)
    const headers = headersOf(context, watch?.traceparent)
    let status: number | undefined
    try {
      const answer = await callUnary({ path: method.path, headers, message, timeoutMs: undefined, signal: context.signal })
      const error = answer.status && errorOfStatus(answer.status, registry)
      status = error?.http ?? 200
      if (error) throw error
      return JSON.parse(String(jsonOfBytes(method.output, answer.message ?? NOTHING, registry))) as JsonObject
    } finally {
      watch?.ended(status)
    }
  }
  return (context) => (call, landing) => {
    context.onAsk?.()
    tell(
      send(context, call).catch((thrown) => Promise.reject(asApiError(thrown))),
      landing,
    )
  }
}

const NOTHING = Buffer.alloc(0)

function messageOf({ input }: RpcMethod, { query }: Call, registry: Rpc['registry']): Buffer {
  try {
    return Buffer.from(bytesOfJson(input, Buffer.from(JSON.stringify(jsonOfQuery(input, query))), registry))
  } catch (cause) {
    throw new ApiError('INVALID_ARGUMENT', `the request is none that ${input.typeName} can say`, { cause })
  }
}

/** The headers that every call of a translated request has. */
function headersOf({ headers, requestId }: CallContext, traceparent: string | undefined): Record<string, string> {
  const flat = callHeaders(headers, { requestId, traceparent, hasBody: false })
  return Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : [])))
}
