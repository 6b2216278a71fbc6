import { isDeepStrictEqual } from 'node:util'
import { type FieldViolation, invalidArgument, MOST_VIOLATIONS, wrongMember } from '../errors.ts'
import {
  type EnumMap,
  type Field,
  type Fields,
  type FieldType,
  instant,
  isBase64,
  isDuration,
  isEnumName,
  isExact,
  isInt32,
  isInt64,
  isInteger,
  isTimestamp,
  type Many,
  requirement,
  type Source,
  WITHHELD,
} from './fields.ts'
import { at, isObject, type JsonObject } from './json.ts'
import type { Env, Operation } from './operation.ts'
import type { ReadBack } from './operations.ts'
import type { MaskRule } from './resource.ts'
import { camelCase, type Dialect, parentUid, snakeCase } from './uid.ts'

/** Two functions between v2's value and the value that v1's type describes. */
export interface Convert {
  readonly show: (v2: unknown) => unknown
  /** Absent for a member that v1 only shows. Undefined says that the value makes no sense; `must` then says what it must be. */
  readonly read?: (v1: unknown) => unknown
  readonly must?: string
}

/** Returns the value as v1's type describes it; undefined or null if v2 has none. */
export function shownWith({ show }: Convert, value: unknown): unknown {
  return value === undefined || value === null ? value : show(value)
}

/** v2 form → v1 form, in one dialect. Never mutates its argument. Throws INTERNAL, which names the member, if one has a wrong type. */
export type Show = (v2: JsonObject) => JsonObject

type Emit = (value: unknown) => unknown

/**
 * Compiles a field table into the function that writes the v1 form, with unset members (facts §16.3). It runs once, at start.
 * `place` is where the message stands in v2's answer.
 */
export function compileShow(fields: Fields, dialect: Dialect, place = ''): Show {
  const rows = Object.entries(fields)
    .filter(([, field]) => isShownIn(dialect, field))
    .map(([name, field]) => ({
      name: nameIn(dialect, name, field),
      get: shownBy(field),
      emit: emitter(field.type, dialect, placeOf(field.source, place)),
      isShown: isShown(field),
      isNullable: field.isNullable,
    }))
  return (v2) => {
    const v1: Record<string, unknown> = {}
    for (const { name, get, emit, isShown, isNullable } of rows) {
      const value = get(v2)
      if (isNullable && value === null) v1[name] = null
      else if (isShown(value)) v1[name] = emit(value)
    }
    return v1
  }
}

/** Returns what reads a field's value from the v2 form, as v1's type describes it. */
function shownBy({ source, convert }: Field): (v2: JsonObject) => unknown {
  const get = getter(source)
  if (!convert) return get
  return (v2) => shownWith(convert, get(v2))
}

/** True if answers in this dialect have the field at all. */
export function isShownIn(dialect: Dialect, { access, only = dialect }: Field): boolean {
  return access !== 'writeOnly' && only === dialect
}

/** Returns the test for which v2 values v1 shows the field. */
export function isShown({ presence, zeroIsUnset, mayBeWithheld }: Field): (value: unknown) => boolean {
  if (presence === 'implicit') return mayBeWithheld ? isTold : () => true
  return zeroIsUnset ? isNonZero : isPresent
}

const isTold = (value: unknown) => value !== WITHHELD
const isPresent = (value: unknown) => value !== undefined && value !== null
const isNonZero = (value: unknown) => isPresent(value) && value !== 0 && value !== '0'

export function nameIn(dialect: Dialect, name: string, field: Field): string {
  return dialect === 'specification' ? name : (field.json ?? camelCase(name))
}

/** Returns a function that reads one source from the v2 form; `''` is the form itself. */
export function getter(source: Source | undefined): (v2: JsonObject) => unknown {
  if (source === undefined) return () => undefined
  if (source === '') return (v2) => v2
  if (typeof source === 'string') {
    const path = source.split('.')
    return path.length === 1 ? (v2) => v2[source] : (v2) => within(v2, path)
  }
  if ('parentOf' in source) {
    const uid = getter(source.parentOf)
    return (v2) => {
      const value = uid(v2)
      return typeof value === 'string' ? parentUid(value) : undefined
    }
  }
  const getters = source.firstOf.map(getter)
  return (v2) => {
    for (const get of getters) {
      const value = get(v2)
      if (value !== undefined && value !== null && value !== '') return value
    }
    return undefined
  }
}

