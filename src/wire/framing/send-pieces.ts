import { lengthOf } from './frame.ts'

/** What takes an answer: a stream of HTTP/2, or a response. */
interface Taker {
  cork(): void
  write(piece: Uint8Array): unknown
  end(piece?: Uint8Array): unknown
}

/** Bytes. Less than that is cheaper to copy than to write piece by piece. */
const COPIED = 64 * 1024

/** Writes the pieces and ends the answer, with as few writes as possible. */
export function sendPieces(taker: Taker, pieces: readonly Uint8Array[]): void {
  const length = lengthOf(pieces)
  if (length <= COPIED) return void taker.end(Buffer.concat(pieces, length))
  taker.cork()
  for (const piece of pieces) taker.write(piece)
  taker.end()
}
