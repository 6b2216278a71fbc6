import protobuf from 'protobufjs'
import { enums, type FieldFact, messages } from './facts.ts'

type Nested = Record<string, { nested?: Nested; [key: string]: unknown }>

const WELL_KNOWN = ['any', 'duration', 'timestamp', 'empty', 'struct', 'field_mask']

/** The types of the published protos, for a codec that the proxy does not have. */
export const wireTypes: protobuf.Root = protobuf.Root.fromJSON({ nested: tree() } as protobuf.INamespace)

function tree(): Nested {
  const root: Nested = {}
  const google = within(root, ['google', 'protobuf'])
  for (const name of WELL_KNOWN) {
    const { nested } = protobuf.common.get(`google/protobuf/${name}.proto`) as unknown as { nested: Nested }
    Object.assign(google, nested['google']?.nested?.['protobuf']?.nested)
  }
  for (const [name, fields] of messages) place(root, name, { edition: 'proto3', ...described(fields) })
  for (const [name, values] of enums) place(root, name, { edition: 'proto3', values })
  return root
}

function place(root: Nested, name: string, what: object): void {
  const parts = name.split('.')
  const own = parts.pop() ?? ''
  const room = within(root, parts)
  room[own] = { ...room[own], ...what }
}

function within(root: Nested, parts: readonly string[]): Nested {
  return parts.reduce((room, part) => {
    room[part] ??= {}
    room[part].nested ??= {}
    return room[part].nested
  }, root)
}

function described(fields: readonly FieldFact[]) {
  const oneofs: Record<string, { oneof: string[] }> = {}
  const add = (name: string, field: string) => {
    oneofs[name] ??= { oneof: [] }
    oneofs[name].oneof.push(field)
  }
  const entries = fields.map(({ proto, number, type, shape, keys, optional, oneof }) => {
    if (oneof !== undefined) add(oneof, proto)
    if (optional) add(`_${proto}`, proto)
    const more =
      shape === 'list' ? { rule: 'repeated' } : shape === 'map' ? { keyType: keys } : optional ? { options: { proto3_optional: true } } : {}
    return [proto, { id: number, type, ...more }]
  })
  return { fields: Object.fromEntries(entries), oneofs }
}
