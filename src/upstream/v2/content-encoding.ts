const ENCODING = 'content-encoding'

/** Names and values stand one after the other. A header that stands twice is one list (RFC 9110 §5.3). */
export function encodingOf(headers: readonly Buffer[]): string | undefined {
  let encoding: string | undefined
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]
    if (name?.length !== ENCODING.length || name.toString('latin1').toLowerCase() !== ENCODING) continue
    const value = headers[at + 1]?.toString('latin1')
    encoding = encoding === undefined ? value : `${encoding},${value}`
  }
  return encoding
}
