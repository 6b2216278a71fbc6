import { isShownIn, nameIn } from '../tables/compile.ts'
import { type EnumMap, type Field, type Fields, type FieldType, type Many, objects } from '../tables/fields.ts'
import { ANY_VALUE } from '../tables/resource.ts'
import { ROWS } from '../tables/turn.ts'
import type { Dialect } from '../tables/uid.ts'
import type { DescribedMessage, DescribedOperation } from './openapi.ts'

/** Returns the name of a component from the name in a table: `role binding request` → `RoleBindingRequest`. */
export function componentName(...words: readonly string[]): string {
  return words
    .flatMap((word) => word.split(/[^A-Za-z0-9]+/))
    .filter((word) => word !== '')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('')
}

/** A JSON Schema of draft 2020-12, the one of OpenAPI 3.1. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Returns a reference to a part of `components`: `refTo('schemas', 'Group')`. */
export function refTo(kind: 'schemas' | 'parameters' | 'responses' | 'headers', name: string): JsonSchema {
  return { $ref: `#/components/${kind}/${name}` }
}

/** Where schemas inside of a schema stand. */
interface Inner {
  /** Returns the reference to an enum. */
  readonly choice: (of: EnumMap) => JsonSchema
  /** Returns the reference to an object, by the name of its message if it has one. */
  readonly object: (fields: Fields, name?: string) => JsonSchema
}

const INT32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }
const UINT32 = { minimum: 0, maximum: 2 ** 32 - 1 }

/** Returns the schema of a set value of this type (facts §16, §19). */
function typeSchema(type: FieldType, inner: Inner): JsonSchema {
  switch (type.kind) {
    case 'text':
      return { type: 'string' }
    case 'flag':
      return { type: 'boolean' }
    case 'int':
      return type.unsigned ? { type: 'integer', format: 'int64', ...UINT32 } : { type: 'integer', format: 'int32', ...INT32 }
    case 'number':
      return { type: 'number' }
    case 'long':
      return { type: 'string', format: 'int64', pattern: '^-?\\d+$' }
    case 'time':
      return { type: 'string', format: 'date-time' }
    case 'duration':
      return { type: 'string', pattern: '^-?\\d+(\\.\\d{1,9})?s$' }
    case 'bytes':
      return { type: 'string', contentEncoding: 'base64', pattern: '^[A-Za-z0-9+/]*={0,2}$' }
    case 'choice':
      return inner.choice(type.of)
    case 'object':
      return type.fields === ANY_VALUE ? {} : inner.object(type.fields, type.name)
    case 'list':
      return { type: 'array', items: itemSchema(type, inner) }
    case 'map':
      return { type: 'object', additionalProperties: itemSchema(type, inner) }
  }
}

function itemSchema({ of, holdsNull }: Many, inner: Inner): JsonSchema {
  const schema = typeSchema(of, inner)
  return holdsNull ? orNull(schema) : schema
}

/** Returns the schema of an enum: the v1 names, those that v2 lacks last. */
function enumSchema({ rows, v1Only }: EnumMap): JsonSchema {
  const lacking = v1Only.map(([name]) => name)
  return {
    type: 'string',
    enum: [...rows.map(([v1]) => v1), ...lacking],
    ...(lacking.length > 0 && { description: `Only a v1 service knows ${lacking.join(', ')}.` }),
  }
}

/** Whether a message is read from a body or shown in an answer. */
type Direction = 'request' | 'answer'

/**
 * Returns the schema of a message. An answer has every member that is not optional, set or not (facts §16.3). A request may have any, and
 * v1 ignores those that it alone writes. `inner` returns where the schemas inside of a member stand.
 */
function objectSchema(
  fields: Fields,
  direction: Direction,
  dialect: Dialect,
  inner: (member: string, direction: Direction) => Inner,
): JsonSchema {
  const members = Object.entries(fields)
    .filter(([, field]) => isShownIn(dialect, field) || (direction === 'request' && field.access === 'writeOnly'))
    .map(([name, field]) => ({ name: nameIn(dialect, name, field), field, schema: memberSchema(name, field, direction, inner) }))
  const required = members
    .filter(({ field }) => direction === 'answer' && field.presence === 'implicit' && !field.mayBeWithheld)
    .map(({ name }) => name)
  const groups = oneofsOf(members)
  return {
    type: 'object',
    ...(groups.length > 0 && { description: groups.map((group) => `At most one of ${group.join(', ')} is present.`).join(' ') }),
    properties: Object.fromEntries(members.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 && { required }),
    ...(groups.length > 0 && { dependentSchemas: Object.fromEntries(groups.flatMap(atMostOne)) }),
  }
}

export const NULL_WHEN_UNSET: ReadonlySet<FieldType['kind']> = new Set(['object', 'time', 'duration'])

/** In an answer, unset messages, times and durations are null; a member that is absent when unset is null only where that is a value. */
function memberSchema(
  name: string,
  field: Field,
  direction: Direction,
  inner: (member: string, direction: Direction) => Inner,
): JsonSchema {
  const { type, presence, lossy } = field
  const isIgnored = direction === 'request' && field.access === 'readOnly'
  const schema = typeSchema(type, inner(name, isIgnored ? 'answer' : direction))
  const isNull = direction === 'answer' && presence === 'implicit' && NULL_WHEN_UNSET.has(type.kind)
  const shown = isNull || field.isNullable ? orNull(schema) : schema
  return { ...shown, ...(isIgnored && { readOnly: true }), ...(lossy !== undefined && { description: lossText(field, lossy) }) }
}

