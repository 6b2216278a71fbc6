import { ApiError } from '../../errors.ts'

/** Bytes before each message: one of flags, four of its length (gRPC over HTTP/2, Length-Prefixed-Message). */
export const PREFIX = 5

const COMPRESSED = 1

/** A message without its frame. */
export interface Unframed {
  readonly isCompressed: boolean
  readonly message: Buffer
}

/** Takes the one message of a unary request out of its frame. The codes are those of gRPC for a wrong number of messages and a wrong frame. */
export function unframe(body: Buffer, most: number): Unframed {
  if (body.length === 0) throw new ApiError('UNIMPLEMENTED', 'the request holds no message, and the method takes one')
  const frame = frameAt(body, 0, most)
  if (!frame) throw new ApiError('INTERNAL', 'the request ends within a message')
  if (frame.end < body.length) throw new ApiError('UNIMPLEMENTED', 'the request holds more than one message, and the method takes one')
  return frame
}

/** Returns the frame that begins at `start`, or undefined if it is not whole. Throws if it is malformed or larger than `most`. */
export function frameAt(body: Buffer, start: number, most: number): (Unframed & { readonly end: number }) | undefined {
  if (body.length < start + PREFIX) return undefined
  const flags = body[start] ?? 0
  if (flags > COMPRESSED) throw new ApiError('INTERNAL', `the flags ${flags} of a message are unknown`)
  const length = body.readUInt32BE(start + 1)
  if (length > most) throw tooLarge(most)
  const end = start + PREFIX + length
  return end > body.length ? undefined : { isCompressed: flags === COMPRESSED, message: body.subarray(start + PREFIX, end), end }
}

/** The error for a message over `limits.requestBytes`, or over the lower limit of its method. */
export function tooLarge(most: number): ApiError {
  return new ApiError('RESOURCE_EXHAUSTED', `the message is larger than limits.requestBytes or its method allows (${most})`)
}

/** Frames a message. */
export function framed(pieces: readonly Uint8Array[], isCompressed: boolean): readonly Uint8Array[] {
  return [prefix(isCompressed ? COMPRESSED : 0, lengthOf(pieces)), ...pieces]
}

/** Returns the bytes before a message. */
export function prefix(flags: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(PREFIX)
  bytes[0] = flags
  bytes.writeUInt32BE(length, 1)
  return bytes
}

export function lengthOf(pieces: readonly Uint8Array[]): number {
  let length = 0
  for (const piece of pieces) length += piece.length
  return length
}
