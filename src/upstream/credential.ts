import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'

/** Callers ask again and again with the same token; hashing it each time would be a tenth of the work of a small request. */
const known = new LRUCache<string, string>({ max: 1000 })

/** A short stable name for a credential (first 16 hex digits of its SHA-256): a key for caches and a name in logs, never the token. */
export function credentialHash(authorization: string | undefined): string {
  if (!authorization) return 'anonymous'
  let hash = known.get(authorization)
  if (hash === undefined) {
    hash = createHash('sha256').update(authorization).digest('hex').slice(0, 16)
    known.set(authorization, hash)
  }
  return hash
}
