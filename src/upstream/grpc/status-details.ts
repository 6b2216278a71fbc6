import type { WireStatus } from '../../wire/wire-call.ts'

type Details = WireStatus['details']

/** Numbers of fields: `details` of google.rpc.Status, both of google.protobuf.Any. */
const DETAILS = 3
const TYPE_URL = 1
const VALUE = 2

/**
 * Reads the details of a `grpc-status-details-bin` trailer: the base64 of a google.rpc.Status. Bytes that are no such message have none:
 * they only explain an error that code and message tell already.
 */
export function detailsOf(trailer: unknown): Details {
  if (typeof trailer !== 'string') return []
  try {
    return fieldsOf(Buffer.from(trailer, 'base64'))
      .filter(([number]) => number === DETAILS)
      .map(([, any]) => detailOf(any))
  } catch {
    return []
  }
}

function detailOf(any: Buffer): Details[number] {
  const fields = new Map(fieldsOf(any))
  const url = fields.get(TYPE_URL)?.toString() ?? ''
  return { type: url.slice(url.lastIndexOf('/') + 1), value: fields.get(VALUE) ?? Buffer.alloc(0) }
}

type Field = readonly [number: number, content: Buffer]

/** Bytes of the fields of fixed length, by wire type. */
const FIXED: Readonly<Record<number, number>> = { 1: 8, 5: 4 }

/** Returns the fields of a message that have a length. Throws a RangeError if the bytes are no message. */
function fieldsOf(message: Buffer): readonly Field[] {
  const fields: Field[] = []
  let at = 0
  const varint = () => {
    let value = 0
    for (let scale = 1; ; scale *= 128) {
      const byte = message.readUInt8(at)
      at += 1
      value += (byte % 128) * scale
      if (byte < 128) return value
    }
  }
  while (at < message.length) {
    const tag = varint()
    const type = tag % 8
    if (type === 0) varint()
    else if (type === 2) {
      const length = varint()
      if (at + length > message.length) throw new RangeError('a field is longer than its message')
      fields.push([Math.floor(tag / 8), message.subarray(at, at + length)])
      at += length
    } else {
      const length = FIXED[type]
      if (length === undefined) throw new RangeError(`wire type ${type}`)
      at += length
    }
  }
  return fields
}
