import { ApiError, asApiError, CODES, fromTransport } from '../../errors.ts'
import type { Holding } from '../../serve/bounds.ts'
import type { RequestRecord } from '../../serve/core.ts'
import { MODE_HEADER } from '../../serve/sides.ts'
import { type CallContext, type CallEnd, callHeaders, endOf } from '../../serve/upstream/exchange.ts'
import type { SendIn } from '../../serve/upstream/send.ts'
import { deliver } from '../../serve/upstream/shared-reads.ts'
import type { AskRest } from '../../serve/upstream/v1.ts'
import type { CallSpan } from '../../serve/watch/spans.ts'
import type { JsonObject } from '../../tables/json.ts'
import { asksFor, type Call } from '../../tables/turn.ts'
import { isOfBoth, methodIn, serviceIn } from '../facts.ts'
import { checkRoom, messageOf } from '../messages/message-of.ts'
import { bytesOfJson, jsonOfBytes, type RecodeLimits, valueOfBytes } from '../messages/recode.ts'
import { checkQuery, jsonOfQuery, requestOf } from '../messages/request-of.ts'
import { errorOfStatus, statusOfAnswer, statusOfError } from '../messages/status-of.ts'
import type { Rpc, RpcMethod } from '../proto-files.ts'
import { inV2, type Renamed } from '../relay/relay.ts'
import type { CallUnary } from '../relay/unary.ts'
import type { WireCall, WireReply } from '../wire/call.ts'
import { failureStatus } from '../wire/status.ts'
import { type CallLimits, createRefuseMisplaced, notToBeRepeated, type RpcCall, restHead } from './call.ts'

/**
 * Serves gRPC calls from a v2 that speaks REST alone: a message becomes the REST request that its http rule says, and the answer becomes a
 * message. No table takes part, so that the client gets exactly what v2 says. Rejects with an ApiError if v2 does not answer.
 */
export function createTranscode(ask: AskRest, rpc: Rpc, limits: CallLimits) {
  const refuseMisplaced = createRefuseMisplaced(rpc)
  return async ({ method, call, record, holding }: RpcCall): Promise<WireReply> => {
    const request = requestOf(method, call.message, call.codec, { pathBytes: limits.headerBytes, protocol: call.protocol })
    if (request.unsaid.length > 0) throw unsayable(method, request.unsaid)
    refuseMisplaced(request, method)
    const isWrite = !method.isSafe
    record.asked = true
    try {
      const answer = await ask({ ...request, id: record.id, headers: restHead(request, call.headers).headers }, call.signal)
      const headers = { 'x-request-id': record.id }
      if (answer.status < 400) return { message: await messageOf(method, answer, call.codec, { ...limits, holding }), headers }
      const status = await statusOfAnswer(answer, { registry: rpc.registry, version: method.version })
      // A gateway may answer 503 after it has passed a write on. Clients of gRPC repeat what is UNAVAILABLE, so such a write is UNKNOWN.
      if (!isWrite || status.code !== CODES.UNAVAILABLE.number) return { status, headers }
      return { status: { ...status, code: CODES.UNKNOWN.number, message: `${status.message}; this call may have been done` }, headers }
    } catch (thrown) {
      const error = fromTransport(thrown)
      throw isWrite ? notToBeRepeated(error) : error
    }
  }
}

function unsayable({ path }: RpcMethod, fields: readonly string[]): ApiError {
  const [service = ''] = path.split('/').slice(-1)
  return new ApiError('UNIMPLEMENTED', `REST cannot carry ${fields.join(', ')} of ${service}, so only gRPC serves this call`)
}

/** A service that gets calls as gRPC. */
export interface UnaryService {
  readonly call: CallUnary
  readonly registry: Rpc['registry']
  readonly limits: RecodeLimits
  /** The service knows the method by another name. */
  readonly renamed?: Renamed | undefined
}

