import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import { create, type DescMessage, fromBinary, fromJson, type JsonValue, type Registry, toBinary, toJson } from '@bufbuild/protobuf'

/** One message as the vendor's generated Go types write it. */
interface Vector {
  readonly hex: string
  /** protojson with the names of the proto files. */
  readonly json: JsonValue
  /** protojson with its own names, of the first vector alone and where they differ. */
  readonly defaultNames?: JsonValue
}

/** The vectors of a message. */
interface Pinned {
  /** The message without any field, with its zero values. */
  readonly empty?: JsonValue
  readonly vectors: readonly Vector[]
}

/** The messages that the vendor's Go types wrote, by the names of their types. */
export function pinned(api: 'v1' | 'v2'): Readonly<Record<string, Pinned>> {
  return JSON.parse(readFileSync(new URL(`${api}.json`, import.meta.url), 'utf8')).messages
}

/** Says what a descriptor writes or reads otherwise than the vendor's type; undefined if nothing. */
export function vectorFault(schema: DescMessage | undefined, { empty = {}, vectors }: Pinned, registry: Registry): string | undefined {
  if (!schema) return 'no such message'
  const zero = toJson(schema, create(schema), { alwaysEmitImplicit: true, useProtoFieldName: true, registry })
  if (!isDeepStrictEqual(zero, empty)) return `zero values: ${JSON.stringify(zero)}`
  for (const { hex, json, defaultNames } of vectors) {
    const message = fromBinary(schema, Buffer.from(hex, 'hex'))
    const written = toBinary(schema, message)
    if (!isSame(written, hex)) return `bytes of bytes: ${Buffer.from(written).toString('hex')}, not ${hex}`
    for (const [useProtoFieldName, expected] of [[true, json] as const, [false, defaultNames] as const]) {
      if (expected === undefined) continue
      const shown = toJson(schema, message, { useProtoFieldName, registry })
      if (!isDeepStrictEqual(shown, expected)) return `JSON: ${JSON.stringify(shown)}, not ${JSON.stringify(expected)}`
      const read = toBinary(schema, fromJson(schema, expected, { registry }))
      if (!isSame(read, hex)) return `bytes of JSON: ${Buffer.from(read).toString('hex')}, not ${hex}`
    }
  }
  return undefined
}

/** Whether bytes are those of the vendor, whatever the order of the fields: Go writes the members of oneofs last. */
function isSame(bytes: Uint8Array, hex: string): boolean {
  return Buffer.from(bytes).sort().equals(Buffer.from(hex, 'hex').sort())
}
