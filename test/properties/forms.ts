import { isDeepStrictEqual } from 'node:util'
import fc, { type Arbitrary } from 'fast-check'
import { mappings } from '../../mappings/index.ts'
import { nameIn } from '../../src/tables/compile.ts'
import type { EnumRow, Field, Fields, FieldType } from '../../src/tables/fields.ts'
import { isObject } from '../../src/tables/json.ts'
import type { Message } from '../../src/tables/resource.ts'
import type { Dialect } from '../../src/tables/uid.ts'
import { isFull } from '../sample.ts'

/** Members that no table has, notorious ones first. A body may contain them, and they must have no effect (facts §16.2). */
const STRANGERS = [
  '"__proto__":{"name":"evil","uid":"evil","polluted":true}',
  '"constructor":{"prototype":{"polluted":true}}',
  '"toString":"evil"',
  '"hasOwnProperty":null',
  '"no_such_member":{"deep":[1,{"__proto__":{"polluted":true}}]}',
]

/**
 * Writes a v1 form as a careless or malicious client does. 64-bit integers are bare numbers, and every member occurs twice (the last one
 * counts).
 * Members that no table has lie between them.
 */
export function hostileText(fields: Fields, form: Form): string {
  const members = Object.entries(form).flatMap(([name, value]) => {
    const type = fields[name]?.type
    if (!type) throw new Error(`${name} is not in the table`)
    return twice(name, write(type, value))
  })
  return `{${[...STRANGERS, ...members, ...STRANGERS].join()}}`
}

function twice(name: string, text: string): string[] {
  return [`${JSON.stringify(name)}:[["an older value"]]`, `${JSON.stringify(name)}:${text}`]
}

function write(type: FieldType, value: unknown): string {
  if (type.kind === 'long') return String(value)
  if (type.kind === 'object' && isObject(value)) return hostileText(type.fields, value)
  if (type.kind === 'list') return `[${(value as unknown[]).map((item) => write(type.of, item)).join()}]`
  if (type.kind === 'map')
    return `{${Object.entries(value as Form)
      .flatMap(([key, item]) => twice(key, write(type.of, item)))
      .join()}}`
  return JSON.stringify(value)
}

/** Number of cases for each property. */
const CASES = Number(process.env.CROSSWALK_CASES ?? (isFull ? 1000 : 100))

/** fast-check reports the seed of a failure; this variable repeats the run. */
const seed = process.env.CROSSWALK_SEED === undefined ? {} : { seed: Number(process.env.CROSSWALK_SEED) }

/** Checks a property. A failure names the seed, the counterexample and what was expected of it. */
export function holds<T>(arbitrary: Arbitrary<T>, property: (value: T) => void): void {
  fc.assert(fc.property(arbitrary, property), { numRuns: CASES, ...seed })
}

/** Deep equality that includes own `__proto__` members and prototypes. */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected)) {
    throw new Error(`${what}\n  got      ${JSON.stringify(actual)}\n  expected ${JSON.stringify(expected)}`)
  }
}

/** A JSON object that a test may still add to. */
export type Form = Record<string, unknown>

/** The version of a form: it decides the name of each row and the column of an enum. */
interface Side {
  readonly choice: (row: EnumRow) => string
  /** How a message or time is written that is not set: v1 writes null, v2 omits it (facts §16.3, §16.4). */
  readonly nothing: null | undefined
  readonly holds: (field: Field) => boolean
  readonly put: (form: Form, name: string, field: Field, value: unknown) => void
}

const V1: Side = {
  choice: ([v1]) => v1,
  nothing: null,
  // A body with another value than the stored one is refused.
  holds: ({ refused }) => refused === undefined,
  put: (form, name, _, value) => {
    form[name] = value
  },
}

