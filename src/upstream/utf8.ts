/** Pages of a list arrive in two or three pieces; they are put together here, and not in memory of their own that had to be collected. */
const desk = Buffer.allocUnsafeSlow(256 * 1024)

/** The text of the pieces of a UTF-8 body, `bytes` bytes in all. */
export function textOfPieces(pieces: readonly Buffer[], bytes: number): string {
  const [first] = pieces
  if (first && pieces.length === 1) return first.toString('utf8')
  if (bytes > desk.length) return Buffer.concat(pieces, bytes).toString('utf8')
  let at = 0
  for (const piece of pieces) at += piece.copy(desk, at)
  return desk.toString('utf8', 0, at)
}