function orNull(schema: JsonSchema): JsonSchema {
  return typeof schema.type === 'string' ? { ...schema, type: [schema.type, 'null'] } : { anyOf: [schema, { type: 'null' }] }
}

function lossText({ source }: Field, lossy: string): string {
  return source === undefined ? `Unset in answers from v2: ${lossy}.` : `In answers from v2: ${lossy}.`
}

function oneofsOf(members: readonly { readonly name: string; readonly field: Field }[]): readonly (readonly string[])[] {
  const groups = new Map<string, string[]>()
  for (const { name, field } of members) if (field.oneof) groups.set(field.oneof, [...(groups.get(field.oneof) ?? []), name])
  return [...groups.values()].filter((group) => group.length > 1)
}

/** Returns for each member but the last that those behind it are absent beside it. Readers that do not know the keyword lose nothing else. */
function atMostOne(names: readonly string[]): readonly (readonly [string, JsonSchema])[] {
  return names.slice(0, -1).map((name, at) => {
    const others = names.slice(at + 1).map((other) => [other, false])
    return [name, { properties: Object.fromEntries(others) }]
  })
}

export type SchemaComponents = ReturnType<typeof createSchemaComponents>

/**
 * Collects the schemas of messages, objects and enums, each once by its name. Each function adds what it returns a reference to. An object
 * that is no message is named after its place: `IdentityClaimMatch`. Throws if two different schemas have one name.
 */
export function createSchemaComponents(operations: readonly DescribedOperation[], dialect: Dialect) {
  const schemas = new Map<string, JsonSchema>()
  const messages = messagesBy(operations, dialect)
  const add = (name: string, schema: JsonSchema) => {
    const known = schemas.get(name)
    if (known && JSON.stringify(known) !== JSON.stringify(schema)) throw new Error(`two schemas have the name ${name}; rename one message`)
    schemas.set(name, schema)
    return refTo('schemas', name)
  }
  const choice = (of: EnumMap) => add(componentName(of.name), enumSchema(of))
  const inside = (name: string) => (member: string, direction: Direction) => ({
    choice,
    object(below: Fields, own?: string) {
      const message = direction === 'answer' ? messages.get(below) : undefined
      if (message) return shown(message)
      if (own !== undefined) return object(direction === 'answer' ? componentName(own) : requestName(own), below, direction)
      return object(componentName(direction === 'answer' ? name.replace(/Request$/, '') : name, member), below, direction)
    },
  })
  const made = new Map<string, Fields>()
  const object = (name: string, fields: Fields, direction: Direction): JsonSchema => {
    if (made.get(name) === fields) return refTo('schemas', name)
    made.set(name, fields)
    return add(name, objectSchema(fields, direction, dialect, inside(name)))
  }
  const shown = (message: DescribedMessage) => object(componentName(message.name), membersOf(message), 'answer')
  return {
    /** Of the body of a request: the message, or the one member of it that is the whole body. */
    request(message: DescribedMessage, member?: string): JsonSchema {
      const wanted = requestName(message.name)
      const fields = membersOf(message)
      const whole = member === undefined ? undefined : fields[member]
      return whole && member ? typeSchema(whole.type, inside(wanted)(member, 'request')) : object(wanted, fields, 'request')
    },
    /** Of a successful answer. */
    answer({ answer, rows, envelope }: Pick<DescribedOperation, 'answer' | 'rows' | 'envelope'>): JsonSchema {
      if (!answer) throw new Error('an operation without an answer has no schema')
      if (!rows) return shown(answer)
      return object(
        `${componentName(answer.name)}List`,
        { [ROWS]: objects(ROWS, membersOf(answer)), ...(envelope && membersOf(envelope)) },
        'answer',
      )
    },
    choice,
    /** Adds a schema that no table has. */
    add,
    /** All schemas so far, by name. */
    all: (): Readonly<Record<string, JsonSchema>> => Object.fromEntries([...schemas].sort(([a], [b]) => (a < b ? -1 : 1))),
  }
}

/** The members of a message, with those that the service adds. */
function membersOf({ fields, shown = fields }: DescribedMessage): Fields {
  return shown
}

function requestName(name: string): string {
  const wanted = componentName(name)
  return wanted.endsWith('Request') ? wanted : `${wanted}Request`
}

/** The messages that an object shows as a whole: by their members, and by those without stamps where this dialect has none. */
function messagesBy(operations: readonly DescribedOperation[], dialect: Dialect): ReadonlyMap<Fields, DescribedMessage> {
  const messages = new Map<Fields, DescribedMessage>()
  for (const { answer } of operations) {
    if (!answer) continue
    messages.set(membersOf(answer), answer)
    const isWhole = Object.entries(membersOf(answer)).every(([name, field]) => name in answer.fields || !isShownIn(dialect, field))
    if (isWhole) messages.set(answer.fields, answer)
  }
  return messages
}
