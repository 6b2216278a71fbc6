import { isRead } from '../../serve/sides.ts'
import type { Operation } from '../../tables/operation.ts'
import { type Accepted, createAccepted } from './accepted.ts'
import { createOwnWrites, type OwnWrites } from './own-writes.ts'
import { createRecentWrites, type RecentWrites } from './recent-writes.ts'

/** What is known of the caller, and what tells a race from a difference. */
export interface Witnesses {
  readonly accepted: Accepted
  readonly ownWrites: OwnWrites
  readonly recentWrites: RecentWrites
  /** Notes that a request may write. Call the returned function when the request has ended. */
  writing(operation: Operation, params: Readonly<Record<string, string>>, who: Writer): () => void
}

interface Writer {
  readonly caller: string
  readonly credential: string
}

export function createWitnesses(): Witnesses {
  const accepted = createAccepted()
  const ownWrites = createOwnWrites()
  const recentWrites = createRecentWrites()
  const write = (operation: Operation, params: Readonly<Record<string, string>>, caller: string) => {
    const ends = [recentWrites.begin(operation, params, caller), ownWrites.begin(caller)]
    return () => void ends.map((end) => end())
  }
  return {
    accepted,
    ownWrites,
    recentWrites,
    writing(operation, params, { caller, credential }) {
      if (isRead(operation)) return nothingWritten
      if (accepted.has(credential)) return write(operation, params, caller)
      // Attempts of strangers write nothing, but this may be the first request of a caller that is accepted.
      return () => {
        if (accepted.has(credential)) write(operation, params, caller)()
      }
    },
  }
}

const nothingWritten = () => {}
