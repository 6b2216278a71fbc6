import protojson from 'protobufjs/ext/protojson.js'
import type { Type } from 'protobufjs/light.js'
import { type Fault, faultStatus } from '../control/faults.ts'
import { queryObject } from '../control/journal.ts'
import { shifted } from '../control/spoil.ts'
import { pairsOf } from '../http/body.ts'
import { dispatchCall, splitUrl } from '../http/dispatch.ts'
import { outcomeOf, type RequestEntry, type RequestOutcome, type ServerParts } from '../http/outcome.ts'
import type { Answer } from '../http/route.ts'
import { CODES, gatewayError, malformed } from '../status.ts'
import type { World } from '../world/world.ts'
import { type GrpcMethod, grpcApi } from './grpc-method.ts'
import type { GrpcStatus } from './grpc-status.ts'
import { pathOf, type RestRequest, restRequestOf } from './rest-request.ts'

type Headers = Readonly<Record<string, string>>

/** One unary call. */
export type GrpcCall = {
  readonly method: GrpcMethod
  /** `/chainguard.platform.iam.Groups/List` */
  readonly path: string
  /** The bytes of the request message. */
  readonly message: Buffer
  readonly authorization: string | undefined
  /** Fires when the client or the sandbox goes away and when the deadline passes. */
  readonly ending: AbortSignal
}

/** The reply to a call. `http` is what a gateway in between would answer: no gRPC. */
export type GrpcReply =
  | { readonly kind: 'message'; readonly message: Uint8Array; readonly headers: Headers }
  | { readonly kind: 'status'; readonly status: GrpcStatus; readonly headers: Headers }
  | { readonly kind: 'http'; readonly status: number; readonly body: string; readonly headers: Headers }
  | { readonly kind: 'cut' }

/** Finds the method of a path. Throws the status for an unknown one: grpc-go answers before it reads a message. */
export const findMethod = ({ journal, world }: ServerParts, path: string): GrpcMethod => {
  const method = grpcApi().find(path)
  if (method) return method
  journal.record({ method: 'POST', path, query: {}, body: null, grpc: path, at: world.clock.now().toISOString() })
  const [, service, name] = /^\/(.+)\/([^/]*)$/.exec(path) ?? []
  if (service === undefined) return gatewayError('UNIMPLEMENTED', `malformed method name: ${JSON.stringify(path)}`)
  const known = grpcApi().hasService(service)
  return gatewayError('UNIMPLEMENTED', known ? `unknown method ${name} for service ${service}` : `unknown service ${service}`)
}

/** Decodes a request with the codes and texts of grpc-go (ASSUMPTIONS.md, "gRPC"). */
const decode = (type: Type, bytes: Buffer): Readonly<Record<string, unknown>> => {
  try {
    return type.decode(bytes) as unknown as Readonly<Record<string, unknown>>
  } catch (error) {
    const isText = /utf-?8/i.test((error as Error).message)
    const reason = isText ? 'string field contains invalid UTF-8' : 'proto: cannot parse invalid wire-format data'
    return gatewayError('INTERNAL', `grpc: error unmarshalling request: ${reason}`)
  }
}

const restOf = ({ input, rule }: GrpcMethod, request: Readonly<Record<string, unknown>>): RestRequest => {
  try {
    return rule ? restRequestOf(input, request, rule) : { values: [], pairs: [], body: protojson.toJson(input, request) }
  } catch (error) {
    return malformed((error as Error).message)
  }
}

/** gRPC has one dialect of v1: the published names. */
const inPublishedNames = (world: World): World => ({ ...world, options: { ...world.options, v1Dialect: 'published' } })

const shiftedPairs = (pairs: RestRequest['pairs'], fault: Fault): RestRequest['pairs'] => {
  const query = new URLSearchParams(pairs.map(([name, value]): [string, string] => [name, value]))
  return pairsOf(splitUrl(shifted(`/?${query}`, fault))[1])
}

const messageOf = (type: Type, { body = {} }: Answer): Uint8Array => {
  try {
    // The text of the REST answer, so that both carry the same.
    const json: unknown = JSON.parse(JSON.stringify(body))
    return type.encode(protojson.fromJson(type, json, { ignoreUnknownFields: true })).finish()
  } catch (error) {
    return gatewayError('INTERNAL', `the answer has no gRPC form: ${(error as Error).message}`)
  }
}

const replyOf = (type: Type, outcome: RequestOutcome): GrpcReply => {
  if (outcome.kind === 'cut') return outcome
  if (outcome.kind === 'fault') {
    const { status = 200, body, headers = {} } = outcome.fault
    if (body !== undefined) return { kind: 'http', status, body, headers }
    return { kind: 'status', status: faultStatus(outcome.fault), headers }
  }
  const { 'www-authenticate': _, ...headers } = outcome.answer.headers ?? {}
  const { status = 200, body } = outcome.answer
  if (status < 400) return { kind: 'message', message: messageOf(type, outcome.answer), headers }
  const { code = CODES.UNKNOWN.code, message = '', details = [] } = body as Partial<GrpcStatus>
  return { kind: 'status', status: { code, message, details }, headers }
}

/**
 * Answers one call from the routes of REST. Throws a status for what gRPC refuses before the service: bytes that are no message, and
 * methods that the sandbox does not have.
 */
export const answerGrpc = async (parts: ServerParts, { method, path, message, authorization, ending }: GrpcCall): Promise<GrpcReply> => {
  const { name, input, output, rule } = method
  const { values, pairs, body } = restOf(method, decode(input, message))
  const rest = rule ? { method: rule.method, path: pathOf(rule.template, values) } : { method: 'POST', path }
  const match = rule && parts.router.named(rule.method, rule.template, values)
  const world = inPublishedNames(parts.world)
  const entry: RequestEntry = { ...rest, query: queryObject(pairs), body: body ?? null, grpc: path }
  const outcome = await outcomeOf(parts, entry, ending, async (fault) => {
    if (!match) return gatewayError('UNIMPLEMENTED', `method ${name} not implemented`)
    return dispatchCall(world, { ...rest, ...match, pairs: fault ? shiftedPairs(pairs, fault) : pairs, body: body ?? {}, authorization })
  })
  return replyOf(output, outcome)
}
