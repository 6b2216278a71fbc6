import { ApiError, asApiError } from '../../../errors.ts'
import { checkRoom } from '../../../rpc/messages/message-of.ts'
import type { Rpc, RpcMethod } from '../../../rpc/open-rpc.ts'
import { bytesOfJson, jsonOfBytes } from '../../../rpc/recode.ts'
import { MODE_HEADER } from '../../../serve/sides.ts'
import type { Renamed } from '../../../upstream/grpc/renamed.ts'
import type { CallUnary } from '../../../upstream/grpc/unary.ts'
import type { WireReply } from '../../../wire/wire-call.ts'
import { notToBeRepeated } from './reply-status.ts'
import type { RpcCall } from './rpc-call.ts'

/** A service that gets calls as gRPC. */
export interface UnaryService {
  readonly call: CallUnary
  readonly registry: Rpc['registry']
  /** The service knows the method by another name. */
  readonly renamed?: Renamed | undefined
}

/** Has a service answer a call that was read. A message in JSON becomes bytes on its way. Rejects with an ApiError if no answer comes. */
export async function relayUnary(
  { call: callUnary, registry, renamed }: UnaryService,
  { method, call, record, holding }: RpcCall,
): Promise<WireReply> {
  record.asked = true
  const isJson = call.codec === 'json'
  const asked = isJson ? inBytes(method, call.message, registry) : call.message
  const { [MODE_HEADER]: _, ...metadata } = call.headers
  const headers = { ...metadata, 'x-request-id': record.id }
  const sent = callUnary({ ...call, headers, path: renamed?.path ?? method.path, message: asked })
  const answer = await (method.rule?.method === 'GET' ? sent : sent.catch(failedWrite))
  const { status, message = NOTHING, ...ends } = answer
  checkRoom(message.length, holding)
  if (!status) return { message: [isJson ? jsonOfBytes(method.output, message, registry) : message], ...ends }
  const details = status.details.map(({ type, value }) => ({ type: renamed?.detail(type) ?? type, value }))
  return { status: { ...status, details }, ...ends }
}

function failedWrite(thrown: unknown): never {
  throw notToBeRepeated(asApiError(thrown))
}

const NOTHING = Buffer.alloc(0)

function inBytes({ input }: RpcMethod, json: Buffer, registry: Rpc['registry']): Buffer {
  try {
    return Buffer.from(bytesOfJson(input, json, registry))
  } catch (cause) {
    throw new ApiError('INVALID_ARGUMENT', `the request is no JSON of ${input.typeName}`, { cause })
  }
}
