import type { ClientRequest } from '../../serve/request.ts'
import type { Mode, Served } from '../../serve/sides.ts'
import type { OtherWrites } from '../serve/recent-writes.ts'
import type { Kept } from './captured.ts'

/** A request that was served in a diff mode, with its kept answer. */
export interface WatchedRequest {
  readonly request: ClientRequest
  readonly mode: Mode
  readonly served: Pick<Served, 'by' | 'unasked' | 'failed'>
  readonly kept: Kept
  /** When it arrived, by `performance.now()`. */
  readonly began: number
  /** Milliseconds until the client had the answer. */
  readonly ms: number
  /** Whether the caller wrote meanwhile. */
  readonly wrote: () => boolean
  /** What other writes may have done meanwhile. */
  readonly others: OtherWrites
}
