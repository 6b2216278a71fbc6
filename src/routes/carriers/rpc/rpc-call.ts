import type { RpcMethod } from '../../../rpc/open-rpc.ts'
import type { RequestRecord } from '../../../serve/request-record.ts'
import type { WireCall } from '../../../wire/wire-call.ts'

/** One call of a method that is known. */
export interface RpcCall {
  readonly method: RpcMethod
  readonly call: WireCall
  readonly record: RequestRecord
}
