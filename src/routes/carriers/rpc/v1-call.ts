import type { RpcMethod } from '../../../rpc/open-rpc.ts'
import type { RequestRecord } from '../../../serve/request-record.ts'
import type { WireCall } from '../../../wire/wire-call.ts'

/** One call of a v1 method. */
export interface V1Call {
  readonly method: RpcMethod
  readonly call: WireCall
  readonly record: RequestRecord
}
