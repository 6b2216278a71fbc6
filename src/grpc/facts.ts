import { readFileSync } from 'node:fs'
import type { DescField, DescMessage, MessageInitShape } from '@bufbuild/protobuf'
import { type DescriptorProtoSchema, FieldDescriptorProto_Label as Label, FieldDescriptorProto_Type as Type } from '@bufbuild/protobuf/wkt'
import { ApiError } from '../errors.ts'
import { MOST_VALUES } from '../tables/json.ts'
import type { Method } from '../tables/operation.ts'

/** What is known of a field: its number, its type as a proto file writes it, its oneof, and its JSON name where that is not derived. */
export type FieldFact = readonly [number: number, type: string, more?: { readonly oneof?: string; readonly json?: string }]

/** The verb of an http rule, beside the member of the message that is the body (`*`: all of it). */
export type HttpFact = Readonly<Partial<Record<'get' | 'put' | 'post' | 'delete' | 'patch' | 'body', string>>>

/** What is known of a method. */
export interface MethodFact {
  readonly in: string
  readonly out: string
  readonly http?: HttpFact
  /** It answers with a stream of messages, or takes a stream as well. */
  readonly streams?: 'answers' | 'both'
}

type Named<T> = Readonly<Record<string, T>>

/** What the protos of one version say: `mappings/grpc/v1.json`. A nested type carries the name of its outer one. */
export interface Facts {
  readonly services: Named<Named<MethodFact>>
  readonly messages: Named<Named<FieldFact>>
  readonly enums: Named<Named<number>>
}

/** The facts of both versions. */
export interface FactsOfBoth {
  readonly v1: Facts
  readonly v2: Facts
}

const FOLDER = new URL('../../mappings/grpc/', import.meta.url)

/** The file with the facts of a version, or of the services that gRPC has for itself (health, reflection). */
export function factsFile(api: 'v1' | 'v2' | 'standard', folder = FOLDER): URL {
  return new URL(`${api}.json`, folder)
}

/** Reads the facts anew, so that nobody retains them: an import would, and Node 20 warns of one. Throws a sentence if a file is no JSON. */
export function readFacts(folder = FOLDER): FactsOfBoth {
  return { v1: readFile('v1', folder), v2: readFile('v2', folder) }
}

function readFile(api: 'v1' | 'v2', folder: URL): Facts {
  const text = readFileSync(factsFile(api, folder), 'utf8')
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Error(`mappings/grpc/${api}.json is not JSON: ${(error as Error).message}`)
  }
}

function renamedKeys<T, U>(record: Named<T>, renamed: (name: string) => string, value: (value: T) => U): Named<U> {
  return Object.fromEntries(Object.entries(record).map(([name, member]) => [renamed(name), value(member)]))
}

/** Returns the same facts under other names. */
export function renamedFacts({ services, messages, enums }: Facts, renamed: (name: string) => string): Facts {
  return {
    services: renamedKeys(services, renamed, (methods) =>
      renamedKeys(methods, renamed, (method) => ({ ...method, in: renamed(method.in), out: renamed(method.out) })),
    ),
    messages: renamedKeys(messages, renamed, (fields) =>
      renamedKeys(fields, renamed, ([number, type, more = {}]): FieldFact => [number, renamed(type), more]),
    ),
    enums: renamedKeys(enums, renamed, (values) => values),
  }
}

/** Returns the facts of v2beta1: its messages, numbers and rules are those of v2, in other packages. */
export function v2beta1Of(v2: Facts): Facts {
  return renamedFacts(v2, (name) => name.replace('.v2.', '.v2beta1.'))
}

/** The parts of a field's type. */
export interface FieldTypeParts {
  readonly label: 'repeated' | 'optional' | undefined
  /** The type of a map's key. */
  readonly key: string | undefined
  /** A scalar, a message or an enum; of a map, the type of its values. */
  readonly of: string
}

/** A type as a proto file writes it: `repeated string`, `map<string,int32>`. */
const TYPE = /^(?:(repeated|optional) ([\w.]+)|map<(\w+),([\w.]+)>|([\w.]+))$/

/** Reads `optional string`. Returns undefined if the text is no type. */
export function readFieldType(text: string): FieldTypeParts | undefined {
  const parts = TYPE.exec(text)
  if (!parts) return undefined
  const [, label, labelled, key, value, single] = parts
  return { label: label as FieldTypeParts['label'], key, of: labelled ?? value ?? single ?? '' }
}

/** `sync_config` → `syncConfig`: the JSON name that protoc derives. */
export function jsonNameOf(field: string): string {
  return field.replace(/_+(.?)/g, (_, letter: string) => letter.toUpperCase())
}