/** Returns the value at a dotted path. Throws if a member on the way is not an object: v2 did not send what stands below it. */
function within(v2: JsonObject, path: readonly string[]): unknown {
  let value: unknown = v2
  for (const [depth, member] of path.entries()) {
    if (value === undefined || value === null) return undefined
    if (!isObject(value)) throw wrongMember(path.slice(0, depth).join('.'), 'must be an object')
    value = Object.hasOwn(value, member) ? value[member] : undefined
  }
  return value
}

/** Returns the path of a source in v2's answer, for people to read. */
export function placeOf(source: Source | undefined, below = ''): string {
  if (source === undefined || source === '') return below
  if (typeof source === 'string') return below === '' ? source : `${below}.${source}`
  return placeOf('parentOf' in source ? source.parentOf : source.firstOf[0], below)
}

/**
 * Returns what writes one v2 value in the v1 form, in one dialect. An absent value becomes the unset one. Where ProtoJSON has two spellings
 * of a value, both are read. Any other value is none of this type, and throws: the unset value in its place would be one that v2 did not say.
 */
export function emitter(type: FieldType, dialect: Dialect, place: string): Emit {
  const write = valueWriter(type, dialect, place)
  return (value) => (value === undefined || value === null ? unsetOf(type) : write(value))
}

/** Returns what v1 shows if v2 has no value. */
function unsetOf(type: FieldType): unknown {
  switch (type.kind) {
    case 'text':
    case 'bytes':
      return ''
    case 'flag':
      return false
    case 'int':
    case 'number':
      return 0
    case 'long':
      return '0'
    case 'choice':
      return type.of.zero[0]
    case 'list':
      return []
    case 'map':
      return {}
    default:
      return null
  }
}

/** Returns what writes a value that is there. */
function valueWriter(type: FieldType, dialect: Dialect, place: string): Emit {
  switch (type.kind) {
    case 'text':
      return (value) => (typeof value === 'string' ? value : wrong(place, 'must be a string'))
    case 'bytes':
      return (value) => (isBase64(value) ? value : wrong(place, 'must be base64 text'))
    case 'flag':
      return (value) => (typeof value === 'boolean' ? value : wrong(place, 'must be true or false'))
    case 'int':
      return (value) => intIn(value, type.unsigned === true) ?? wrong(place, 'must be a 32-bit integer')
    case 'number':
      return (value) => (isExact(value) ? value : wrong(place, 'must be a number of up to 53 bits'))
    case 'long':
      return (value) => longIn(value) ?? wrong(place, 'must be a 64-bit integer')
    case 'time':
      return (value) => (isTimestamp(value) ? value : wrong(place, 'must be an RFC 3339 timestamp'))
    case 'duration':
      return (value) => (isDuration(value) ? value : wrong(place, 'must be a duration in seconds such as "3600s"'))
    case 'choice':
      return (value) => type.of.toV1.get(value) ?? unknownChoice(value, type.of, place) ?? type.of.zero[0]
    case 'object': {
      const show = compileShow(type.fields, dialect, place)
      return (value) => (isObject(value) ? show(value) : wrong(place, 'must be an object'))
    }
    case 'list':
      return listWriter(type, dialect, place)
    case 'map':
      return mapWriter(type, dialect, place)
  }
}

function wrong(place: string, must: string): never {
  throw wrongMember(place, must)
}

/** A value that a newer v2 has is unknown. By number it is one only where the numbers are known. */
function unknownChoice(value: unknown, { name, rows }: EnumMap, place: string): undefined {
  const isOne =
    typeof value === 'number' ? Number.isInteger(value) && rows.some(([, , , number]) => number !== undefined) : isEnumName(value)
  return isOne ? undefined : wrong(place, `must be a ${name}`)
}

