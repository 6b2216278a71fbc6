import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { type Captured, capturedText } from '../../diff/compare/captured-body.ts'
import type { SeenAnswer } from '../../diff/compare/compare.ts'
import { type Answer, bytesOf, type Written } from '../../serve/answer.ts'
import { weightOf } from '../../serve/upstream/exchange.ts'

/** An answer that a client got, whole or as far as it was kept. */
export interface Kept {
  readonly status: number
  readonly headers: Answer['headers']
  /** `value` was never text, and `written` is the text itself. `pieces` is undefined if the body was larger than the limit. */
  readonly body:
    | { readonly value: unknown }
    | { readonly written: Written }
    | { readonly pieces: readonly Uint8Array[] | undefined; readonly broken: boolean }
  /** Bytes that it holds in memory; a value is counted by the length of its text. */
  readonly size: number
}

/** Turns a kept answer into one that can be compared. Decompressing, parsing and copying happen only here. */
export async function seenOf({ status, headers, body }: Kept, limit: number): Promise<SeenAnswer> {
  const type = headers['content-type'] ?? 'application/json'
  return {
    status,
    headers: { 'content-type': String(type) },
    body: await capturedOf(body, String(headers['content-encoding'] ?? ''), limit),
  }
}

async function capturedOf(body: Kept['body'], encoding: string, limit: number): Promise<Captured> {
  if ('value' in body) {
    if (isLonger(body.value, limit)) return { kind: 'too-large', limit }
    // The client gets the value as text, so the text is compared.
    return capturedText(JSON.stringify(body.value) ?? '', limit)
  }
  const pieces = 'written' in body ? bytesOf(body.written) : body.pieces
  if (pieces === undefined) return { kind: 'too-large', limit }
  if ('broken' in body && body.broken) return { kind: 'broken' }
  const bytes = await decoded(Buffer.concat(pieces), encoding, limit)
  if (!(bytes instanceof Uint8Array)) return bytes
  return weightOf(bytes) > limit ? { kind: 'too-large', limit } : capturedText(bytes.toString('utf8'), limit)
}

const DECODERS: Readonly<Record<string, (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>>> = {
  gzip: promisify(gunzip),
  deflate: promisify(inflate),
  br: promisify(brotliDecompress),
}

async function decoded(bytes: Buffer, encoding: string, limit: number): Promise<Buffer | Captured> {
  if (encoding === '' || encoding === 'identity') return bytes
  try {
    return (await DECODERS[encoding.toLowerCase()]?.(bytes, { maxOutputLength: limit })) ?? { kind: 'not-json' }
  } catch (error) {
    return (error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE' ? { kind: 'too-large', limit } : { kind: 'not-json' }
  }
}

/** True if the JSON text of a value surely has more than `limit` characters. It looks at no more of the value than that. */
export function isLonger(value: unknown, limit: number): boolean {
  const rest: unknown[] = [value]
  let length = 0
  while (rest.length > 0 && length <= limit) {
    const next = rest.pop()
    length += typeof next === 'string' ? next.length + 2 : 1
    if (typeof next !== 'object' || next === null) continue
    if (Array.isArray(next) && next.length > limit) return true
    for (const [name, inner] of Object.entries(next)) {
      rest.push(inner)
      length += Array.isArray(next) ? 0 : name.length + 3
    }
  }
  return length > limit
}
