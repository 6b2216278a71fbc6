import type { Writable } from 'node:stream'
import { ROWS_MEMORY } from '../tables/text/page-memory.ts'

/**
 * Yields the pieces of an answer, and gives the memory of those back that the response has passed to the system. A reader that waits for
 * one piece at most may not have written the last one yet, so that one is kept.
 */
export async function* givingBack(
  stream: AsyncIterable<Uint8Array>,
  response: Pick<Writable, 'writableLength'>,
): AsyncGenerator<Uint8Array> {
  const yielded: Uint8Array[] = []
  for await (const piece of stream) {
    if (response.writableLength === 0) for (const written of yielded.splice(0, yielded.length - 1)) ROWS_MEMORY.give(written)
    yielded.push(piece)
    yield piece
  }
}
