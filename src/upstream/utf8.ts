/** Decodes a UTF-8 body in pieces, whose bounds may lie within a character. */
export function textOf(pieces: readonly Buffer[]): string {
  const [first] = pieces
  return first && pieces.length === 1 ? first.toString('utf8') : Buffer.concat(pieces).toString('utf8')
}
