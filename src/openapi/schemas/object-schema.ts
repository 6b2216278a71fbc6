import { isShownIn, nameIn } from '../../tables/compile.ts'
import type { Field, Fields, FieldType } from '../../tables/fields.ts'
import type { Dialect } from '../../tables/uid.ts'
import type { JsonSchema } from './json-schema.ts'
import { type Inner, typeSchema } from './type-schema.ts'

/** Whether a message is read from a body or shown in an answer. */
export type Direction = 'request' | 'answer'

/**
 * Returns the schema of a message. An answer has every member that is not optional, set or not (facts §16.3). A request may have any, and
 * v1 ignores those that it alone writes. `inner` returns where the schemas inside of a member stand.
 */
export function objectSchema(
  fields: Fields,
  direction: Direction,
  dialect: Dialect,
  inner: (member: string, direction: Direction) => Inner,
): JsonSchema {
  const members = Object.entries(fields)
    .filter(([, field]) => isShownIn(dialect, field) || (direction === 'request' && field.access === 'writeOnly'))
    .map(([name, field]) => ({ name: nameIn(dialect, name, field), field, schema: memberSchema(name, field, direction, inner) }))
  const required = members.filter(({ field }) => direction === 'answer' && isAlwaysShown(field)).map(({ name }) => name)
  const groups = oneofsOf(members)
  return {
    type: 'object',
    ...(groups.length > 0 && { description: groups.map((group) => `At most one of ${group.join(', ')} is present.`).join(' ') }),
    properties: Object.fromEntries(members.map(({ name, schema }) => [name, schema])),
    ...(required.length > 0 && { required }),
    ...(groups.length > 0 && { dependentSchemas: Object.fromEntries(groups.flatMap(atMostOne)) }),
  }
}

function isAlwaysShown({ presence, mayBeWithheld }: Field): boolean {
  return presence === 'implicit' && !mayBeWithheld
}

const NULL_WHEN_UNSET = new Set<FieldType['kind']>(['object', 'time', 'duration'])

/** In an answer, unset messages, times and durations are null; a member that is absent when unset is never null. */
function memberSchema(
  name: string,
  field: Field,
  direction: Direction,
  inner: (member: string, direction: Direction) => Inner,
): JsonSchema {
  const { type, presence, lossy } = field
  const isIgnored = direction === 'request' && field.access === 'readOnly'
  const schema = typeSchema(type, inner(name, isIgnored ? 'answer' : direction))
  const shown = direction === 'answer' && presence === 'implicit' && NULL_WHEN_UNSET.has(type.kind) ? orNull(schema) : schema
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