/** The fewest bytes of a field: its tag and an empty value. Elements of a packed list take one each, and are few enough then. */
const LEAST = 2

/**
 * Refuses bytes that hold more fields than a body of JSON may hold values: INVALID_ARGUMENT. An empty message takes two bytes, and a hundred
 * times as many once it is decoded. Bytes that are no message are left for the decoder to refuse.
 */
export function boundFields(message: DescMessage, bytes: Uint8Array): void {
  if (bytes.length <= LEAST * MOST_VALUES) return
  const reader: Reader = { bytes, at: 0, left: MOST_VALUES }
  count(reader, bytes.length, innerOf(message))
}

interface Reader {
  readonly bytes: Uint8Array
  at: number
  /** The number of fields that may still come. */
  left: number
}

/** What a field holds: fields of its own, elements, or neither. */
type Inner = (number: number) => Inner | 'packed' | undefined

function count(reader: Reader, end: number, inner: Inner): void {
  while (reader.at < end) {
    const tag = varint(reader, end)
    take(reader, 1)
    const type = tag & 7
    if (type === VARINT) varint(reader, end)
    else if (type === LENGTH_DELIMITED) {
      const length = varint(reader, end)
      const close = Math.min(end, reader.at + length)
      const within = inner(Math.floor(tag / 8))
      if (typeof within === 'function') count(reader, close, within)
      else if (within === 'packed') take(reader, length)
      reader.at = close
    } else reader.at += SIZES[type] ?? 0
  }
}

const VARINT = 0
const LENGTH_DELIMITED = 2

/** Bytes of the values of the other types. A group has none of its own: its fields follow. */
const SIZES: Readonly<Record<number, number>> = { 1: 8, 5: 4 }

function take(reader: Reader, fields: number): void {
  reader.left -= fields
  if (reader.left < 0) throw new ApiError('INVALID_ARGUMENT', `the message holds more than ${MOST_VALUES} values`)
}

function varint(reader: Reader, end: number): number {
  let value = 0
  for (let scale = 1; reader.at < end; scale *= 128) {
    const byte = reader.bytes[reader.at++]!
    value += (byte & 127) * scale
    if (byte < 128) break
  }
  return value
}

const inners = new WeakMap<DescMessage, Inner>()

function innerOf(message: DescMessage): Inner {
  let inner = inners.get(message)
  if (!inner) {
    const fields = new Map(message.fields.map((field) => [field.number, field]))
    inner = (number) => withinField(fields.get(number))
    inners.set(message, inner)
  }
  return inner
}

function withinField(field: DescField | undefined): Inner | 'packed' | undefined {
  if (field?.message) return field.fieldKind === 'map' ? entryOf(field.message) : innerOf(field.message)
  if (field?.fieldKind === 'map') return entryOf(undefined)
  return field?.fieldKind === 'list' && field.packed ? 'packed' : undefined
}

/** An entry of a map holds a key and a value. */
function entryOf(value: DescMessage | undefined): Inner {
  return (number) => (number === 2 && value ? innerOf(value) : undefined)
}

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
      const entry = mapEntryOf(name, parts.key, parts.of, isEnum)
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
function mapEntryOf(field: string, key: string, value: string, isEnum: IsEnum) {
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

/** The REST request that says the same as a gRPC call. */
export interface HttpRule {
  readonly method: Method
  /** The path with variables: `{id=**}` spans slashes, `{id}` does not. A variable may name a field of a field: `{subscription.id=**}`. */
  readonly template: string
  /** The field that is the body, or `*` for all fields that the path does not take. The others are the query. */
  readonly body: string | undefined
}

const METHODS = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const

/** Returns the rule that the facts of a method state; undefined if they state none. */
export function ruleOf(http: HttpFact | undefined): HttpRule | undefined {
  for (const [verb, method] of Object.entries(METHODS)) {
    const template = http?.[verb as keyof typeof METHODS]
    if (template !== undefined) return { method, template, body: http?.body }
  }
  return undefined
}

/**
 * Returns the route without the names of its variables: `GET /iam/v1/roles/{}`. The tables write `{id=**}` for `{id=*}`, and name the
 * variable of an update alone (`{id=**}` for `{subscription.id=**}`).
 */
export function routeOf({ method, template }: Pick<HttpRule, 'method' | 'template'>): string {
  return `${method} ${template.replace(/\{[^{}]+\}/g, '{}')}`
}

/** `/package.Service/Method` → `package.Service`. */
export function serviceIn(path: string): string {
  return path.slice(1, path.lastIndexOf('/'))
}

/** `/package.Service/Method` → `Method`. */
export function methodIn(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
