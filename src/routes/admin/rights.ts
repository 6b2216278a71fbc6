import { createHash, timingSafeEqual } from 'node:crypto'
import { ApiError } from '../../errors.ts'

/** A token of the admin port. */
export interface AdminToken {
  /** Stands for the token wherever its use is told: the setting that holds it, or the name of its holder. */
  readonly name: string
  readonly token: string
  readonly right: 'change' | 'read'
}

export type Right = AdminToken['right'] | 'none'

/** What an `Authorization` header permits. */
export interface Grant {
  readonly right: Right
  /** The name of the token; absent if none is known. */
  readonly token?: string
}

/** Returns what an `Authorization` header permits. */
export type Rights = (authorization: string | undefined) => Grant

/**
 * Compares the given token with every token by hashes of equal length, so that the time reveals nothing. Without any token, every caller
 * may do everything. Tokens may change from one request to the next.
 */
export function createRights(tokensNow: () => readonly AdminToken[]): Rights {
  return (authorization = '') => {
    const tokens = tokensNow()
    if (tokens.length === 0) return { right: 'change' }
    const known = tokens.map(({ name, token, right }) => ({ hashed: hash(token), grant: { right, token: name } }))
    const given = hash(/^Bearer ([\w.~+/=-]+)$/i.exec(authorization)?.[1] ?? '')
    const [equal] = known.filter(({ hashed }) => timingSafeEqual(given, hashed))
    return equal?.grant ?? { right: 'none' }
  }
}

/** Returns why a caller with this right may not use the method; undefined if it may. */
export function whyNot(right: Right, method: string): ApiError | undefined {
  if (right === 'none') return NO_TOKEN
  return right === 'change' || method === 'GET' || method === 'HEAD' ? undefined : READS_ONLY
}

const NO_TOKEN = new ApiError(
  'UNAUTHENTICATED',
  'the admin port asks for a bearer token: that of admin.token, one of admin.tokens, or that of admin.readToken to read',
  { headers: { 'www-authenticate': 'Bearer' } },
)
const READS_ONLY = new ApiError(
  'PERMISSION_DENIED',
  'admin.readToken only reads; to change something takes the token of admin.token or one of admin.tokens',
)

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
