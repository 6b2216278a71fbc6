import type { MessageInitShape } from '@bufbuild/protobuf'
import { type DescriptorProtoSchema, FieldDescriptorProto_Label as Label, FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import type { FieldFact } from './facts.ts'
import { jsonNameOf, readFieldType } from './field-type.ts'

export type MessageInit = MessageInitShape<typeof DescriptorProtoSchema>
type FieldInit = NonNullable<MessageInit['field']>[number]
type IsEnum = (type: string) => boolean

/** The scalar types that the facts use. */
const SCALARS: Readonly<Record<string, Type>> = {
  bool: Type.BOOL,
  bytes: Type.BYTES,
  int32: Type.INT32,
  int64: Type.INT64,
  string: Type.STRING,
  uint32: Type.UINT32,
}

/** The descriptor of a message without its name. Of the types that are nested in it, it has the entries of its maps alone. */
interface OwnDescriptor {
  readonly field: FieldInit[]
  readonly oneofDecl: { readonly name: string }[]
  readonly entries: readonly MessageInit[]
}

/** Returns the descriptor of a message from the facts of its fields. */
export function messageDescriptor(typeName: string, fields: Readonly<Record<string, FieldFact>>, isEnum: IsEnum): OwnDescriptor {
  const oneofs = oneofsOf(fields)
  const entries: MessageInit[] = []
  const field = Object.entries(fields).map(([name, [number, text, more]]): FieldInit => {
    const parts = readFieldType(text)
    if (!parts) throw new Error(`${typeName}.${name}: ${text} is no type`)
    const base = { name, number, jsonName: more?.json ?? jsonNameOf(name), label: Label.REPEATED }
    if (parts.key !== undefined) {
      const entry = entryOf(name, parts.key, parts.of, isEnum)
      entries.push(entry)
      return { ...base, type: Type.MESSAGE, typeName: `.${typeName}.${entry.name}` }
    }
    if (parts.label === 'repeated') return { ...base, ...typeOf(parts.of, isEnum) }
    const single = { ...base, ...typeOf(parts.of, isEnum), label: Label.OPTIONAL }
    if (parts.label === 'optional') return { ...single, proto3Optional: true, oneofIndex: oneofs.indexOf(`_${name}`) }
    return more?.oneof === undefined ? single : { ...single, oneofIndex: oneofs.indexOf(more.oneof) }
  })
  return { field, oneofDecl: oneofs.map((name) => ({ name })), entries }
}

/** protoc puts each optional field into a oneof of its own. These follow those that are written. */
function oneofsOf(fields: Readonly<Record<string, FieldFact>>): readonly string[] {
  const rows = Object.entries(fields)
  const written = new Set(rows.flatMap(([, [, , more]]) => more?.oneof ?? []))
  return [...written, ...rows.filter(([, [, type]]) => type.startsWith('optional ')).map(([name]) => `_${name}`)]
}

function typeOf(type: string, isEnum: IsEnum) {
  const scalar = SCALARS[type]
  if (scalar !== undefined) return { type: scalar }
  return { type: isEnum(type) ? Type.ENUM : Type.MESSAGE, typeName: `.${type}` }
}

/** A map is a repeated message with a key and a value. */
function entryOf(field: string, key: string, value: string, isEnum: IsEnum) {
  const members = [
    ['key', 1, key],
    ['value', 2, value],
  ] as const
  return {
    name: `${jsonNameOf(`_${field}`)}Entry`,
    field: members.map(([name, number, type]) => ({ name, jsonName: name, number, label: Label.OPTIONAL, ...typeOf(type, isEnum) })),
    options: { mapEntry: true },
  }
}
