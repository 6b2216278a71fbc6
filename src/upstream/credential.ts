import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** The name of a caller without a credential. */
export const ANONYMOUS = 'anonymous'

/**
 * Callers repeat the same token; hashing it each time would be a tenth of the work of a small request.
 * A longer credential is not cached: a thousand of them would fill the memory.
 */
const known = new LRUCache<string, string>({ max: 1000 })
const LONGEST = 8192

/** Returns a short stable name for a credential: the first 16 hex digits of its SHA-256. Caches and logs use it, never the token. */
export function credentialHash(authorization: string | undefined): string {
  if (!authorization) return ANONYMOUS
  let hash = known.get(authorization)
  if (hash === undefined) {
    hash = createHash('sha256').update(authorization).digest('hex').slice(0, 16)
    if (authorization.length <= LONGEST) known.set(authorization, hash)
  }
  return hash
}
