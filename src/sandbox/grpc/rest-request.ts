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
  /** JSON; undefined for a rule without a body. */
  readonly body: unknown
}

/** The set fields of a message, each with its value. */
const setFields = (type: Type, message: Fields): readonly (readonly [Field, unknown])[] =>
  type.fieldsArray.flatMap((field): (readonly [Field, unknown])[] =>
    Object.hasOwn(message, field.name) ? [[field.resolve(), message[field.name]]] : [],
  )

const jsonOf = (type: Type, field: Field, value: unknown): unknown =>
  protojson.toJson(type, { [field.name]: value })[field.jsonName ?? field.name]

const FIELD_MASK = '.google.protobuf.FieldMask'

/** A query carries scalars and the well-known types that are texts. It has no form for maps and lists of messages. */
const pairsOfField = (type: Type, field: Field, value: unknown, prefix: string, skip: ReadonlySet<string>): readonly Pair[] => {
  const name = prefix + field.name
  if (skip.has(name) || field.map) return []
  const inner = field.resolvedType
  if (inner?.fullName === FIELD_MASK) return [[name, ((value as Fields)['paths'] as readonly string[]).join(',')]]
  if (inner instanceof protobuf.Type && !inner.fullName.startsWith('.google.protobuf.')) {
    return field.repeated ? [] : pairsOf(inner, value as Fields, `${name}.`, skip)
  }
  const json = jsonOf(type, field, value)
  return (Array.isArray(json) ? json : json === undefined ? [] : [json]).map((one): Pair => [name, String(one)])
}

const pairsOf = (type: Type, message: Fields, prefix: string, skip: ReadonlySet<string>): readonly Pair[] =>
  setFields(type, message).flatMap(([field, value]) => pairsOfField(type, field, value, prefix, skip))

/** The text at a path of the message; empty if it or a message around it is unset. */
const textAt = (message: Fields, path: string): string =>
  String(path.split('.').reduce<unknown>((value, name) => (value as Fields | undefined)?.[name], message) ?? '')

/**
 * Reads the REST request of a decoded message. Throws a plain error if the message holds a value without a JSON form, such as a time
 * after the year 9999.
 */
export const restRequestOf = (type: Type, message: Fields, { variables, body }: HttpRule): RestRequest => {
  const values = variables.map((path) => textAt(message, path))
  if (body === '*') {
    const rest = Object.fromEntries(
      setFields(type, message)
        .filter(([{ name }]) => !variables.includes(name))
        .map(([{ name }, value]) => [name, value]),
    )
    return { values, pairs: [], body: protojson.toJson(type, rest) }
  }
  const field = body === undefined ? undefined : type.fields[body]?.resolve()
  const pairs = pairsOf(type, message, '', new Set(body === undefined ? variables : [...variables, body]))
  const content = field && Object.hasOwn(message, field.name) ? jsonOf(type, field, message[field.name]) : {}
  return { values, pairs, body: field ? content : undefined }
}

/** The path of a template with its variables' values in place. */
export const pathOf = (template: string, values: readonly string[]): string => {
  const rest = [...values]
  return template.replace(/\{[^}]*\}/g, () => rest.shift() ?? '')
}
