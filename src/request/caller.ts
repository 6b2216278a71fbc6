import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { isObject } from '../tables/json.ts'
import { credentialHash } from '../upstream/credential.ts'

/** Who calls. */
export interface Identity {
  /** 16 hex digits: of the token's issuer and subject where it has them, so that it outlives the token; else of the credential. */
  readonly caller: string
  readonly subject: string | undefined
}

export interface Identified extends Identity {
  /** 16 hex digits of the credential itself: what may be shared or kept is, under this name. */
  readonly credential: string
}

/** Callers come again and again with the same token. What is longer than a token is not kept: a thousand of them would fill the memory. */
const known = new LRUCache<string, Identified>({ max: 1000 })
const LONGEST = 8192

/**
 * Names the caller of a request. The token is not verified here, since the service behind does that: whoever forges a subject is refused
 * there, and nothing counts of a credential that no service accepted (`Accepted`).
 */
export function identify(authorization: string | undefined): Identified {
  const found = known.get(authorization ?? '')
  if (found) return found
  const identity = read(authorization)
  if ((authorization?.length ?? 0) <= LONGEST) known.set(authorization ?? '', identity)
  return identity
}

function read(authorization: string | undefined): Identified {
  const claims = claimsOf(authorization)
  const credential = credentialHash(authorization)
  if (typeof claims?.sub !== 'string' || claims.sub === '')
    return { caller: credentialHash(plain(authorization)), subject: undefined, credential }
  const name = `${typeof claims.iss === 'string' ? claims.iss : ''} ${claims.sub}`
  return { caller: createHash('sha256').update(name).digest('hex').slice(0, 16), subject: claims.sub, credential }
}

/** One token is one caller, however its scheme and its spaces are written. */
function plain(authorization: string | undefined): string | undefined {
  const [, token] = /^bearer\s+(\S+)\s*$/i.exec(authorization ?? '') ?? []
  return token === undefined ? authorization : `Bearer ${token}`
}

/** The claims of a JSON Web Token. */
function claimsOf(authorization: string | undefined) {
  const [, payload] = /^bearer\s+[\w-]+\.([\w-]+)\.[\w-]*$/i.exec(authorization ?? '') ?? []
  if (payload === undefined) return undefined
  try {
    const claims: unknown = JSON.parse(Buffer.from(payload, 'base64url').toString('utf8'))
    return isObject(claims) ? claims : undefined
  } catch {
    return undefined
  }
}
