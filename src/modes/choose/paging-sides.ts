import { LRUCache } from 'lru-cache'
import { entries } from '../../serve/bounds.ts'
import { type Mode, SERVED_BY, type Side } from '../../serve/sides.ts'
import type { Operation } from '../../tables/operation.ts'
import { isPaged, pageTokenOf } from './page-token.ts'

/** The side that gave a caller the last page of a list that is read page by page. */
export interface PagingSides {
  /** Remembers the side that answers in this mode, if the operation is such a list. */
  note(mode: Mode, operation: Operation, caller: string): void
  /** Keeps a list on the side that began it, even if the rules change meanwhile; otherwise returns the mode. */
  stay(mode: Mode, operation: Operation, url: string, caller: string): Mode
}

/** Callers for which the side that issued their page token is remembered. */
const PAGING_CALLERS = 10_000

export function createPagingSides(): PagingSides {
  const sides = new LRUCache<string, Side>(entries(PAGING_CALLERS))
  const keyOf = (caller: string, { id }: Operation) => `${caller} ${id}`
  return {
    note(mode, operation, caller) {
      if (isPaged(operation)) sides.set(keyOf(caller, operation), SERVED_BY[mode])
    },
    stay(mode, operation, url, caller) {
      if (!isPaged(operation)) return mode
      const side = pageTokenOf(operation, url) === undefined ? undefined : sides.get(keyOf(caller, operation))
      return side !== undefined && side !== SERVED_BY[mode] ? side : mode
    },
  }
}
