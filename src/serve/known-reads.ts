import { LRUCache } from 'lru-cache'
import type { Found } from '../request/route-request.ts'
import type { Turn } from '../tables/turn.ts'

/** The meaning of a read's URL according to the tables. It holds nothing about the caller. */
export interface KnownRead {
  readonly routed: Found
  /** Returns its first turn. Throws the ApiError with which the tables refuse it. */
  readonly first: () => Turn
  /** Query parameters that the operation does not know. */
  readonly unknown: readonly string[]
}

/** Known reads by URL. */
export interface KnownReads {
  find(request: Asked): KnownRead | undefined
  keep(request: Asked, read: KnownRead): void
  /** Forgets all of them, because settings changed by which URLs are read. */
  forget(): void
}

interface Asked {
  readonly method?: string | undefined
  readonly url?: string | undefined
}

/** The number of URLs that are kept, and the maximum length of one in characters. */
const KEPT = 1000
const LONGEST = 1000

/** Clients repeat the same requests. Reading a URL anew takes about a tenth of the work of a small request. */
export function createKnownReads(): KnownReads {
  const known = new LRUCache<string, KnownRead>({ max: KEPT })
  return {
    find: ({ method, url = '' }) => (method === 'GET' ? known.get(url) : undefined),
    keep({ method, url = '' }, read) {
      if (method === 'GET' && url.length <= LONGEST) known.set(url, read)
    },
    forget: () => known.clear(),
  }
}