/** A number as ProtoJSON writes it: as such, or as text. */
const NUMBER = /^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/

/** A negative number of v2 has the bits of an unsigned one above 2^31 (ASSUMPTIONS.md of the sandbox, "Genuine v1"). */
function intIn(value: unknown, isUnsigned: boolean): number | undefined {
  const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : value
  if (typeof number !== 'number' || !Number.isInteger(number) || !isInt32(number)) return undefined
  return isUnsigned ? number >>> 0 : number < 2 ** 31 ? number : undefined
}

function longIn(value: unknown): string | undefined {
  if (isInteger(value)) return isInt64(String(value)) ? String(value) : undefined
  const number = typeof value === 'string' && NUMBER.test(value) ? Number(value) : undefined
  return Number.isSafeInteger(number) ? String(number) : undefined
}

function listWriter(type: Many, dialect: Dialect, place: string): Emit {
  const { of } = type
  const each = of.kind === 'choice' && of.dropUnknown ? undefined : itemWriter(type, dialect, place)
  return (value) => {
    if (!Array.isArray(value)) return wrong(place, 'must be a list')
    if (each) return value.map(each)
    const choices = (of as Extract<FieldType, { kind: 'choice' }>).of
    return value.flatMap((item) => choices.toV1.get(item) ?? unknownChoice(item, choices, `${place}[]`) ?? [])
  }
}

function itemWriter({ of, holdsNull }: Many, dialect: Dialect, place: string): Emit {
  const write = valueWriter(of, dialect, `${place}[]`)
  return holdsNull ? (item) => (item === null ? null : write(item)) : write
}

/** Keys are a user's data and kept unchanged, `__proto__` included (`fromEntries` defines, it does not assign). */
function mapWriter(type: Many, dialect: Dialect, place: string): Emit {
  const each = itemWriter(type, dialect, place)
  return (value) =>
    isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, each(item)])) : wrong(place, 'must be an object')
}

/**
 * v1 body → v2 body. Throws one INVALID_ARGUMENT that names the members of a wrong type, at most a hundred. Never mutates its argument.
 * `stored` is v2's form of what is written over. A member that v2 cannot write must be unset, or as it is there.
 */
export type ReadBody = (v1: unknown, stored?: JsonObject) => JsonObject

type Report = (field: string, description: string) => undefined
type Take = (value: unknown, field: string, report: Report, stored?: unknown) => unknown
type Fill = (v1: JsonObject, v2: Record<string, unknown>, prefix: string, report: Report, stored: JsonObject | undefined) => void

/**
 * Compiles a field table into the function that reads a v1 message in either spelling. Absent members stay absent, and null ones that are not
 * nullable.
 * Unknown and output-only members are dropped (facts §16.2, §16.8). An absent body is the empty message; `null` is none.
 */
export function compileRead(fields: Fields): ReadBody {
  const fill = compileFill(fields)
  return (v1, stored) => {
    const violations: FieldViolation[] = []
    const report: Report = (field, description) => {
      if (violations.length < MOST_VIOLATIONS) violations.push({ field, description })
      return undefined
    }
    const v2: Record<string, unknown> = {}
    if (isObject(v1)) fill(v1, v2, '', report, stored)
    else if (v1 !== undefined) report('body', 'must be a JSON object')
    if (violations.length > 0) throw invalidArgument(...violations)
    return v2
  }
}

/** Compiles a field table into the test whether a body sets a member that v2 cannot write: the stored form then decides. */
export function compileRestates(fields: Fields): (v1: unknown) => boolean {
  const fill = compileFill(fields)
  const whys = new Set(refusalsIn(fields))
  return (v1) => {
    let found = false
    const report: Report = (_, why) => {
      found ||= whys.has(why)
      return undefined
    }
    if (whys.size > 0 && isObject(v1)) fill(v1, {}, '', report, undefined)
    return found
  }
}