/** Has a service answer a call that was read. A message in JSON becomes bytes on its way. Rejects with an ApiError if no answer comes. */
export async function relayUnary(
  { call: callUnary, registry, limits, renamed }: UnaryService,
  { method, call, record, holding }: RpcCall,
): Promise<WireReply> {
  record.asked = true
  const isJson = call.codec === 'json'
  const asked = isJson ? inBytes(method, call.message, registry) : call.message
  const { [MODE_HEADER]: _, ...metadata } = call.headers
  const headers = { ...metadata, 'x-request-id': record.id }
  const grown = (size: number) => checkRoom(size, holding)
  const sent = callUnary({ ...call, headers, path: renamed?.path ?? method.path, message: asked, streams: method.streams, grown })
  const answer = await (method.isSafe ? sent : sent.catch(failedWrite))
  const { status, frames, message = frames ?? NOTHING, ...ends } = answer
  if (frames && (isJson || call.protocol === 'connect')) throw manyMessages(method)
  if (frames) return { message: [frames], isFramed: true, ...ends }
  if (!status && isJson) {
    const recoded = { type: method.output, bytes: message, registry, limits: { ...limits, holding }, signal: call.signal }
    const json = jsonOfBytes(recoded)
    return { message: await (method.isSafe ? json : json.catch(failedWrite)), ...ends }
  }
  if (!status) return { message: [message], ...ends }
  const details = status.details.map(({ type, value }) => ({ type: renamed?.detail(type) ?? type, value }))
  return { status: { ...status, details }, ...ends }
}

function manyMessages({ name }: RpcMethod): ApiError {
  return new ApiError('UNIMPLEMENTED', `${name} answers with several messages, which only gRPC and gRPC-Web with messages in bytes carry`)
}

function failedWrite(thrown: unknown): never {
  throw notToBeRepeated(asApiError(thrown))
}

const NOTHING = Buffer.alloc(0)

function inBytes(method: RpcMethod, json: Buffer, registry: Rpc['registry']): Buffer {
  const { input } = method
  checkQuery(method, json)
  try {
    return Buffer.from(bytesOfJson(input, json, registry))
  } catch (cause) {
    if (cause instanceof ApiError) throw cause
    throw new ApiError('INVALID_ARGUMENT', `the request is not JSON of ${input.typeName}`, { cause })
  }
}

/**
 * Makes the v2 calls of a v1 request as gRPC, each by the method with its route. It serves reads whose query REST cannot hold: a list of
 * messages is JSON text in the query of the call.
 */
export function createSendByGrpc({ registry, methods }: Rpc, callUnary: CallUnary, limits: RecodeLimits): SendIn {
  const routes = new Map(methods.flatMap((one) => (one.version === 'v2' ? [[one.rule?.template, one] as const] : [])))
  const send = async (context: CallContext, call: Call): Promise<JsonObject> => {
    const method = routes.get(call.path)
    if (!method) throw new Error(`no method of v2 has the route ${call.path}`)
    const message = requestMessageOf(method, call, registry)
    const started = performance.now()
    const span = context.onCall(call)
    const headers = headersOf(context, span)
    let end: CallEnd = 'unanswered'
    try {
      const asked = callUnary({ path: method.path, headers, message, timeoutMs: undefined, signal: context.signal })
      const answer = await asked.catch((thrown) => {
        end = endOf(asApiError(thrown))
        throw thrown
      })
      const error = answer.status && errorOfStatus(answer.status, registry, (name) => asksFor(call, name))
      end = error?.http ?? 200
      if (error) throw error
      const bytes = answer.message ?? NOTHING
      return await valueOfBytes({ type: method.output, bytes, registry, limits, signal: context.signal })
    } finally {
      context.onCallEnd?.(end, started, span)
    }
  }
  return (context, call, receiver) =>
    deliver(
      send(context, call).catch((thrown) => Promise.reject(asApiError(thrown))),
      receiver,
    )
}

