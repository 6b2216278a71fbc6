import { createHash } from 'node:crypto'

/** A short stable name for a credential (first 16 hex digits of its SHA-256): a key for caches and a name in logs, never the token. */
export function credentialHash(authorization: string | undefined): string {
  return authorization ? createHash('sha256').update(authorization).digest('hex').slice(0, 16) : 'anonymous'
}
