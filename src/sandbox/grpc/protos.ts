import { readFileSync } from 'node:fs'
import protobuf, { type IEnum, type IField, type IMapField, type INamespace, type IType, type Root } from 'protobufjs/light.js'

/** A field: its number, its type as a proto file writes it, its oneof, and its JSON name if that is not derived. */
type PublishedField = readonly [id: number, type: string, more?: { readonly oneof?: string; readonly json?: string }]

/** The verb and path of an http rule, and the field that is the body (`*`: every field that is not in the path). */
export type PublishedRule = Readonly<Partial<Record<'get' | 'post' | 'put' | 'patch' | 'delete' | 'body', string>>>

type PublishedMethod = { readonly in: string; readonly out: string; readonly http?: PublishedRule }

type Named<T> = Readonly<Record<string, T>>

/** What the published protos of one version state. The sandbox shares these facts with Crosswalk, as data alone. */
type PublishedFacts = {
  readonly services: Named<Named<PublishedMethod>>
  readonly messages: Named<Named<PublishedField>>
  readonly enums: Named<Named<number>>
}

const read = (version: string): PublishedFacts =>
  JSON.parse(readFileSync(new URL(`../../../mappings/grpc/${version}.json`, import.meta.url), 'utf8'))

/** The facts of v1 and of v2 together: no name is in both, except types that both use. */
export const readPublishedFacts = (): PublishedFacts => {
  const [v1, v2] = [read('v1'), read('v2')]
  return {
    services: { ...v1.services, ...v2.services },
    messages: { ...v1.messages, ...v2.messages },
    enums: { ...v1.enums, ...v2.enums },
  }
}

const MAP = /^map<(\w+),([\w.]+)>$/

/** protobufjs looks up a name with a leading dot from the root, and a scalar without one. */
const nameOf = (type: string): string => (type.includes('.') ? `.${type}` : type)

const fieldOf = ([id, type, { oneof, json } = {}]: PublishedField): IField | IMapField => {
  const [, keyType, value] = MAP.exec(type) ?? []
  if (keyType !== undefined && value !== undefined) return { id, keyType, type: nameOf(value) }
  const [label, of] = type.includes(' ') ? type.split(' ', 2) : [undefined, type]
  const named = { id, type: nameOf(of ?? ''), ...(json !== undefined && { jsonName: json }) }
  if (label === 'repeated') return { ...named, rule: 'repeated' }
  return oneof === undefined && label === 'optional' ? { ...named, options: { proto3_optional: true } } : named
}

const oneofsOf = (fields: Readonly<Record<string, PublishedField>>) => {
  const oneofs: Record<string, { oneof: string[] }> = {}
  for (const [name, [, type, { oneof } = {}]] of Object.entries(fields)) {
    // A synthetic oneof makes an optional field tell zero from unset.
    const group = oneof ?? (type.startsWith('optional ') ? `_${name}` : undefined)
    if (group !== undefined) oneofs[group] = { oneof: [...(oneofs[group]?.oneof ?? []), name] }
  }
  return oneofs
}

type Node = { edition?: string; nested: Record<string, Node> }

/** Puts a type at its place among the namespaces and outer types of its name. */
const place = (root: Node, name: string, type: object): void => {
  const parts = name.split('.')
  let node = root
  for (const part of parts) {
    node.nested[part] ??= { nested: {} }
    node = node.nested[part]
  }
  Object.assign(node, type)
}

const KIND = { oneof: 'kind' }

/** The well-known types, which the facts leave out. protobufjs reads the members of a Value by these names. */
const WELL_KNOWN: PublishedFacts['messages'] = {
  'google.protobuf.Any': { type_url: [1, 'string'], value: [2, 'bytes'] },
  'google.protobuf.Duration': { seconds: [1, 'int64'], nanos: [2, 'int32'] },
  'google.protobuf.Empty': {},
  'google.protobuf.FieldMask': { paths: [1, 'repeated string'] },
  'google.protobuf.ListValue': { values: [1, 'repeated google.protobuf.Value'] },
  'google.protobuf.Struct': { fields: [1, 'map<string,google.protobuf.Value>'] },
  'google.protobuf.Timestamp': { seconds: [1, 'int64'], nanos: [2, 'int32'] },
  'google.protobuf.Value': {
    nullValue: [1, 'google.protobuf.NullValue', KIND],
    numberValue: [2, 'double', KIND],
    stringValue: [3, 'string', KIND],
    boolValue: [4, 'bool', KIND],
    structValue: [5, 'google.protobuf.Struct', KIND],
    listValue: [6, 'google.protobuf.ListValue', KIND],
  },
}

const NULL_VALUE: PublishedFacts['enums'] = { 'google.protobuf.NullValue': { NULL_VALUE: 0 } }

/** Every message and enum of the facts, and the well-known types, as protobufjs reflects them. */
export const createProtos = ({ messages, enums }: PublishedFacts): Root => {
  const root: Node = { nested: {} }
  for (const [name, fields] of Object.entries({ ...messages, ...WELL_KNOWN })) {
    const own = Object.fromEntries(Object.entries(fields).map(([field, fact]) => [field, fieldOf(fact)]))
    place(root, name, { fields: own, oneofs: oneofsOf(fields) } satisfies IType)
  }
  for (const [name, values] of Object.entries({ ...enums, ...NULL_VALUE })) place(root, name, { values } satisfies IEnum)
  const proto3 = Object.fromEntries(Object.entries(root.nested).map(([name, node]) => [name, { ...node, edition: 'proto3' }]))
  return protobuf.Root.fromJSON({ nested: proto3 } as INamespace)
}
