import type { EnumMap, Fields, FieldType } from '../../tables/fields.ts'
import { ANY_VALUE } from '../../tables/resource.ts'
import type { JsonSchema } from './json-schema.ts'

/** Where schemas inside of a schema stand. */
export interface Inner {
  /** Returns the reference to an enum. */
  readonly choice: (of: EnumMap) => JsonSchema
  /** Returns the reference to an object, by the name of its message if it has one. */
  readonly object: (fields: Fields, name?: string) => JsonSchema
}

const INT32 = { minimum: -(2 ** 31), maximum: 2 ** 31 - 1 }
const UINT32 = { minimum: 0, maximum: 2 ** 32 - 1 }

/** Returns the schema of a set value of this type (facts §16, §19). */
export function typeSchema(type: FieldType, inner: Inner): JsonSchema {
  switch (type.kind) {
    case 'text':
      return { type: 'string' }
    case 'flag':
      return { type: 'boolean' }
    case 'int':
      return type.unsigned ? { type: 'integer', format: 'int64', ...UINT32 } : { type: 'integer', format: 'int32', ...INT32 }
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
      return { type: 'array', items: typeSchema(type.of, inner) }
    case 'map':
      return { type: 'object', additionalProperties: typeSchema(type.of, inner) }
  }
}

/** Returns the schema of an enum: the v1 names, those that v2 lacks last. */
export function enumSchema({ rows, v1Only }: EnumMap): JsonSchema {
  const lacking = v1Only.map(([name]) => name)
  return {
    type: 'string',
    enum: [...rows.map(([v1]) => v1), ...lacking],
    ...(lacking.length > 0 && { description: `Only a v1 service knows ${lacking.join(', ')}.` }),
  }
}
