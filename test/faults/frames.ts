/** HTTP/2 as bytes (RFC 9113 §4, §6), because Node writes only correct frames. */
export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

export const TYPE = {
  DATA: 0,
  HEADERS: 1,
  PRIORITY: 2,
  RST_STREAM: 3,
  SETTINGS: 4,
  PUSH_PROMISE: 5,
  PING: 6,
  GOAWAY: 7,
  WINDOW_UPDATE: 8,
  CONTINUATION: 9,
} as const

export const FLAG = { ACK: 1, END_STREAM: 1, END_HEADERS: 4, PADDED: 8, PRIORITY: 32 } as const

export interface Frame {
  readonly type: number
  readonly flags: number
  readonly stream: number
  readonly payload: Buffer
  /** The payload's length in the head, if it is false. */
  readonly length?: number
}

export function frame(type: number, flags: number, stream: number, payload: Buffer = Buffer.alloc(0)): Frame {
  return { type, flags, stream, payload }
}

/** The size of a frame's head in bytes. */
const HEAD = 9

export function bytesOf({ type, flags, stream, payload, length = payload.length }: Frame): Buffer {
  const bytes = Buffer.alloc(HEAD + payload.length)
  bytes.writeUIntBE(length, 0, 3)
  bytes.writeUInt8(type, 3)
  bytes.writeUInt8(flags, 4)
  bytes.writeUInt32BE(stream, 5)
  payload.copy(bytes, HEAD)
  return bytes
}

/** Returns the complete frames at the beginning, and the rest. */
export function readFrames(bytes: Buffer): { readonly frames: readonly Frame[]; readonly rest: Buffer } {
  const frames: Frame[] = []
  let at = 0
  while (bytes.length >= at + HEAD) {
    const end = at + HEAD + bytes.readUIntBE(at, 3)
    if (bytes.length < end) break
    const stream = bytes.readUInt32BE(at + 5) & 0x7fffffff
    frames.push({ type: bytes.readUInt8(at + 3), flags: bytes.readUInt8(at + 4), stream, payload: bytes.subarray(at + HEAD, end) })
    at = end
  }
  return { frames, rest: bytes.subarray(at) }
}

/** A name and a value as sent, one byte a character. */
export type FieldLine = readonly [name: string, value: string]

/** Writes fields as literals without indexing (RFC 7541 §6.2.2). They hold any bytes, and every block can be read by itself. */
export function headerBlock(fields: readonly FieldLine[]): Buffer {
  return Buffer.concat(fields.flatMap(([name, value]) => [Buffer.of(0), literal(name), literal(value)]))
}

/** Writes a text without Huffman coding, after its length as an integer with a prefix of seven bits (RFC 7541 §5). */
function literal(text: string): Buffer {
  const bytes = Buffer.from(text, 'latin1')
  if (bytes.length < 127) return Buffer.concat([Buffer.of(bytes.length), bytes])
  const length = [127]
  let left = bytes.length - 127
  for (; left >= 128; left = Math.floor(left / 128)) length.push((left % 128) + 128)
  return Buffer.concat([Buffer.of(...length, left), bytes])
}

/** Returns a header block with its end, in one frame. */
export function headers(stream: number, fields: readonly FieldLine[], flags: number = FLAG.END_HEADERS): Frame {
  return frame(TYPE.HEADERS, flags, stream, headerBlock(fields))
}

/** Returns a number of four bytes, as in RST_STREAM and WINDOW_UPDATE. */
export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value >>> 0)
  return bytes
}

/** A client's word that it begins no more streams, without an error. */
export const GOAWAY = frame(TYPE.GOAWAY, 0, 0, Buffer.concat([uint32(0), uint32(0)]))