const V2: Side = {
  choice: ([, v2]) => v2,
  nothing: undefined,
  // Members that only the server writes would be lost, so a round trip that starts in v2 does not include them.
  holds: ({ access }) => access === 'readWrite',
  put: (form, _, { source }, value) => place(form, source as string, value),
}

/** A v1 message as v1 writes it, in the tables' names: members of every access, unset ones included. */
export const v1Form = (fields: Fields): Arbitrary<Form> => formOf(fields, V1)

/** The complete v2 form of the members that v1 can write. */
export const v2Form = (fields: Fields): Arbitrary<Form> => formOf(fields, V2)

function formOf(fields: Fields, side: Side): Arbitrary<Form> {
  const rows = Object.entries(fields).filter(([, field]) => side.holds(field))
  const groups = [...new Set(rows.map(([, { oneof }]) => oneof).filter((group) => group !== undefined))]
  const turns = fc.record(Object.fromEntries(groups.map((group) => [group, oneOf(rows, group)])))
  const values = fc.tuple(...rows.map(([, field]) => member(field, side)))
  return fc.tuple(turns, values).map(([turn, drawn]) => {
    const form: Form = {}
    for (const [at, [name, field]] of rows.entries()) {
      const absent = drawn[at] === undefined || (field.oneof !== undefined && turn[field.oneof] !== name)
      if (!absent) side.put(form, name, field, drawn[at])
    }
    return form
  })
}

/** Draws the set member of a oneof, or none. */
function oneOf(rows: readonly (readonly [string, Field])[], group: string): Arbitrary<string | undefined> {
  return fc.constantFrom(undefined, ...rows.filter(([, { oneof }]) => oneof === group).map(([name]) => name))
}

/** Draws a value of the row, or undefined if it may be absent. */
function member(field: Field, side: Side): Arbitrary<unknown> {
  const { type, presence, oneof, source, zeroIsUnset } = field
  if (zeroIsUnset) return fc.option(fc.integer({ min: 1, max: INT32 }), { nil: undefined })
  const value = draw(type, side)
  if (oneof !== undefined || (type.kind === 'object' && source === '')) return value
  if (presence === 'optional') return fc.option(value, { nil: undefined })
  const hasDefault = type.kind !== 'object' && type.kind !== 'time' && type.kind !== 'duration'
  return hasDefault ? value : fc.option(value, { nil: side.nothing })
}

const INT32 = 2 ** 31 - 1

/** Text of every plane, with quotes and control characters. */
const anyText = fc.string({ unit: 'binary', maxLength: 8 })

/** Keys that users write. Some of them have a meaning for a careless program. */
const keys = fc.oneof(
  anyText,
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toString',
    'hasOwnProperty',
    'snake_key',
    'snakeKey',
    'uid',
    'id',
    'a.b/c',
    'ключ',
    '\u{1f511}',
    '',
  ),
)

