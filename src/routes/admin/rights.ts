import { createHash, timingSafeEqual } from 'node:crypto'
import { ApiError } from '../../errors/api-error.ts'

/** The tokens of the admin port; without any, everybody may do everything there. */
export interface AdminTokens {
  readonly token: string | undefined
  /** Reads only. */
  readonly readToken: string | undefined
}

export type Right = 'change' | 'read' | 'none'

/** What the `Authorization` header of a request gives right to. */
export type Rights = (authorization: string | undefined) => Right

/** Every given token is held against both, by hashes of one length: how long it takes says nothing about either. */
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

/** Why somebody with this right may not use this method; undefined when they may. */
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
