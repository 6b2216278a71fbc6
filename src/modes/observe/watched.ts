import type { ClientRequest } from '../../request/request.ts'
import type { Operation } from '../../tables/operations/operation.ts'
import type { Mode } from '../choose/mode.ts'
import type { Served } from '../serve/backend.ts'
import type { Kept } from './captured.ts'

/** A request that was served in a diff mode, with its kept answer. */
export interface WatchedRequest {
  readonly request: ClientRequest
  readonly mode: Mode
  readonly served: Pick<Served, 'by' | 'unasked' | 'failed'>
  readonly kept: Kept
  /** Milliseconds until the client had the answer. */
  readonly ms: number
  /** Whether the caller wrote meanwhile. */
  readonly wrote: () => boolean
  /** Whether the resource with this uid may have been deleted meanwhile. */
  readonly mayBeGone: (operation: Operation, uid: string) => boolean
}