function requestMessageOf({ input }: RpcMethod, { query }: Call, registry: Rpc['registry']): Buffer {
  try {
    return Buffer.from(bytesOfJson(input, Buffer.from(JSON.stringify(jsonOfQuery(input, query))), registry))
  } catch (cause) {
    throw new ApiError('INVALID_ARGUMENT', `the request cannot be read as ${input.typeName}`, { cause })
  }
}

/** The headers that every call of a translated request has. */
function headersOf({ headers, requestId }: CallContext, span: CallSpan | undefined): Record<string, string> {
  const flat = callHeaders(headers, { requestId, span, hasBody: false })
  return Object.fromEntries(flat.flatMap((name, at) => (at % 2 === 0 ? [[name, flat[at + 1] ?? '']] : [])))
}

/** What answers the calls of one method. */
export interface Destination {
  /** Answers one call whose message was read. Never rejects: every error is a status. */
  readonly answer: (call: WireCall, record: RequestRecord, holding?: Holding) => Promise<WireReply>
  /** The operation of v1, or `grpc` for a method of v2. */
  readonly operation: string
  /** True if a service behind the proxy answers without translation. */
  readonly isNative: boolean
  /** True if the method has no side effects. */
  readonly isSafe: boolean
  /** The service does not have the method. A client that streams may never end its request, so that a call of gRPC is refused unread. */
  readonly missing?: ApiError
  /** Calls of gRPC need not be read: they are relayed, under this name if the service has another. */
  readonly relayed?: { readonly renamed: Renamed | undefined }
}

/** How v2 gets calls of its own methods: as gRPC, or as the REST calls that they say. */
export type V2Calls = { readonly call: CallUnary } | { readonly ask: AskRest }

/** What answers the methods that are known. */
interface DestinationParts {
  readonly rpc: Rpc
  readonly v1: (call: RpcCall) => Promise<WireReply>
  readonly v2: V2Calls
  /** Calls of v2beta1 are calls of v2. */
  readonly asV2: boolean
  readonly limits: CallLimits
}

/** Returns what finds the destination of a method by its path; undefined if no known service has it. */
export function createDestinations({ rpc, v1, v2, asV2, limits }: DestinationParts): (path: string) => Destination | undefined {
  const { registry } = rpc
  const carry: (call: RpcCall, renamed: Renamed | undefined) => Promise<WireReply> =
    'ask' in v2 ? createTranscode(v2.ask, rpc, limits) : (call, renamed) => relayUnary({ call: v2.call, registry, limits, renamed }, call)
  const ofV2 = (method: RpcMethod): Destination => {
    const renamed = asV2 && method.version === 'v2beta1' ? inV2(method.path) : undefined
    const answer: Destination['answer'] = async (call, record, holding) => {
      try {
        return await carry({ method, call, record, holding }, renamed)
      } catch (thrown) {
        record.error = asApiError(thrown)
        return { status: statusOfError(record.error, { registry, version: method.version }) }
      }
    }
    return { answer, operation: 'grpc', isNative: true, isSafe: method.isSafe, ...('call' in v2 && { relayed: { renamed } }) }
  }
  const find = (path: string): Destination | undefined => {
    const method = rpc.find(path)
    if (method?.version === 'v1' && !(method.rule && isOfBoth(method.rule))) {
      const answer: Destination['answer'] = (call, record, holding) => v1({ method, call, record, holding })
      return { answer, operation: method.operation?.id ?? 'unknown', isNative: false, isSafe: method.isSafe }
    }
    if (method) return ofV2(method)
    return rpc.isOfV1(path) ? missing(path) : undefined
  }
  const known = new Map<string, Destination | undefined>(rpc.methods.map(({ path }) => [path, find(path)]))
  return (path) => (known.has(path) ? known.get(path) : find(path))
}

/** Answers calls of a method that a known service does not have, as grpc-go words it. */
function missing(path: string): Destination {
  const message = `unknown method ${methodIn(path)} for service ${serviceIn(path)}`
  const error = new ApiError('UNIMPLEMENTED', message)
  return { answer: async () => ({ status: failureStatus(error) }), operation: 'unknown', isNative: false, isSafe: true, missing: error }
}
