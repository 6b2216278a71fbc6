import type { EnumMap, Field, Fields, FieldType } from '../../tables/fields.ts'
import type { Param } from '../../tables/query.ts'
import type { FieldFact } from '../facts.ts'
import { type FieldTypeParts, readFieldType } from '../field-type.ts'
import { factAt } from './fact-at.ts'
import { type NamedFacts, wrongFact } from './wrong-fact.ts'

/** The scalars of each kind of member. */
export const SCALARS: FactsSide['scalars'] = {
  text: ['string'],
  flag: ['bool'],
  int: ['int32', 'uint32'],
  long: ['int64'],
  time: ['google.protobuf.Timestamp'],
  duration: ['google.protobuf.Duration'],
  bytes: ['bytes'],
}

/** How the facts of a version are compared with the members of a table. */
export interface FactsSide {
  readonly facts: NamedFacts
  /** Whether the table must have every field of the message. */
  readonly whole?: boolean
  readonly scalars: Readonly<Partial<Record<FieldType['kind'], readonly string[]>>>
  /** The fields of the message that hold a member, as dotted paths. An empty path stands for the message itself. */
  paths(name: string, field: Field): readonly string[]
  /** The values of an enum that a table lists, with their numbers where it has them; undefined if the facts hold it as a string. */
  valuesOf(of: EnumMap): readonly (readonly [name: string, number: number | undefined])[] | undefined
  /** Checks how a member shows that it is unset, and its JSON name. */
  checkPresence?(where: string, field: Field, fact: FieldFact): void
}

/** Compares a message with the members that a table gives it; `by` is the operation that says so. Throws a sentence. */
export function compareMembers(side: FactsSide, by: string, fields: Fields, message: string): void {
  for (const name of side.whole ? Object.keys(side.facts.messages[message] ?? {}) : []) {
    if (!Object.hasOwn(fields, name)) throw wrongFact(side.facts, `${message}.${name}`, `is no member of the answer of ${by}`)
  }
  for (const [name, field] of Object.entries(fields)) {
    for (const path of side.paths(name, field)) {
      if (path === '' && field.type.kind === 'object') compareMembers(side, by, field.type.fields, message)
      if (path === '') continue
      const where = `${message}.${path}`
      const fact = factAt(side.facts, message, path)
      compareType(side, by, where, field.type, fact)
      if (fact) side.checkPresence?.(where, field, fact)
    }
  }
}

/** Compares the type of a member or parameter with the type of its field. Throws a sentence. */
export function compareType(side: FactsSide, by: string, where: string, type: FieldType, fact: FieldFact | undefined): void {
  if (!fact) throw wrongFact(side.facts, where, `is missing; ${by} needs it`)
  const [, text] = fact
  const parts = readFieldType(text)
  if (!parts || !isOfType(side, by, type, parts)) {
    throw wrongFact(side.facts, where, `has type ${text}, but ${by} has another: ${kindOf(type)}`)
  }
}

function kindOf(type: FieldType): string {
  return type.kind === 'list' || type.kind === 'map' ? `${type.kind} of ${kindOf(type.of)}` : type.kind
}

/** A query knows neither the width of an integer nor the form of a mask. */
const QUERY_SCALARS: FactsSide['scalars'] = { int: ['int32', 'uint32', 'int64'], text: ['string', 'google.protobuf.FieldMask'] }

/** Compares the type of a query parameter with the type of its field. Throws a sentence. */
export function compareParam(
  side: FactsSide,
  by: string,
  where: string,
  { kind, of, many, neverTaken }: Param,
  fact: FieldFact | undefined,
): void {
  const single: FieldType = neverTaken ? ANY : kind === 'choice' ? { kind, of: of! } : { kind }
  const type: FieldType = many || neverTaken ? { kind: 'list', of: single } : single
  compareType({ ...side, scalars: { ...side.scalars, ...QUERY_SCALARS } }, by, where, type, fact)
}

/** Compares the list of rows of an answer. Throws a sentence. */
export function compareRows(side: FactsSide, by: string, where: string, fields: Fields, fact: FieldFact | undefined): void {
  compareType(side, by, where, { kind: 'list', of: { kind: 'object', fields } }, fact)
}

/** A value of which no member is known. */
const ANY: FieldType = { kind: 'object', fields: {} }

function isOfType(side: FactsSide, by: string, type: FieldType, { label, key, of }: FieldTypeParts): boolean {
  const isList = type.kind === 'list'
  const isMap = type.kind === 'map'
  if (isList !== (label === 'repeated') || isMap !== (key !== undefined)) return false
  const single = isList || isMap ? type.of : type
  if (single.kind === 'choice') return compareEnum(side, by, single.of, of)
  if (single.kind !== 'object') return side.scalars[single.kind]?.includes(of) ?? false
  if (Object.keys(single.fields).length === 0) return true
  if (!(of in side.facts.messages)) return false
  compareMembers(side, by, single.fields, of)
  return true
}

function compareEnum(side: FactsSide, by: string, table: EnumMap, name: string): boolean {
  const { facts } = side
  const values = side.valuesOf(table)
  if (values === undefined) return name === 'string'
  const known = facts.enums[name]
  if (!known) return false
  for (const [value, number] of values) {
    const own = known[value]
    if (own === undefined) throw wrongFact(facts, `${name}.${value}`, `is missing; ${by} needs it`)
    if (number !== undefined && own !== number) throw wrongFact(facts, `${name}.${value}`, `has number ${own}, but ${by} has ${number}`)
  }
  const names = new Set(values.map(([value]) => value))
  for (const value of side.whole ? Object.keys(known) : []) {
    if (!names.has(value)) throw wrongFact(facts, `${name}.${value}`, `is no value of ${by}`)
  }
  return true
}
