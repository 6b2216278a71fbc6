import { type DescMessage, fromBinary, fromJson, type JsonValue, type Registry, toBinary, toJson } from '@bufbuild/protobuf'
import { ApiError } from '../errors.ts'

/** Returns the bytes of a message that came as JSON. Throws if it is none of that type. */
export function bytesOfJson(type: DescMessage, json: Uint8Array, registry: Registry): Uint8Array {
  const value = json.length === 0 ? {} : (JSON.parse(Buffer.from(json).toString()) as JsonValue)
  return toBinary(type, fromJson(type, value, { registry, ignoreUnknownFields: true }))
}

/** Returns the JSON of an answer that came as bytes. INTERNAL if they are none of that type. */
export function jsonOfBytes(type: DescMessage, bytes: Uint8Array, registry: Registry): Uint8Array {
  try {
    return Buffer.from(JSON.stringify(toJson(type, fromBinary(type, bytes), { registry })))
  } catch (cause) {
    throw new ApiError('INTERNAL', `the service sent an answer that is no ${type.typeName}`, { cause })
  }
}
