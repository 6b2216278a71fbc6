import type { Field, Fields, FieldType } from '../language/field.ts'
import type { Dialect } from '../language/names.ts'
import type { Operation } from '../operations/operation.ts'
import { ROWS } from '../plan/plan.ts'
import { nameIn } from './show.ts'

/** A JSON Schema, draft-07 and later. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Returns the schema of this operation's successful v1 answer: every member with its type, and no other member (design §3). */
export function answerSchema({ rows, answer, envelope }: Operation, dialect: Dialect): JsonSchema {
  const whole = objectSchema(answer?.shown ?? {}, dialect)
  if (!rows) return whole
  const { properties, required } = objectSchema(envelope?.shown ?? {}, dialect)
  return strictObject({ [ROWS]: { type: 'array', items: whole }, ...properties }, [ROWS, ...required])
}

interface ObjectSchema extends JsonSchema {
  readonly properties: Readonly<Record<string, JsonSchema>>
  readonly required: readonly string[]
}

function strictObject(properties: ObjectSchema['properties'], required: readonly string[]): ObjectSchema {
  return { type: 'object', properties, required, additionalProperties: false }
}

function objectSchema(fields: Fields, dialect: Dialect): ObjectSchema {
  const shown = Object.entries(fields).filter(([, { access, only = dialect }]) => access !== 'writeOnly' && only === dialect)
  const named = shown.map(([name, field]) => ({ name: nameIn(dialect, name, field), field }))
  return strictObject(
    Object.fromEntries(named.map(({ name, field }) => [name, memberSchema(field, dialect)])),
    named.filter(({ field }) => field.presence === 'implicit' && !field.mayBeWithheld).map(({ name }) => name),
  )
}

/** Unset messages, times and durations are null; a member that is absent when unset is never null (facts §16.3). */
function memberSchema({ type, presence }: Field, dialect: Dialect): JsonSchema {
  const schema = typeSchema(type, dialect)
  return presence === 'implicit' && NULL_WHEN_UNSET.has(type.kind) ? { anyOf: [schema, { type: 'null' }] } : schema
}

const NULL_WHEN_UNSET = new Set<FieldType['kind']>(['object', 'time', 'duration'])

const INT32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }

function typeSchema(type: FieldType, dialect: Dialect): JsonSchema {
  switch (type.kind) {
    case 'text':
      return { type: 'string' }
    case 'flag':
      return { type: 'boolean' }
    case 'int':
      return { type: 'integer', ...INT32, ...(type.unsigned && { minimum: 0 }) }
    case 'long':
      return { type: 'string', pattern: '^-?\\d+$' }
    case 'time':
      return { type: 'string', format: 'date-time' }
    case 'duration':
      return { type: 'string', pattern: '^-?\\d+(\\.\\d{1,9})?s$' }
    case 'bytes':
      return { type: 'string', pattern: '^[A-Za-z0-9+/]*={0,2}$' }
    case 'choice':
      return { type: 'string', enum: type.of.rows.map(([v1]) => v1) }
    case 'object':
      return objectSchema(type.fields, dialect)
    case 'list':
      return { type: 'array', items: typeSchema(type.of, dialect) }
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.of, dialect) }
  }
}
