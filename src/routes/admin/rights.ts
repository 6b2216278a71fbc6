import { createHash, timingSafeEqual } from 'node:crypto'
import { ApiError } from '../../errors/api-error.ts'

/** The tokens of the admin port. Without any, every caller may do everything. */
export interface AdminTokens {
  readonly token: string | undefined
  /** Permits reads only. */
  readonly readToken: string | undefined
}

export type Right = 'change' | 'read' | 'none'

/** Returns the right that an `Authorization` header gives. */
export type Rights = (authorization: string | undefined) => Right

/** Compares the given token with both tokens by hashes of equal length, so that the time reveals nothing. */
export function createRights({ token, readToken }: AdminTokens): Rights {
  if (token === undefined && readToken === undefined) return () => 'change'
  const [changing, reading] = [token, readToken].map((one) => (one === undefined ? undefined : hash(one)))
  return (authorization = '') => {
    const given = hash(/^Bearer ([\w.~+/=-]+)$/i.exec(authorization)?.[1] ?? '')
    const mayChange = changing !== undefined && timingSafeEqual(given, changing)
    const mayRead = reading !== undefined && timingSafeEqual(given, reading)
    return mayChange ? 'change' : mayRead ? 'read' : 'none'
  }
}

/** Returns why a caller with this right may not use the method; undefined if it may. */
export function whyNot(right: Right, method: string): ApiError | undefined {
  if (right === 'none') return NO_TOKEN
  return right === 'change' || method === 'GET' || method === 'HEAD' ? undefined : READS_ONLY
}

const NO_TOKEN = new ApiError(
  'UNAUTHENTICATED',
  'the admin port asks for a bearer token: that of admin.token, or of admin.readToken to read',
  { headers: { 'www-authenticate': 'Bearer' } },
)
const READS_ONLY = new ApiError('PERMISSION_DENIED', 'admin.readToken only reads; to change something takes the token of admin.token')

function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
