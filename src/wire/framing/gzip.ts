import { gunzip, gzip as gzipOf } from 'node:zlib'
import { ApiError } from '../../errors.ts'
import type { Room } from '../../serve/bounds.ts'
import { lengthOf, tooLarge } from './frame.ts'

/** Bytes that one byte of gzip can become. */
const MOST_INFLATION = 1032

/** A message and the room that it holds. */
export interface Inflated {
  readonly message: Buffer
  /** Gives the room back. */
  release(): void
}

/** What bounds an inflated message. */
export interface InflationBounds {
  /** Maximum bytes of a message. */
  readonly requestBytes: number
  /** The bytes of all messages together. */
  readonly room: Room
  readonly noRoom: () => Error
}

/**
 * Inflates a message, never beyond `requestBytes`; RESOURCE_EXHAUSTED beyond. Room for the most that it can become is taken before.
 * `malformed` makes the error for bytes that are not gzip.
 */
export async function inflated(
  message: Buffer,
  { requestBytes, room, noRoom }: InflationBounds,
  malformed: (cause: unknown) => Error,
): Promise<Inflated> {
  if (message.length === 0) return { message, release() {} }
  const most = Math.min(requestBytes, message.length * MOST_INFLATION)
  if (!room.take(most)) throw noRoom()
  try {
    const bytes = await new Promise<Buffer>((resolve, reject) => {
      gunzip(message, { maxOutputLength: requestBytes }, (error, whole) => (error ? reject(error) : resolve(whole)))
    })
    room.give(most - bytes.length)
    return { message: bytes, release: () => room.give(bytes.length) }
  } catch (error) {
    room.give(most)
    throw (error as NodeJS.ErrnoException).code === 'ERR_BUFFER_TOO_LARGE' ? tooLarge(requestBytes) : malformed(error)
  }
}

/** The error of gRPC for bytes that are not gzip. */
export function malformedGzip(cause: unknown): ApiError {
  return new ApiError('INTERNAL', 'the message cannot be decompressed', { cause })
}

/** Bytes. A smaller message hardly shrinks. */
const WORTH = 1024

/** Compresses a message, or returns undefined if that is not worth its cost. */
export async function gzipped(pieces: readonly Uint8Array[]): Promise<readonly Uint8Array[] | undefined> {
  if (lengthOf(pieces) < WORTH) return undefined
  return new Promise((resolve, reject) => {
    gzipOf(Buffer.concat(pieces), (error, bytes) => (error ? reject(error) : resolve([bytes])))
  })
}
