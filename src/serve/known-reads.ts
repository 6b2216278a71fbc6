import { LRUCache } from 'lru-cache'
import type { Found } from '../request/route-request.ts'
import type { Turn } from '../tables/plan/turn.ts'

/** A read as the tables understand its URL. It holds nothing of who asked. */
export interface KnownRead {
  readonly routed: Found
  /** Its first turn. Throws the ApiError that the tables refuse it with. */
  readonly first: () => Turn
  /** Query parameters that the operation does not know. */
  readonly unknown: readonly string[]
}

/** Reads by their URL. */
export interface KnownReads {
  find(request: Asked): KnownRead | undefined
  keep(request: Asked, read: KnownRead): void
}

interface Asked {
  readonly method?: string | undefined
  readonly url?: string | undefined
}

/** URLs that are kept, and the longest of them in characters. */
const KEPT = 1000
const LONGEST = 1000

/** Clients ask for the same again and again; to find out anew what a URL means would be a tenth of the work of a small request. */
export function createKnownReads(): KnownReads {
  const known = new LRUCache<string, KnownRead>({ max: KEPT })
  return {
    find: ({ method, url = '' }) => (method === 'GET' ? known.get(url) : undefined),
    keep({ method, url = '' }, read) {
      if (method === 'GET' && url.length <= LONGEST) known.set(url, read)
    },
  }
}
