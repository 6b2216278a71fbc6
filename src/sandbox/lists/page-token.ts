import { createHmac, timingSafeEqual } from 'node:crypto'
import { invalidField } from '../status.ts'
import type { Order, Position } from './order.ts'

/** The content of a page token. */
export type PageToken = {
  /** Milliseconds since the epoch. */
  readonly issuedAt: number
  readonly order: Order
  /** The last row of the previous page. */
  readonly after: Position
  /** Rows skipped so far. */
  readonly skipped: number
  readonly filterHash: string
}

const sign = (payload: string, key: string): Buffer => createHmac('sha256', key).update(payload).digest()

/** Opaque to clients: base64url of the payload and of its signature. */
export const writeToken = (token: PageToken, key: string): string => {
  const payload = Buffer.from(JSON.stringify(token)).toString('base64url')
  return `${payload}.${sign(payload, key).toString('base64url')}`
}

/** The content of a token. INVALID_ARGUMENT on `page_token` unless this sandbox made it. */
export const readToken = (text: string, key: string): PageToken => {
  const [payload = '', signature = ''] = text.split('.', 2)
  const expected = sign(payload, key)
  const given = Buffer.from(signature, 'base64url')
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) return invalidField('page_token', 'is not valid')
  return JSON.parse(Buffer.from(payload, 'base64url').toString()) as PageToken
}
