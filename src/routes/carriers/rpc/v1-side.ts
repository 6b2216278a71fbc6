import { ApiError } from '../../../errors/api-error.ts'
import type { Rpc, RpcMethod } from '../../../rpc/open-rpc.ts'
import { bytesOfJson, jsonOfBytes } from '../../../rpc/recode.ts'
import type { CallUnary } from '../../../upstream/grpc/unary.ts'
import type { WireReply } from '../../../wire/wire-call.ts'
import type { V1Call } from './v1-call.ts'

/** How the v1 service gets the calls that it answers: as gRPC, or as its REST calls. */
export type V1Side = { readonly kind: 'relay'; readonly call: CallUnary } | { readonly kind: 'rest' }

/** Has the v1 service answer a call. A message in JSON becomes bytes on its way. Rejects with an ApiError if no answer comes. */
export async function relayedToV1(callUnary: CallUnary, { method, call, record }: V1Call, registry: Rpc['registry']): Promise<WireReply> {
  record.asked = true
  const isJson = call.codec === 'json'
  const asked = isJson ? inBytes(method, call.message, registry) : call.message
  const { status, message, headers, trailers } = await callUnary({ ...call, path: method.path, message: asked })
  if (status) return { status, headers, trailers }
  const answer = message ?? NOTHING
  return { message: [isJson ? jsonOfBytes(method.output, answer, registry) : answer], headers, trailers }
}

const NOTHING = Buffer.alloc(0)

function inBytes({ input }: RpcMethod, json: Buffer, registry: Rpc['registry']): Buffer {
  try {
    return Buffer.from(bytesOfJson(input, json, registry))
  } catch (cause) {
    throw new ApiError('INVALID_ARGUMENT', `the request is no JSON of ${input.typeName}`, { cause })
  }
}
