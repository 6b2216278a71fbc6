import { type DescEnum, ScalarType } from '@bufbuild/protobuf'
import type { ByteWriter } from './byte-writer.ts'

/** Protobuf's wire types, as the last three bits of a tag. */
const VARINT = 0
export const DELIMITED = 2

/** Returns the tag of a field; an enum has no scalar type. */
export function tagOf(number: number, scalar: ScalarType | undefined): number {
  return number * 8 + (isDelimited(scalar) ? DELIMITED : VARINT)
}

/** True if the length of such a value stands before it. */
export function isDelimited(scalar: ScalarType | undefined): boolean {
  return scalar === ScalarType.STRING || scalar === ScalarType.BYTES
}

/** A scalar as the wire has it. A number beyond 2^53 is a bigint; true is 1. */
export type WireScalar = string | number | bigint | Buffer

/** Reads a JSON value. Returns undefined for the name of an enum value that nobody knows. Throws if the value is not of the type. */
export type ReadScalar = (json: unknown) => WireScalar | undefined

/** Returns how JSON values of a scalar type are read, as protojson says. The facts hold no other types; the registry refuses them. */
export function scalarReader(type: ScalarType): ReadScalar {
  switch (type) {
    case ScalarType.STRING:
      return (json) => (typeof json === 'string' ? json : unfit('a text'))
    case ScalarType.BOOL:
      return (json) => (typeof json === 'boolean' ? Number(json) : unfit('true or false'))
    case ScalarType.BYTES:
      return (json) => (typeof json === 'string' ? Buffer.from(json, 'base64') : unfit('base64'))
    case ScalarType.INT32:
      return wholeReader(-(2 ** 31), 2 ** 31)
    case ScalarType.UINT32:
      return wholeReader(0, 2 ** 32)
    case ScalarType.INT64:
      return wholeReader(-(2 ** 63), 2 ** 63)
    default:
      throw new Error(`no method uses the type ${ScalarType[type]}`)
  }
}

/** Returns how the values of an enum are read: by name or by number. A number that nobody knows is kept, as proto3 says. */
export function enumReader({ values }: DescEnum): ReadScalar {
  const numbers = new Map(values.map(({ name, number }) => [name, number]))
  const read = wholeReader(-(2 ** 31), 2 ** 31)
  return (json) => (typeof json === 'string' ? numbers.get(json) : read(json))
}

/** Returns how an integer from `least` to below `end` is read: a number, or its text. */
function wholeReader(least: number, end: number): ReadScalar {
  return (json) => {
    const whole = wholeOf(json)
    return whole >= least && whole < end ? whole : unfit('an integer of its size')
  }
}

function wholeOf(json: unknown): number | bigint {
  if (Number.isInteger(json)) return Number.isSafeInteger(json) ? (json as number) : BigInt(json as number)
  if (typeof json !== 'string' || json.trim() === '') return unfit('an integer')
  const number = Number(json)
  if (Number.isSafeInteger(number)) return number
  return /^-?\d+$/.test(json) ? BigInt(json) : unfit('an integer')
}

/** True for the value that proto3 does not send unless the field has presence. */
export function isZero(scalar: WireScalar): boolean {
  return scalar === 0 || scalar === '' || (typeof scalar === 'object' && scalar.length === 0)
}

/** Writes a scalar without its tag. */
export function writeScalar(writer: ByteWriter, scalar: WireScalar): void {
  if (typeof scalar === 'string') writer.text(scalar)
  else if (typeof scalar === 'number' && scalar >= 0) writer.varint(scalar)
  else if (typeof scalar === 'object') writer.bytes(scalar)
  else writer.long(BigInt(scalar))
}

/** Says what a value should be. It names no value: an answer may hold secrets. */
export function unfit(what: string): never {
  throw new TypeError(`must be ${what}`)
}
