/** The body of an answer, as far as it can be compared. */
export type Captured =
  | { readonly kind: 'json'; readonly value: unknown }
  | { readonly kind: 'too-large'; readonly limit: number }
  | { readonly kind: 'not-json' }
  /** The connection broke before the end of the body. */
  | { readonly kind: 'broken' }
  /** It is no JSON and was never text. `because` completes "v1 returned …". */
  | { readonly kind: 'no-value'; readonly because: string }

/** Says why a body cannot be compared, and what to change. */
export function whyUnread(side: 'v1' | 'v2', body: Exclude<Captured, { readonly kind: 'json' }>): string {
  if (body.kind === 'not-json') return `${side} sent a body that is not JSON`
  if (body.kind === 'no-value') return `${side} returned ${body.because}`
  if (body.kind === 'broken') return `${side} broke off its answer`
  return `${side} sent more than diff.answerBytes (${body.limit} bytes), so it was not compared; raise that setting to compare it`
}

/** Reads the text of a body. One of more than `limit` characters makes the comparison inconclusive, with that reason. */
export function capturedText(text: string, limit: number): Captured {
  if (text.length > limit) return { kind: 'too-large', limit }
  if (text.trim() === '') return { kind: 'json', value: undefined }
  try {
    return { kind: 'json', value: JSON.parse(text) }
  } catch {
    return { kind: 'not-json' }
  }
}
