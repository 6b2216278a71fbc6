import { ApiError, asApiError } from '../../../errors.ts'
import type { MessageLimits } from '../../../rpc/messages/message-of.ts'
import { statusOfError } from '../../../rpc/messages/status-of.ts'
import { methodIn, serviceIn } from '../../../rpc/method-path.ts'
import type { Rpc, RpcMethod } from '../../../rpc/open-rpc.ts'
import type { Holding } from '../../../serve/bounds.ts'
import type { RequestRecord } from '../../../serve/core.ts'
import type { AskRest } from '../../../serve/upstream/v1.ts'
import { inV2, type Renamed } from '../../../upstream/grpc/renamed.ts'
import type { CallUnary } from '../../../upstream/grpc/unary.ts'
import { failureStatus } from '../../../wire/status/wire-failure.ts'
import type { WireCall, WireReply } from '../../../wire/wire-call.ts'
import { relayUnary } from './relay-unary.ts'
import type { RpcCall } from './rpc-call.ts'
import { createTranscode } from './transcode.ts'

/** Answers one call whose message was read. Never rejects: every error is a status. */
type AnswerRead = (call: WireCall, record: RequestRecord, holding?: Holding) => Promise<WireReply>

/** What answers the calls of one method. */
export interface Destination {
  readonly answer: AnswerRead
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
export interface DestinationParts {
  readonly rpc: Rpc
  readonly v1: (call: RpcCall) => Promise<WireReply>
  readonly v2: V2Calls
  /** Calls of v2beta1 are calls of v2. */
  readonly asV2: boolean
  readonly limits: MessageLimits
}

/** Returns what finds the destination of a method by its path; undefined if no known service has it. */
export function createDestinations({ rpc, v1, v2, asV2, limits }: DestinationParts): (path: string) => Destination | undefined {
  const { registry } = rpc
  const services = new Set(rpc.methods.filter(({ version }) => version === 'v1').map(({ service }) => service))
  const carry = carrierOf(v2, rpc, limits)
  const ofV2 = (method: RpcMethod): Destination => {
    const renamed = asV2 && method.version === 'v2beta1' ? inV2(method.path) : undefined
    const answer: AnswerRead = async (call, record, holding) => {
      try {
        return await carry({ method, call, record, holding }, renamed)
      } catch (thrown) {
        record.error = asApiError(thrown)
        return { status: statusOfError(record.error, { registry, version: method.version }) }
      }
    }
    return { answer, operation: 'grpc', isNative: true, isSafe: isSafe(method), ...('call' in v2 && { relayed: { renamed } }) }
  }
  const find = (path: string): Destination | undefined => {
    const method = rpc.find(path)
    if (method?.version === 'v1') {
      const answer: AnswerRead = (call, record, holding) => v1({ method, call, record, holding })
      return { answer, operation: method.operation?.id ?? 'unknown', isNative: false, isSafe: isSafe(method) }
    }
    if (method) return ofV2(method)
    return services.has(serviceIn(path)) ? missing(path) : undefined
  }
  const known = new Map<string, Destination | undefined>(rpc.methods.map(({ path }) => [path, find(path)]))
  return (path) => (known.has(path) ? known.get(path) : find(path))
}

/** Returns what has v2 answer a call that was read. It rejects with an ApiError if no answer comes. */
function carrierOf(v2: V2Calls, rpc: Rpc, limits: MessageLimits): (call: RpcCall, renamed: Renamed | undefined) => Promise<WireReply> {
  if ('ask' in v2) return createTranscode({ ask: v2.ask, rpc, limits })
  return (call, renamed) => relayUnary({ call: v2.call, registry: rpc.registry, renamed }, call)
}

function isSafe({ rule }: RpcMethod): boolean {
  return rule?.method === 'GET'
}

/** Answers calls of a method that a known service does not have, as grpc-go words it. */
function missing(path: string): Destination {
  const message = `unknown method ${methodIn(path)} for service ${serviceIn(path)}`
  const error = new ApiError('UNIMPLEMENTED', message)
  return { answer: async () => ({ status: failureStatus(error) }), operation: 'unknown', isNative: false, isSafe: true, missing: error }
}
