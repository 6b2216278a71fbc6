import type { RpcMethod } from '../../../rpc/open-rpc.ts'
import type { Holding } from '../../../serve/bounds.ts'
import type { RequestRecord } from '../../../serve/core.ts'
import type { WireCall } from '../../../wire/wire-call.ts'

/** One call of a method that is known. */
export interface RpcCall {
  readonly method: RpcMethod
  readonly call: WireCall
  readonly record: RequestRecord
  /** What a long answer holds of the memory of all, until the client has taken it. Writes have none: they may be done. */
  readonly holding?: Holding | undefined
}
