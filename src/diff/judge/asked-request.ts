import type { Operation, V1Request } from '../../tables/operation.ts'

/** The request that two answers belong to. */
export interface AskedRequest {
  readonly operation: Operation
  readonly request: V1Request
}
