import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { isObject } from '../tables/json.ts'

/** The name of a caller without a credential. */
export const ANONYMOUS = 'anonymous'

/**
 * Callers repeat the same token; hashing it each time would be a tenth of the work of a small request.
 * A longer credential is not cached: a thousand of them would fill the memory.
 */
const known = new LRUCache<string, string>({ max: 1000 })
const LONGEST = 8192

/**
 * Returns a short stable name for a credential: the first 16 hex digits of its SHA-256. Admission, shared reads, logs and evidence use it,
 * never the token. A credential is one caller however its scheme is spelled.
 */
export function credentialHash(authorization: string | undefined): string {
  if (!authorization) return ANONYMOUS
  let hash = known.get(authorization)
  if (hash === undefined) {
    hash = createHash('sha256').update(plain(authorization)).digest('hex').slice(0, 16)
    if (authorization.length <= LONGEST) known.set(authorization, hash)
  }
  return hash
}

/** The caller of a request. */
export interface Identity {
  /** 16 hex digits. They hash the token's issuer and subject if it has them, so that they outlive the token; otherwise the credential. */
  readonly caller: string
  readonly subject: string | undefined
}

export interface Identified extends Identity {
  /** 16 hex digits that hash the credential itself. Shared and cached data is keyed by them. */
  readonly credential: string
}

/** Callers repeat the same token. A longer credential is not cached: a thousand of them would fill the memory. */
const knownCallers = new LRUCache<string, Identified>({ max: 1000 })
const LONGEST_HEADER = 8192

/**
 * Names the caller of a request. The token is not verified here; the service behind verifies it.
 * That service refuses a forged subject, and only credentials that a service accepted count (`Accepted`).
 */
export function identify(authorization: string | undefined): Identified {
  const found = knownCallers.get(authorization ?? '')
  if (found) return found
  const identity = read(authorization)
  if ((authorization?.length ?? 0) <= LONGEST_HEADER) knownCallers.set(authorization ?? '', identity)
  return identity
}

function read(authorization: string | undefined): Identified {
  const claims = claimsOf(authorization)
  const credential = credentialHash(authorization)
  if (typeof claims?.sub !== 'string' || claims.sub === '') return { caller: credential, subject: undefined, credential }
  const name = `${typeof claims.iss === 'string' ? claims.iss : ''} ${claims.sub}`
  return { caller: createHash('sha256').update(name).digest('hex').slice(0, 16), subject: claims.sub, credential }
}

/** Normalises scheme and spaces: a scheme has no case (RFC 9110 §11.1). */
function plain(authorization: string): string {
  const [, initial = '', rest = '', credential] = /^(\S)(\S*)[ \t]+(\S.*)$/s.exec(authorization.trim()) ?? []
  return credential === undefined ? authorization.trim() : `${initial.toUpperCase()}${rest.toLowerCase()} ${credential}`
}

/** Returns the claims of a JSON Web Token. The vendor's SDK also sends one without a scheme. */
function claimsOf(authorization: string | undefined) {
  const [, payload] = /^(?:bearer\s+)?[\w-]+\.([\w-]+)\.[\w-]*$/i.exec(authorization ?? '') ?? []
  if (payload === undefined) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
    return isObject(claims) ? claims : undefined
  } catch {
    return undefined
  }
}