function refusalsIn(fields: Fields): readonly string[] {
  return Object.values(fields).flatMap(({ type, refused }) => [
    ...(refused === undefined ? [] : [refused]),
    ...(type.kind === 'object' ? refusalsIn(type.fields) : []),
  ])
}

/** Returns the value of a v1 member in whichever spelling the message has. */
export function member(v1: JsonObject, name: string, field: Pick<Field, 'json'>): unknown {
  const json = field.json ?? camelCase(name)
  if (Object.hasOwn(v1, name)) return v1[name]
  return Object.hasOwn(v1, json) ? v1[json] : undefined
}

/** Returns the JSON name if it differs. */
function otherSpelling(name: string, { json = camelCase(name) }: Field): string | undefined {
  return json === name ? undefined : json
}

function compileFill(fields: Fields): Fill {
  const rows = Object.entries(fields)
    .filter(([, { access, refused }]) => isWritten(access) || refused !== undefined)
    .map(([name, field]) => ({ name, field, other: otherSpelling(name, field), put: compilePut(field) }))
  return (v1, v2, prefix, report, stored) => {
    for (const { name, field, other, put } of rows) {
      if (other !== undefined && Object.hasOwn(v1, other) && Object.hasOwn(v1, name))
        report(prefix + name, `is given twice, as ${other} too`)
      const value = member(v1, name, field)
      const isGiven = value !== undefined && (value !== null || (field.isNullable && isWritten(field.access)))
      if (isGiven) put(value, v2, prefix + name, report, stored)
    }
  }
}

type Put = (value: unknown, v2: Record<string, unknown>, name: string, report: Report, stored: JsonObject | undefined) => void

function compilePut(field: Field): Put {
  const { source, type, refused } = field
  if (refused !== undefined) return compileRefuse(field, refused)
  if (source === '' && type.kind === 'object') {
    const fill = compileFill(type.fields)
    return (value, v2, name, report, stored) =>
      isObject(value) ? fill(value, v2, `${name}.`, report, stored) : report(name, 'must be an object')
  }
  const take = convertedBy(field, taker(type))
  const path = typeof source === 'string' ? source.split('.') : []
  const get = getter(source)
  return (value, v2, name, report, stored) => {
    const taken = value === null ? null : take(value, name, report, stored && get(stored))
    if (taken !== undefined) put(v2, path, taken)
  }
}

/** Refuses a value that is neither unset nor the stored one, as v1 shows it. */
function compileRefuse(field: Field, why: string): Put {
  const { type } = field
  const take = taker(type)
  const get = shownBy(field)
  const unset = type.kind === 'choice' ? type.of.zero[1] : unsetOf(type)
  return (value, _, name, report, stored) => {
    const asked = take(value, name, report)
    if (asked === undefined || isDeepStrictEqual(asked, unset)) return
    if (!isDeepStrictEqual(formOf(type, asked), formOf(type, stored && get(stored)))) report(name, why)
  }
}

/** Returns one form of a value that ProtoJSON may spell in two. Times are alike if they are the same moment, to the last digit (facts §19). */
function formOf(type: FieldType, value: unknown): unknown {
  switch (type.kind) {
    case 'time':
      return isTimestamp(value) ? instant(value) : value
    case 'int':
      return intIn(value, type.unsigned === true) ?? value
    case 'long':
      return longIn(value) ?? value
    case 'choice':
      return type.of.toV1.get(value) ?? value
    default:
      return value
  }
}

/** Returns what takes a value and writes it as v2 does. */
function convertedBy({ convert }: Field, take: Take): Take {
  if (!convert) return take
  const { read, must = 'has a value that v2 does not know' } = convert
  return (value, field, report, stored) => {
    const taken = take(value, field, report, stored)
    return taken === undefined ? undefined : (read?.(taken) ?? report(field, must))
  }
}

/** Sets a member that v2 may nest more deeply than v1. The path comes from a table, never from a request. */
function put(v2: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let inner = v2
  for (const name of path.slice(0, -1)) {
    inner[name] ??= {}
    inner = inner[name] as Record<string, unknown>
  }
  inner[path.at(-1) ?? ''] = value
}

