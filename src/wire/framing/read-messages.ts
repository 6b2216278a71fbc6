import type { ServerHttp2Stream } from 'node:http2'
import { ApiError } from '../../errors.ts'
import { boundsOf, type WireSettings } from '../wire-settings.ts'
import { frameAt } from './frame.ts'
import { type InflationBounds, inflated, malformedGzip } from './gzip.ts'
import { codingOf } from './read-framed.ts'

/**
 * Reads the messages of a stream as they are wanted. What has arrived of a message holds room; a client that sends more than is read is
 * stopped by the window of its stream. Throws an ApiError for what is wrong with the request.
 */
export async function* readMessages(
  stream: ServerHttp2Stream,
  headers: Parameters<typeof codingOf>[0],
  settings: Pick<WireSettings, 'requestBytes' | 'room'>,
): AsyncGenerator<Buffer, void, undefined> {
  const coding = codingOf(headers)
  const bounds = boundsOf(settings)
  const arrived = createArrived(bounds)
  try {
    for await (const piece of stream.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
      arrived.add(piece)
      for (let frame = arrived.frame(); frame; frame = arrived.frame()) {
        if (!frame.isCompressed) {
          yield frame.message
          continue
        }
        if (coding !== 'gzip') throw new ApiError('INTERNAL', 'a message is marked as compressed, and grpc-encoding names no compression')
        const { message, release } = await inflated(frame.message, bounds, malformedGzip)
        try {
          yield message
        } finally {
          release()
        }
      }
    }
    if (arrived.length() > 0) throw new ApiError('INTERNAL', 'the request ends within a message')
  } finally {
    arrived.release()
  }
}

/** Bytes that have arrived, joined at once: each piece, if kept, would cost a hundred bytes of overhead. */
function createArrived({ requestBytes, room, noRoom }: InflationBounds) {
  let bytes = Buffer.alloc(0)
  let start = 0
  let end = 0
  return {
    add(piece: Buffer): void {
      bytes.copyWithin(0, start, end)
      end -= start
      start = 0
      const wanted = end + piece.length
      if (wanted > bytes.length) {
        const larger = Math.max(wanted, 2 * bytes.length)
        if (!room.take(larger - bytes.length)) throw noRoom()
        bytes = Buffer.concat([bytes], larger)
      }
      piece.copy(bytes, end)
      end = wanted
    },
    /** Takes the next frame, if it is whole. It is valid until the next bytes are added. */
    frame() {
      const frame = frameAt(bytes.subarray(0, end), start, requestBytes)
      start = frame?.end ?? start
      return frame
    },
    length: () => end - start,
    release: () => room.give(bytes.length),
  }
}
