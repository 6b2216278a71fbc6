import type { Answer } from '../target.ts'
import { messages } from './facts.ts'
import { type Json, writeMessage } from './protojson.ts'
import { wireTypes } from './wire-types.ts'

/** A detail of an error: the name of its message, and its bytes. */
export interface Detail {
  readonly type: string
  readonly value: Uint8Array
}

/** HTTP statuses of codes, as a REST gateway has them (facts §15). */
const STATUS = [200, 499, 500, 400, 504, 404, 409, 403, 429, 400, 409, 400, 501, 500, 503, 500, 401]

export function decodeMessage(type: string, bytes: Uint8Array): Json {
  return messages.has(type) ? wireTypes.lookupType(type).toObject(wireTypes.lookupType(type).decode(bytes), { longs: String }) : {}
}

export function encodeMessage(type: string, message: Json): Uint8Array {
  const of = wireTypes.lookupType(type)
  return of.encode(of.fromObject(message)).finish()
}

/** Returns a message as REST would answer it. */
export function okOf(type: string, message: Json): Answer {
  return { status: 200, type: 'application/json', body: writeMessage(type, message) }
}

/** Returns an error as REST would answer it. */
export function errorOf(code: number, message: string, details: readonly Detail[]): Answer {
  const shown = details.map(({ type, value }) => ({
    '@type': `type.googleapis.com/${type}`,
    ...writeMessage(type, decodeMessage(type, value)),
  }))
  return { status: STATUS[code] ?? 500, type: 'application/json', body: { code, message, details: shown } }
}