/** Returns how each kind of value is checked and, where the versions differ, converted; `undefined` after a reported error. */
function taker(type: FieldType): Take {
  switch (type.kind) {
    case 'text':
    case 'bytes':
      return (value, field, report) => (typeof value === 'string' ? value : report(field, 'must be a string'))
    case 'flag':
      return (value, field, report) => (typeof value === 'boolean' ? value : report(field, 'must be true or false'))
    case 'int':
      return (value, field, report) =>
        isInt32(Number(value)) && isInteger(value) && !(type.unsigned && Number(value) < 0)
          ? Number(value)
          : report(field, type.unsigned ? 'must be an integer from 0 to 2147483647' : 'must be a 32-bit integer')
    case 'number':
      return (value, field, report) => (isExact(value) ? value : report(field, 'must be a number of up to 53 bits'))
    case 'long':
      return (value, field, report) => (isInteger(value) ? String(value) : report(field, 'must be a 64-bit integer, as a string'))
    case 'time':
      return (value, field, report) => (isTimestamp(value) ? value : report(field, 'must be an RFC 3339 timestamp'))
    case 'duration':
      return (value, field, report) => (isDuration(value) ? value : report(field, 'must be a duration in seconds such as "3600s"'))
    case 'choice':
      return (value, field, report) => type.of.toV2.get(value) ?? report(field, requirement(type.of))
    case 'object': {
      const fill = compileFill(type.fields)
      return (value, field, report, stored) => {
        if (!isObject(value)) return report(field, 'must be an object')
        const v2 = {}
        fill(value, v2, `${field}.`, report, isObject(stored) ? stored : undefined)
        return v2
      }
    }
    case 'list': {
      const take = itemTaker(type)
      return (value, field, report) =>
        Array.isArray(value) ? value.map((item, index) => take(item, `${field}[${index}]`, report)) : report(field, 'must be a list')
    }
    case 'map': {
      const take = itemTaker(type)
      return (value, field, report) =>
        isObject(value)
          ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, take(item, `${field}["${shortened(key)}"]`, report)]))
          : report(field, 'must be an object')
    }
  }
}

function itemTaker({ of, holdsNull }: Many): Take {
  const take = taker(of)
  return holdsNull ? (item, field, report) => (item === null ? null : take(item, field, report)) : take
}

/** The characters of a user's key that an error repeats. A key may be as long as a body, and a hundred wrong members may lie below it. */
const MOST_OF_KEY = 100

function shortened(key: string): string {
  return key.length > MOST_OF_KEY ? `${key.slice(0, MOST_OF_KEY)}…` : key
}

/**
 * Returns the `updateMask` of a replacement: `*`, or instead the members that v1 writes (`replaceMask`), or the rule's paths.
 * Conditional paths are included only if the body sets them (facts §13.2). `fields` is the table of the request.
 */
export function fieldMask(rule: MaskRule, fields: Fields, body: JsonObject, { maskCase, replaceMask }: Masks): string {
  if (rule === '*' && replaceMask === '*') return '*'
  const paths =
    rule === '*' ? written(fields) : [...rule.always, ...(rule.whenSet ?? []).filter((path) => isSet(at(body, path.split('.'))))]
  return paths.map((path) => (maskCase === 'snake' ? snakeCase(path) : path)).join(',')
}

type Masks = Pick<Env, 'maskCase' | 'replaceMask'>

/** Returns the v2 members that a v1 body can set. A PUT also replaces messages and maps as a whole, but v2 has no message for a flat one. */
function written(fields: Fields): readonly string[] {
  return Object.values(fields).flatMap(({ source, type, access }) => {
    if (!isWritten(access) || typeof source !== 'string') return []
    return source === '' && type.kind === 'object' ? written(type.fields) : [source]
  })
}

function isWritten(access: Field['access']): boolean {
  return access === 'readWrite' || access === 'writeOnly'
}

