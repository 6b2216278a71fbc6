import fc, { type Arbitrary } from 'fast-check'
import { ApiError, CODES, type CodeName } from '../../../src/errors.ts'
import type { Field, Fields, FieldType, Source } from '../../../src/tables/fields.ts'
import type { JsonObject } from '../../../src/tables/json.ts'
import type { Operation } from '../../../src/tables/operation.ts'

/** Stands for a value that is nested too deeply for fast-check to print. */
const DEEP = '<deep>'
const DEPTH = 20_000

/** An answer in v2's form. */
export function textOf(answer: JsonObject): string {
  return JSON.stringify(answer).replaceAll(JSON.stringify(DEEP), () => '['.repeat(DEPTH) + ']'.repeat(DEPTH))
}

/** A value of any type in place of the expected one. */
const junk: Arbitrary<unknown> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, '', ' ', 'x', [], {}, [[]], [null], { '': null }, '%2F/..'),
  },
  { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
  { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.constant(DEEP) },
)

/** A single wrong member makes a whole answer an error, so that few are wrong. */
const mostly = (right: Arbitrary<unknown>): Arbitrary<unknown> => fc.oneof({ weight: 40, arbitrary: right }, { weight: 1, arbitrary: junk })

export const uids = fc.constantFrom(
  'a'.repeat(40),
  `${'a'.repeat(40)}/${'b'.repeat(16)}`,
  `${'a'.repeat(40)}/${'c'.repeat(16)}`,
  '',
  'x',
  '/',
)
const words = fc.constantFrom('', 'x', '2026-01-01T00:00:00Z', '3600s', '9007199254740993')

function drawn(type: FieldType): Arbitrary<unknown> {
  switch (type.kind) {
    case 'time':
      return fc.constantFrom('2026-01-01T00:00:00Z', '0001-01-01T00:00:00.5Z', '9999-12-31T23:59:59+01:00')
    case 'flag':
      return fc.boolean()
    case 'int':
      return fc.integer()
    case 'choice':
      return fc.constantFrom<unknown>(...type.of.rows.map(([, v2]) => v2), 'NOT_IN_THE_TABLE', 99)
    case 'object':
      return messageOf(type.fields)
    case 'list':
      return fc.array(mostly(drawn(type.of)), { maxLength: 2 })
    case 'map':
      return fc.dictionary(fc.constantFrom('k', '__proto__', 'uid', ''), mostly(drawn(type.of)), { maxKeys: 2 })
    default:
      return fc.oneof(words, uids)
  }
}

function sourcesOf(source: Source | undefined): readonly string[] {
  if (source === undefined) return []
  if (typeof source === 'string') return [source]
  return 'parentOf' in source ? [source.parentOf] : source.firstOf.flatMap(sourcesOf)
}

/** A v2 message as its table expects it, sometimes with members of wrong types. */
function messageOf(fields: Fields): Arbitrary<JsonObject> {
  const members = Object.values(fields).flatMap((field) => sourcesOf(field.source).map((path) => memberAt(path.split('.'), field)))
  return fc.tuple(...members).map((all) => Object.assign({}, ...all) as JsonObject)
}

function memberAt(path: readonly string[], field: Field): Arbitrary<JsonObject> {
  const value = fc.option(mostly(path[0] === 'uid' ? uids : drawn(field.type)), { nil: undefined, freq: 5 })
  return value.map((one) => path.reduceRight<unknown>((inner, member) => (member === '' ? inner : { [member]: inner }), one) as JsonObject)
}

const errors = fc
  .tuple(fc.constantFrom(...(Object.keys(CODES) as CodeName[]).filter((code) => code !== 'OK')), fc.array(fc.jsonValue(), { maxLength: 2 }))
  .map(([code, details]) => new ApiError(code, 'said v2', { details: details.filter((one) => typeof one === 'object' && one) as never[] }))

/** Possible answers of v2 to any call of an operation: a message, a page of them, an error, or anything else. */
export function answersOf({ answer, calls }: Operation): Arbitrary<JsonObject | ApiError> {
  const row = answer ? messageOf(answer.fields) : fc.constant<JsonObject>({})
  const plurals = ['items', ...calls.map((call) => /[a-z]+$/i.exec(call)?.[0] ?? 'items')]
  const page = fc
    .record({
      rows: mostly(fc.array(mostly(row), { maxLength: 4 })),
      nextPageToken: mostly(fc.constantFrom('', '', 't1', 't2')),
      totalCount: mostly(fc.constantFrom('0', '3', '500')),
      skipped: mostly(fc.constantFrom(0, 1)),
    })
    .map(({ rows, ...rest }) => ({ ...Object.fromEntries(plurals.map((name) => [name, rows])), ...rest }) as JsonObject)
  const other = fc.dictionary(fc.constantFrom('uid', 'items'), junk) as Arbitrary<JsonObject>
  return fc.oneof({ weight: 4, arbitrary: page }, { weight: 4, arbitrary: row }, errors, other)
}