const digits = (length: number) => (value: number) => String(value).padStart(length, '0')
const times = fc
  .tuple(
    fc.date({ noInvalidDate: true, min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z') }),
    fc.constantFrom('', '.1', '.123', '.123456', '.000000001'),
    fc.constantFrom('Z', '+01:00', '-11:30'),
  )
  .map(([date, fraction, offset]) => date.toISOString().slice(0, 19) + fraction + offset)

const SCALARS: Readonly<Record<'text' | 'flag' | 'number' | 'long' | 'time' | 'duration' | 'bytes', Arbitrary<unknown>>> = {
  text: anyText,
  flag: fc.boolean(),
  number: fc.oneof(fc.maxSafeInteger(), fc.double({ noNaN: true, noDefaultInfinity: true, min: -1e9, max: 1e9 })),
  long: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(String),
  time: times,
  duration: fc.tuple(fc.integer({ min: -1e9, max: 1e9 }), fc.integer({ min: 0, max: 999 })).map(([s, ms]) => `${s}.${digits(3)(ms)}s`),
  bytes: fc.uint8Array({ maxLength: 8 }).map((value) => Buffer.from(value).toString('base64')),
}

function draw(type: FieldType, side: Side): Arbitrary<unknown> {
  switch (type.kind) {
    case 'int':
      return fc.integer({ min: type.unsigned ? 0 : -INT32 - 1, max: INT32 })
    case 'choice':
      return fc.constantFrom(...type.of.rows.map(side.choice))
    case 'object':
      return formOf(type.fields, side)
    case 'list':
      return fc.array(draw(type.of, side), { maxLength: 3 })
    case 'map':
      return fc.uniqueArray(fc.tuple(keys, draw(type.of, side)), { selector: ([key]) => key, maxLength: 3 }).map(Object.fromEntries)
    default:
      return SCALARS[type.kind]
  }
}

/** Sets a member of the v2 form. It may lie deeper than in v1 or, for a nested v1 object, higher. */
function place(form: Form, source: string, value: unknown): void {
  if (source === '') {
    Object.assign(form, value)
    return
  }
  const path = source.split('.')
  const last = path.pop() ?? ''
  let inner = form
  for (const step of path) {
    inner[step] ??= {}
    inner = inner[step] as Form
  }
  inner[last] = value
}

export const operations = mappings.flatMap((mapping) => mapping.operations)

/** Every message that v1 reads or shows, once, by name. A new resource is included as soon as an operation has it. */
export const messages: readonly Message[] = [...new Set(operations.flatMap(({ request, answer }) => [request, answer]))].filter(
  (one): one is Message => one !== undefined && Object.keys(one.fields).length > 0,
)

/** Writes the same form in the names of a dialect, which is chosen for each member. */
export function spelled(fields: Fields, form: Form, dialect: () => Dialect): Form {
  return Object.fromEntries(
    Object.entries(form).map(([name, value]) => {
      const field = fields[name]
      if (!field) throw new Error(`${name} is not in the table`)
      return [nameIn(dialect(), name, field), inside(field.type, value, (of, inner) => spelled(of, inner, dialect))]
    }),
  )
}

/**
 * Returns a form after its way through v2. What v1 can write stays. Every other row is unset, or gone where unset means absent.
 * Other rows are readOnly, elsewhere, or lossy without a v2 source. Rows that the form lacks are added in the same way.
 */
export function settled(fields: Fields, form: Form, dialect: Dialect): Form {
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, { access, only = dialect }]) => access !== 'writeOnly' && only === dialect)
      .flatMap(([name, field]): [string, unknown][] => {
        const kept = Object.hasOwn(form, name) && field.access === 'readWrite'
        if (!kept && field.presence === 'optional') return []
        const value = kept ? inside(field.type, form[name], (of, inner) => settled(of, inner, dialect)) : unset(field, dialect)
        return [[nameIn(dialect, name, field), value]]
      }),
  )
}

/** Returns a value with every message in it changed. The keys of users' maps are not members. */
function inside(type: FieldType, value: unknown, change: (fields: Fields, form: Form) => Form): unknown {
  switch (type.kind) {
    case 'object':
      return isObject(value) ? change(type.fields, value) : value
    case 'list':
      return (value as unknown[]).map((item) => inside(type.of, item, change))
    case 'map':
      return Object.fromEntries(Object.entries(value as Form).map(([key, item]) => [key, inside(type.of, item, change)]))
    default:
      return value
  }
}

/** Returns the value with which v1 says that a member is not set (facts §16.3). */
function unset({ type, source }: Field, dialect: Dialect): unknown {
  switch (type.kind) {
    case 'text':
    case 'bytes':
      return ''
    case 'flag':
      return false
    case 'int':
      return 0
    case 'long':
      return '0'
    case 'time':
    case 'duration':
      return null
    case 'choice':
      return type.of.zero[0]
    case 'object':
      return source === '' ? settled(type.fields, {}, dialect) : null
    case 'list':
      return []
    case 'map':
      return {}
  }
}