/** False for absent, null, the empty string and the zero value of an enum. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(typeof value === 'string' && value.endsWith('_UNSPECIFIED'))
}

type IsAnswer = (v2: JsonObject) => boolean

/**
 * Compiles a field table into the test whether an object is such a message of v2. A message with a uid must have it (specification §1).
 * Any other must have at least one of its members, and its lists must hold the right rows. The empty message needs no member. proto3 could
 * write a message of unset members as `{}`, but v2 always shows lists, numbers and flags (ASSUMPTIONS.md of the sandbox, "Answers").
 */
export function compileIsAnswer(fields: Fields): IsAnswer {
  const rows = Object.values(fields)
  if (rows.length === 0) return isEmptyAnswer
  if (hasUid(fields)) return isIdentified
  const members = new Set(rows.flatMap(membersOf))
  const lists = rows.flatMap(listOf)
  return (v2) => Object.keys(v2).some((member) => members.has(member)) && lists.every((isList) => isList(v2))
}

/** Members by which services and gateways say that something went wrong. */
const OF_ERRORS = ['code', 'error', 'errors', 'message', 'status', 'statusCode', 'fault', 'detail', 'reason']

/** True if an answer may be the empty message. A newer v2 may have added members, but none that says that something went wrong. */
export function isEmptyAnswer(v2: JsonObject): boolean {
  return !OF_ERRORS.some((member) => Object.hasOwn(v2, member))
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
  const isItem = itemOf(type)
  return [({ [source]: list }) => list === undefined || list === null || (Array.isArray(list) && list.every(isItem))]
}

function itemOf({ of, holdsNull }: Many): (item: unknown) => boolean {
  if (of.kind !== 'object') return (item) => typeof item !== 'object' || (item === null && holdsNull === true)
  const isRow = hasUid(of.fields) ? isIdentified : () => true
  return (item) => (isObject(item) && isRow(item)) || (item === null && holdsNull === true)
}

/** A member of a write's answer, and where a read of the resource shows the same value. */
export interface ShownMember {
  /** As sent, and in the table. */
  readonly name: string
  readonly where: string
  /** The same of the place in the resource. */
  readonly path: readonly string[]
  readonly pathWhere: readonly string[]
}

/** Returns the members of a written item that a read shows too. `fields` describes the item. */
export function shownMembers({ resource, shownAs = {} }: ReadBack, fields: Fields, dialect: Dialect): readonly ShownMember[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const place = Object.hasOwn(shownAs, name) ? shownAs[name] : name
    if (typeof place !== 'string') return []
    const pathWhere = place.split('.')
    const path = pathIn(resource.shown, pathWhere, dialect)
    return path && isShownIn(dialect, field) ? [{ name: nameIn(dialect, name, field), where: name, path, pathWhere }] : []
  })
}

/** Returns the fields of one written item: of the answer, or of the rows in its list. */
export function itemFields({ resource, named }: ReadBack, answer: Operation['answer']): Fields {
  const fields = answer?.shown ?? resource.shown
  if (!('rows' in named)) return fields
  const list = fields[named.rows]?.type
  return list?.kind === 'list' && list.of.kind === 'object' ? list.of.fields : {}
}

/** Returns the operation that reads one of the resources that a write wrote. */
export function readerOf({ resource }: ReadBack, operations: readonly Operation[]): Operation | undefined {
  return operations.find(({ answer, selects, begin }) => answer === resource && selects !== undefined && begin)
}

/** Returns the field at a path of table names. */
export function fieldAt(fields: Fields, [name = '', ...rest]: readonly string[]): Field | undefined {
  const field = fields[name]
  if (!field || rest.length === 0) return field
  return field.type.kind === 'object' ? fieldAt(field.type.fields, rest) : undefined
}

function pathIn(fields: Fields, names: readonly string[], dialect: Dialect): readonly string[] | undefined {
  const fieldsAt = names.map((_, at) => fieldAt(fields, names.slice(0, at + 1)))
  const shown = fieldsAt.flatMap((field, at) => (field && isShownIn(dialect, field) ? [nameIn(dialect, names[at] ?? '', field)] : []))
  return shown.length === names.length ? shown : undefined
}
