import type { Writable } from 'node:stream'
import { ROWS_MEMORY } from '../tables/text/engine.ts'

/** An answer; over HTTP/2 it has a stream. */
interface Taker extends Pick<Writable, 'writableLength'> {
  readonly stream?: { readonly destroyed: boolean }
}

/**
 * Gives back the memory of pieces that the response has passed to the system. If its stream of HTTP/2 was broken off, it does not: what Node has
 * begun to send of them still goes out on the connection, and Node reports them as passed on.
 */
export function giveTaken(pieces: readonly Uint8Array[], { stream }: Taker): void {
  if (!stream?.destroyed) for (const piece of pieces) ROWS_MEMORY.give(piece)
}

/**
 * Yields the pieces of an answer, and gives the memory of those back that the response has passed to the system. A reader that waits for
 * one piece at most may not have written the last one yet, so that one is kept.
 */
export async function* givingBack(stream: AsyncIterable<Uint8Array>, response: Taker): AsyncGenerator<Uint8Array> {
  const yielded: Uint8Array[] = []
  for await (const piece of stream) {
    if (response.writableLength === 0) giveTaken(yielded.splice(0, yielded.length - 1), response)
    yielded.push(piece)
    yield piece
  }
}
