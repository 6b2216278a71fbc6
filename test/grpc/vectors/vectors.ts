import { readFileSync } from 'node:fs'
import { isDeepStrictEqual } from 'node:util'
import {
  create,
  type DescEnum,
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  type Registry,
  toBinary,
  toJson,
} from '@bufbuild/protobuf'
import type { RpcMethod } from '../../../src/grpc/proto-files.ts'

/** One message as the vendor's generated Go types write it. */
interface Vector {
  readonly hex: string
  /** protojson with the names of the proto files. */
  readonly json: JsonValue
  /** protojson with its own names, of the first vector alone and where they differ. */
  readonly defaultNames?: JsonValue
}

interface Pinned {
  /** The message without any field, with its zero values. */
  readonly empty?: JsonValue
  readonly vectors: readonly Vector[]
  /** Bytes with several members of a oneof, and what is left of them. */
  readonly oneofs?: readonly Vector[]
}

/** What the vendor's Go types of a version say. */
interface PinnedApi {
  readonly messages: Readonly<Record<string, Pinned>>
  readonly enums: Readonly<Record<string, Readonly<Record<string, number>>>>
  /** The message a method takes, the one it answers, its route and its body. */
  readonly methods: Readonly<Record<string, readonly string[]>>
}

/** What the vendor's Go types wrote and said, by the names of the types. */
export function pinned(api: 'v1' | 'v2'): PinnedApi {
  return JSON.parse(readFileSync(new URL(`${api}.json`, import.meta.url), 'utf8'))
}

export function valuesOf(schema: DescEnum | undefined): Readonly<Record<string, number>> {
  return Object.fromEntries(schema?.values.map(({ name, number }) => [name, number]) ?? [])
}

/** What a method says, in the form of the vectors. */
export function signatureOf({ input, output, rule }: RpcMethod): readonly string[] {
  const route = rule ? [`${rule.method} ${rule.template}`, ...(rule.body === undefined ? [] : [rule.body])] : []
  return [input.typeName, output.typeName, ...route]
}

/** Says what a descriptor writes or reads otherwise than the vendor's type; undefined if nothing. */
export function vectorFault(
  schema: DescMessage | undefined,
  { empty = {}, vectors, oneofs = [] }: Pinned,
  registry: Registry,
): string | undefined {
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
  for (const { hex, json } of oneofs) {
    const shown = toJson(schema, fromBinary(schema, Buffer.from(hex, 'hex')), { useProtoFieldName: true, registry })
    if (!isDeepStrictEqual(shown, json)) return `of several members: ${JSON.stringify(shown)}, not ${JSON.stringify(json)}`
  }
  return undefined
}

/** Whether bytes are those of the vendor, whatever the order of the fields: Go writes the members of oneofs last. */
function isSame(bytes: Uint8Array, hex: string): boolean {
  return Buffer.from(bytes).sort().equals(Buffer.from(hex, 'hex').sort())
}
