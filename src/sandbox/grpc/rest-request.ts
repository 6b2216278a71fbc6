import protojson from 'protobufjs/ext/protojson.js'
import protobuf, { type Field, type Type } from 'protobufjs/light.js'
import type { HttpRule } from './grpc-method.ts'

type Fields = Readonly<Record<string, unknown>>
type Pair = readonly [string, string]

/** The REST request of a message by its http rule, as a gateway would send it. */
export type RestRequest = {
  /** The values of the template's variables, in order. */
  readonly values: readonly string[]
  readonly pairs: readonly Pair[]
  /** JSON. Without a body in the rule, it holds what a query cannot carry, maps and lists of messages; undefined if there is none. */
  readonly body: unknown
}

/** The set fields of a message, each with its value. */
const setFields = (type: Type, message: Fields): readonly (readonly [Field, unknown])[] =>
  type.fieldsArray.flatMap((field): (readonly [Field, unknown])[] =>
    Object.hasOwn(message, field.name) ? [[field.resolve(), message[field.name]]] : [],
  )

const jsonOf = (type: Type, field: Field, value: unknown): unknown =>
  protojson.toJson(type, { [field.name]: value })[field.jsonName ?? field.name]

/** True for a message that is not one of the well-known types, which JSON writes as texts. */
const isOwnMessage = ({ resolvedType }: Field): boolean =>
  resolvedType instanceof protobuf.Type && !resolvedType.fullName.startsWith('.google.protobuf.')

const FIELD_MASK = '.google.protobuf.FieldMask'

/** A query carries scalars and the well-known types that are texts. It has no form for maps and lists of messages. */
const pairsOfField = (type: Type, field: Field, value: unknown, prefix: string, skip: ReadonlySet<string>): readonly Pair[] => {
  const name = prefix + field.name
  if (skip.has(name) || field.map) return []
  const inner = field.resolvedType
  if (inner?.fullName === FIELD_MASK) return [[name, ((value as Fields)['paths'] as readonly string[]).join(',')]]
  if (isOwnMessage(field)) return field.repeated ? [] : pairsOf(inner as Type, value as Fields, `${name}.`, skip)
  const json = jsonOf(type, field, value)
  return (Array.isArray(json) ? json : json === undefined ? [] : [json]).map((one): Pair => [name, String(one)])
}

const pairsOf = (type: Type, message: Fields, prefix: string, skip: ReadonlySet<string>): readonly Pair[] =>
  setFields(type, message).flatMap(([field, value]) => pairsOfField(type, field, value, prefix, skip))

/** The text at a path of the message; empty if it or a message around it is unset. */
const textAt = (message: Fields, path: string): string =>
  String(path.split('.').reduce<unknown>((value, name) => (value as Fields | undefined)?.[name], message) ?? '')

/** The JSON of the set fields that pass `keep`; undefined without any. */
const jsonOfSome = (type: Type, message: Fields, keep: (field: Field) => boolean): unknown => {
  const kept = setFields(type, message).flatMap(([field, value]) => (keep(field) ? [[field.name, value] as const] : []))
  return kept.length === 0 ? undefined : protojson.toJson(type, Object.fromEntries(kept))
}

const bodyOf = (type: Type, message: Fields, { variables, body }: HttpRule): unknown => {
  if (body === undefined) return jsonOfSome(type, message, (field) => field.map || (field.repeated && isOwnMessage(field)))
  if (body === '*') return jsonOfSome(type, message, ({ name }) => !variables.includes(name)) ?? {}
  const field = type.fields[body]?.resolve()
  return field && Object.hasOwn(message, field.name) ? jsonOf(type, field, message[field.name]) : {}
}

/**
 * Reads the REST request of a decoded message. Throws a plain error if the message holds a value without a JSON form, such as a time
 * after the year 9999.
 */
export const restRequestOf = (type: Type, message: Fields, rule: HttpRule): RestRequest => {
  const { variables, body = '' } = rule
  const pairs = body === '*' ? [] : pairsOf(type, message, '', new Set([...variables, body]))
  return { values: variables.map((path) => textAt(message, path)), pairs, body: bodyOf(type, message, rule) }
}

/** The path of a template with its variables' values in place. */
export const pathOf = (template: string, values: readonly string[]): string => {
  const rest = [...values]
  return template.replace(/\{[^{}]*\}/g, () => rest.shift() ?? '')
}
