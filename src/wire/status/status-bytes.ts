import { lengthOf } from '../framing/frame.ts'
import type { WireStatus } from '../wire-call.ts'

/** The tags of google.rpc.Status and google.protobuf.Any: the number of a field and how its value is written. */
const CODE = 0x08
const MESSAGE = 0x12
const DETAILS = 0x1a
const TYPE_URL = 0x0a
const VALUE = 0x12

const TYPE_PREFIX = 'type.googleapis.com/'

/** Encodes a google.rpc.Status. It is the one message that the wire itself writes, so it needs no descriptors. */
export function statusBytes({ code, message, details }: WireStatus): Buffer {
  const any = details.map(({ type, value }) => joined([...field(TYPE_URL, Buffer.from(TYPE_PREFIX + type)), ...field(VALUE, value)]))
  return joined([Buffer.from([CODE, code]), ...field(MESSAGE, Buffer.from(message)), ...any.flatMap((one) => field(DETAILS, one))])
}

/** Without padding, as the values of binary metadata are written. */
export function unpadded(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    .toString('base64')
    .replace(/(?<!=)=+$/, '')
}

function field(tag: number, value: Uint8Array): readonly Uint8Array[] {
  return [Buffer.from([tag, ...varint(value.length)]), value]
}

function varint(value: number): readonly number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]
}

function joined(pieces: readonly Uint8Array[]): Buffer {
  return Buffer.concat(pieces, lengthOf(pieces))
}
