import { isShownIn, nameIn } from '../../../src/tables/compile.ts'
import type { EnumMap, Field, Fields, FieldType } from '../../../src/tables/fields.ts'
import { ANY_VALUE } from '../../../src/tables/resource.ts'
import type { Dialect } from '../../../src/tables/uid.ts'

/** Enums with more values than this have them on a page of their own. */
export const MOST_VALUES_IN_TEXT = 8

/** A member of a v1 message in words. */
export interface TypedMember {
  /** Dotted; `[]` stands for every row of a list, `*` for every key of a map. */
  readonly path: string
  readonly type: string
}

const WORDS: Readonly<Record<string, string>> = {
  text: 'text',
  flag: 'true or false',
  int: '32-bit number',
  long: '64-bit number, as text',
  time: 'time (RFC 3339)',
  duration: 'duration, such as `3600s`',
  bytes: 'bytes, as base64',
}

/** Returns every member of a message with its type, in the order of its table. */
export function typedMembers(fields: Fields, dialect: Dialect, isAnswer: boolean, prefix = ''): readonly TypedMember[] {
  return Object.entries(fields)
    .filter(([, field]) => !isAnswer || isShownIn(dialect, field))
    .flatMap(([name, field]) => {
      const path = prefix + nameIn(dialect, name, field)
      const { type, suffix } = innerOf(field.type)
      const below = type.kind === 'object' ? typedMembers(type.fields, dialect, isAnswer, `${path}${suffix}.`) : []
      return [{ path, type: typeText(field.type) + presenceText(field, isAnswer) }, ...below]
    })
}

/** Returns a type in a few words: `list of text`, ``one of `A`, `B` ``. */
export function typeText(type: FieldType): string {
  if (type.kind === 'choice') return enumText(type.of)
  if (type.kind === 'object') return type.fields === ANY_VALUE ? 'anything' : 'object'
  if (type.kind === 'list') return type.of.kind === 'choice' ? `list, each ${enumText(type.of.of)}` : `list of ${typeText(type.of)}`
  if (type.kind === 'map') return `map of ${typeText(type.of)}`
  return type.kind === 'int' && type.unsigned ? '32-bit number from 0' : (WORDS[type.kind] ?? type.kind)
}

/** Returns the values of an enum in v1, or their number where they are many. */
export function enumText(of: EnumMap): string {
  const values = valuesOf(of)
  if (values.length > MOST_VALUES_IN_TEXT) return `one of ${values.length} values: \`${of.name}\``
  return `one of ${values.map((value) => `\`${value}\``).join(', ')}`
}

/** The v1 names of an enum, those that v2 lacks last. */
export function valuesOf({ rows, v1Only }: EnumMap): readonly string[] {
  return [...rows.map(([name]) => name), ...v1Only.map(([name]) => name)]
}

function presenceText({ presence, oneof, access }: Field, isAnswer: boolean): string {
  if (!isAnswer) return access === 'readOnly' ? '; output only' : ''
  if (oneof !== undefined) return `; absent unless it is the set one of ${oneof}`
  return presence === 'optional' ? '; absent when unset' : ''
}

function innerOf(type: FieldType): { readonly type: FieldType; readonly suffix: string } {
  if (type.kind === 'list') return { type: type.of, suffix: '[]' }
  return type.kind === 'map' ? { type: type.of, suffix: '.*' } : { type, suffix: '' }
}
