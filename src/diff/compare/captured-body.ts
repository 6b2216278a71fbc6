import { StringDecoder } from 'node:string_decoder'

/** The body of an answer as far as it can be compared. */
export type Captured =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'too-large'; readonly limit: number }
  | { readonly kind: 'not-json' }
  /** The connection broke before the end. */
  | { readonly kind: 'broken' }

export interface Capture {
  /** Takes the next piece of the body; forgets everything once it is too large. */
  add(piece: string | Uint8Array): void
  /** The stream failed. */
  break(): void
  /** What was captured; the pieces are forgotten. */
  end(): Captured
}

/** Characters of one body that are kept for comparing, so that a comparison costs at most twice this much memory, and parsed values. */
export const CAPTURE_LIMIT = 4 * 1024 * 1024

/** Collects a body that streams past, up to `limit` characters; above, the comparison is inconclusive and says so. */
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

function parsed(text: string): Captured {
  if (text.trim() === '') return { kind: 'json', value: undefined }
  try {
    return { kind: 'json', value: JSON.parse(text) }
  } catch {
    return { kind: 'not-json' }
  }
}
