import { type Answer, lengthOf, type Written } from '../../serve/answer.ts'
import { isObject } from '../../tables/json.ts'
import { ROWS } from '../../tables/turn.ts'
import type { Kept } from '../observe/captured.ts'

/**
 * Returns the same answer, and keeps it on the way to the client, unless it has more than `limit` bytes. Nothing is copied: most answers of a
 * busy proxy are not compared.
 * Calls `done` when the client has the whole answer. It passes `undefined` if the client disconnects first or its connection breaks.
 */
export function tee(answer: Answer, limit: number, done: (kept: Kept | undefined) => void): Answer {
  const { status, headers } = answer
  if ('written' in answer) {
    done({ status, headers, ...keptOf(answer.written, limit) })
    return answer
  }
  if ('stream' in answer)
    return { status, headers, stream: watched(answer.stream, limit, (body) => done(body && { status, headers, ...body })) }
  done({ status, headers, body: { value: answer.body }, size: weightOf(answer.body) })
  return answer
}

type Body = Pick<Kept, 'body' | 'size'>

function keptOf(written: Written, limit: number): Body {
  const size = lengthOf(written)
  return size > limit ? { body: { pieces: undefined, broken: false }, size: 0 } : { body: { written }, size }
}

/** Copies each piece, because the memory of one that a client has is used again. */
async function* watched(stream: AsyncIterable<Uint8Array>, limit: number, done: (body: Body | undefined) => void) {
  let pieces: Uint8Array[] | undefined = []
  let size = 0
  let whole = false
  try {
    for await (const piece of stream) {
      size += piece.length
      if (size > limit) pieces = undefined
      else pieces?.push(Buffer.from(piece))
      yield piece
    }
    whole = true
  } finally {
    done(whole ? { body: { pieces, broken: false }, size: pieces ? size : 0 } : undefined)
  }
}

/** Estimated bytes of a list's row in memory. A whole list is not serialized just to measure it. */
const ROW = 1024

function weightOf(body: unknown): number {
  const rows = isObject(body) ? body[ROWS] : undefined
  return ROW * (Array.isArray(rows) ? rows.length + 1 : 1)
}

/** Reads at most `limit` bytes of an answer that no client gets, and hangs up. An answer that breaks off is kept as broken. */
export async function drain({ status, headers, ...rest }: Answer, limit: number): Promise<Kept> {
  if ('body' in rest) return { status, headers, body: { value: rest.body }, size: 0 }
  if ('written' in rest) return { status, headers, ...keptOf(rest.written, limit) }
  const most = Number(headers['content-length'] ?? 0) > limit ? 0 : limit
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of rest.stream) {
      size += piece.length
      if (size > most) return { status, headers, body: { pieces: undefined, broken: false }, size: 0 }
      pieces.push(piece)
    }
  } catch {
    return { status, headers, body: { pieces: [], broken: true }, size: 0 }
  }
  return { status, headers, body: { pieces, broken: false }, size }
}
