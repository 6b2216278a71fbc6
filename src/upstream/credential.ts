import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** The name of no credential at all. */
export const ANONYMOUS = 'anonymous'

/**
 * Callers ask again and again with the same token; hashing it each time would be a tenth of the work of a small request. What is longer
 * than a token is not kept: a thousand of them would fill the memory.
 */
const known = new LRUCache<string, string>({ max: 1000 })
const LONGEST = 8192

/** A short stable name for a credential (first 16 hex digits of its SHA-256): a key for caches and a name in logs, never the token. */
export function credentialHash(authorization: string | undefined): string {
  if (!authorization) return ANONYMOUS
  let hash = known.get(authorization)
  if (hash === undefined) {
    hash = createHash('sha256').update(authorization).digest('hex').slice(0, 16)
    if (authorization.length <= LONGEST) known.set(authorization, hash)
  }
  return hash
}
