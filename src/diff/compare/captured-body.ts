import { StringDecoder } from 'node:string_decoder'

/** The body of an answer, as far as it can be compared. */
export type Captured =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'too-large'; readonly limit: number }
  | { readonly kind: 'not-json' }
  /** The connection broke before the end of the body. */
  | { readonly kind: 'broken' }
  /** It is no JSON and was never text. `because` completes "v1 returned …". */
  | { readonly kind: 'no-value'; readonly because: string }

export interface Capture {
  /** Takes the next piece of the body. Drops everything once the body is too large. */
  add(piece: string | Uint8Array): void
  /** Notes that the stream failed. */
  break(): void
  /** Returns what was captured, and drops the pieces. */
  end(): Captured
}

/** Maximum characters of one body that are kept for comparing. One comparison needs at most twice this memory, and the parsed values. */
export const CAPTURE_LIMIT = 4 * 1024 * 1024

/** Collects up to `limit` characters of a streamed body. A longer body makes the comparison inconclusive, with that reason. */
export function createCapture(limit: number = CAPTURE_LIMIT): Capture {
  const decoder = new StringDecoder('utf8')
  let pieces: string[] = []
  let length = 0
  let broken = false
  return {
    add(piece) {
      if (length > limit) return
      const text = typeof piece === 'string' ? piece : decoder.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength))
      length += text.length
      if (length > limit) pieces = []
      else pieces.push(text)
    },
    break() {
      broken = true
      pieces = []
    },
    end() {
      if (length > limit) return { kind: 'too-large', limit }
      if (broken) return { kind: 'broken' }
      const text = pieces.join('') + decoder.end()
      pieces = []
      return parsed(text)
    },
  }
}

/** Says why a body cannot be compared, and what to change. */
export function whyUnread(side: 'v1' | 'v2', body: Exclude<Captured, { readonly kind: 'json' }>): string {
  if (body.kind === 'not-json') return `${side} sent a body that is not JSON`
  if (body.kind === 'no-value') return `${side} returned ${body.because}`
  if (body.kind === 'broken') return `${side} broke off its answer`
  return `${side} sent more than diff.answerBytes (${body.limit} bytes), so it was not compared; raise that setting to compare it`
}

function parsed(text: string): Captured {
  if (text.trim() === '') return { kind: 'json', value: undefined }
  try {
    return { kind: 'json', value: JSON.parse(text) }
  } catch {
    return { kind: 'not-json' }
  }
}
