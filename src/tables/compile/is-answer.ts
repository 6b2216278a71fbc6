import { isObject, type JsonObject } from '../json.ts'
import type { Field, Fields, FieldType, Source } from '../language/field.ts'

type IsAnswer = (v2: JsonObject) => boolean

/**
 * Compiles a field table into the test whether an object is such a message of v2. A message with a uid must have it (specification §1).
 * Any other must have at least one of its members, and its lists must hold the right rows. The empty message needs no member. proto3 could
 * write a message of unset members as `{}`, but v2 always shows lists, numbers and flags (ASSUMPTIONS.md of the sandbox, "Answers").
 */
export function compileIsAnswer(fields: Fields): IsAnswer {
  const rows = Object.values(fields)
  if (rows.length === 0) return (v2) => Object.keys(v2).length === 0
  if (hasUid(fields)) return isIdentified
  const members = new Set(rows.flatMap(membersOf))
  const lists = rows.flatMap(listOf)
  return (v2) => Object.keys(v2).some((member) => members.has(member)) && lists.every((isList) => isList(v2))
}

/** True if the message's v2 form has a uid. */
export function hasUid(fields: Fields): boolean {
  return Object.values(fields).some(({ source }) => source === 'uid')
}

/** True if this v2 form has a uid. */
export function isIdentified({ uid }: JsonObject): boolean {
  return typeof uid === 'string' && uid !== ''
}

/** Returns the members of the v2 form that a field is made from. */
function membersOf({ source, type }: Field): readonly string[] {
  if (source === '' && type.kind === 'object') return Object.values(type.fields).flatMap(membersOf)
  return source === undefined ? [] : namesIn(source)
}

function namesIn(source: Source): readonly string[] {
  if (typeof source === 'string') return source.split('.', 1)
  return 'parentOf' in source ? namesIn(source.parentOf) : source.firstOf.flatMap(namesIn)
}

/** Returns the test of a list: absent, or of valid rows only. */
function listOf({ source, type }: Field): readonly IsAnswer[] {
  if (typeof source !== 'string' || type.kind !== 'list') return []
  const isItem = itemOf(type.of)
  return [({ [source]: list }) => list === undefined || list === null || (Array.isArray(list) && list.every(isItem))]
}

function itemOf(type: FieldType): (item: unknown) => boolean {
  if (type.kind !== 'object') return (item) => typeof item !== 'object'
  const isRow = hasUid(type.fields) ? isIdentified : () => true
  return (item) => isObject(item) && isRow(item)
}
