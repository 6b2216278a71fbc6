import fc from 'fast-check'
import type { Fields, FieldType } from '../../../src/tables/fields.ts'

/** JSON as text in any valid spelling. */
export type JsonText = string

const ESCAPES = ['\\"', '\\\\', '\\/', '\\b', '\\n', '\\u0041', '\\u00e9', '\\u0000', '\\ud83d\\ude00', '\\ud800']
const plainText = fc.oneof(
  fc.constantFrom(
    '',
    'a',
    'a/b',
    'a/b/c',
    'sha256:ab',
    'Grüße',
    '漢字',
    '\u{1f600}',
    '}],"',
    '{\\"uid\\":',
    '$1',
    '$&',
    '\u2028',
    '\u007f',
  ),
  fc.string({ unit: 'grapheme', maxLength: 12 }),
)

/** A string token: mostly plain, sometimes with escapes, rarely with what JSON forbids. */
const textToken = fc.oneof(
  { weight: 12, arbitrary: plainText.map((text) => JSON.stringify(text)) },
  { weight: 2, arbitrary: fc.array(fc.constantFrom(...ESCAPES, 'x'), { maxLength: 4 }).map((parts) => `"${parts.join('')}"`) },
  { weight: 1, arbitrary: fc.constantFrom('"\t"', '"\\x"', '"\n"', '"\u0001"', '"') },
)
const numberToken = fc.oneof(
  fc.integer().map(String),
  fc.constantFrom(
    '0',
    '-0',
    '1.0',
    '1e3',
    '123456789012345678901',
    '-1',
    '01',
    '+1',
    '1.',
    '.5',
    '-',
    'NaN',
    '999999999999999',
    '9999999999999999',
  ),
)
/** A time, or a text that is nearly one: each part may be what the calendar or the clock does not have. */
const timeToken = fc.oneof(
  { weight: 9, arbitrary: fc.date({ noInvalidDate: true }).map((date) => JSON.stringify(date)) },
  {
    weight: 3,
    arbitrary: fc
      .tuple(
        fc.constantFrom('2024', '2025', '1900', '0000', '0001', '9999', '20a4'),
        fc.constantFrom('-01', '-02', '-04', '-12', '-13', '-00', '/01'),
        fc.constantFrom('-01', '-28', '-29', '-30', '-31', '-32', '-00', '-3'),
        fc.constantFrom('T', 't', ' '),
        fc.constantFrom('00:00:00', '23:59:59', '24:00:00', '23:60:00', '23:59:60', '19:5:00', '29:00:00'),
        fc.constantFrom('', '.', '.1', '.123456789', '.1234567890', ',1'),
        fc.constantFrom('Z', 'z', '+02:00', '-23:59', '+24:00', '', 'ZZ'),
      )
      .map((parts) => JSON.stringify(parts.join(''))),
  },
  { weight: 1, arbitrary: textToken },
)
const anyToken: fc.Arbitrary<JsonText> = fc.oneof(
  textToken,
  numberToken,
  fc.constantFrom('true', 'false', 'null', '{}', '[]', '[1, 2]', '{"a":{"b":["}"]}}', '[[[]]]', 'nul', '{', '[1,]', '{"a"}', 'truefalse'),
)

/** A value of the table's type, or any other. */
function tokenOf(type: FieldType): fc.Arbitrary<JsonText> {
  return fc.oneof({ weight: 20, arbitrary: usual(type) }, { weight: 2, arbitrary: fc.constant('null') }, { weight: 1, arbitrary: anyToken })
}

function usual(type: FieldType): fc.Arbitrary<JsonText> {
  switch (type.kind) {
    case 'flag':
      return fc.constantFrom('true', 'false')
    case 'int':
      return fc.oneof({ weight: 9, arbitrary: fc.integer().map(String) }, { weight: 1, arbitrary: numberToken })
    case 'long':
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((value) => `"${value}"`)
    case 'choice':
      return fc.constantFrom(...type.of.rows.map(([, v2]) => JSON.stringify(v2)), '"NEVER_HEARD_OF"')
    case 'object':
      return objectToken(type.fields)
    case 'list':
      return fc.array(tokenOf(type.of), { maxLength: 3 }).chain((items) => glue.map((space) => `[${items.join(`,${space}`)}]`))
    case 'map':
      return fc
        .array(fc.tuple(fc.constantFrom('snake_key', 'camelKey', '7', '3', '__proto__', 'a b'), tokenOf(type.of)), { maxLength: 3 })
        .map((entries) => `{${entries.map(([key, value]) => `"${key}":${value}`).join(',')}}`)
    case 'time':
      return timeToken
    default:
      return textToken
  }
}

const glue = fc.oneof({ weight: 9, arbitrary: fc.constant('') }, { weight: 1, arbitrary: fc.constantFrom(' ', '  ', '\n') })

/** The top-level v2 members that the table reads. */
function membersOf(fields: Fields): readonly (readonly [name: string, type: FieldType])[] {
  return Object.values(fields).flatMap(({ source, type }) =>
    typeof source === 'string' && source !== '' ? [[source.split('.')[0] ?? '', type] as const] : [],
  )
}

function objectToken(fields: Fields): fc.Arbitrary<JsonText> {
  const members = membersOf(fields)
  const known = fc.shuffledSubarray([...members]).chain((some) => fc.tuple(...some.map(([name, type]) => member(name, tokenOf(type)))))
  return fc.tuple(known, glue).map(([texts, space]) => `{${texts.join(`,${space}`)}}`)
}

const member = (name: string, value: fc.Arbitrary<JsonText>) =>
  fc.tuple(glue, glue, value).map(([before, behind, text]) => `${JSON.stringify(name)}${before}:${behind}${text}`)

const uid = fc.oneof(
  { weight: 20, arbitrary: fc.stringMatching(/^[0-9a-f]{4}(\/[0-9a-f]{4}){0,2}$/).map((text) => `"${text}"`) },
  { weight: 1, arbitrary: anyToken },
)

/** Rows of one shape, as a service sends them: the same members in the same order. */
function regularRows(fields: Fields): fc.Arbitrary<readonly JsonText[]> {
  const names = [...new Map(membersOf(fields))].filter(([name]) => name !== 'uid')
  return fc.shuffledSubarray(names).chain((some) =>
    fc.array(
      fc
        .tuple(uid, ...some.map(([name, type]) => tokenOf(type).map((value) => `"${name}":${value}`)))
        .map(([id, ...others]) => `{"uid":${id},${[...others, '"new":"x"'].join(',')}}`),
      { maxLength: 6 },
    ),
  )
}

function oddRows(fields: Fields): fc.Arbitrary<readonly JsonText[]> {
  const more = fc.constantFrom('"extra":{"a":"}"},', '"uid":"dd",', '"\\u0075id":"ee",', '"__proto__":1,', '')
  const row = fc
    .tuple(uid, more, objectToken(fields))
    .map(([id, extra, rest]) => (rest === '{}' ? `{"uid":${id}}` : `{${extra}"uid":${id},${rest.slice(1)}`))
  return fc.array(fc.oneof({ weight: 20, arbitrary: row }, { weight: 1, arbitrary: anyToken }), { maxLength: 4 })
}

/** A v2 list answer: ordinary, odd, or damaged. */
export function pageToken(plural: string, fields: Fields): fc.Arbitrary<JsonText> {
  const rows = fc.oneof({ weight: 3, arbitrary: regularRows(fields) }, { weight: 2, arbitrary: oddRows(fields) })
  const list = fc.tuple(rows, glue).map(([texts, space]) => `"${plural}":[${texts.join(`,${space}`)}]`)
  const envelope = fc.shuffledSubarray([
    '"totalCount":"7"',
    '"skipped":0',
    '"nextPageToken":"t\\"1"',
    '"nextPageToken":null',
    '"more":{"tags":[]}',
  ])
  const whole = fc
    .tuple(list, envelope, fc.nat(4))
    .map(([text, others, at]) => `{${[...others.slice(0, at), text, ...others.slice(at)].join(',')}}`)
  const damage = fc.tuple(fc.nat(), fc.constantFrom('', '"', ',', '}', ']', '\\', ' ', '\u0000', 'x', '{'))
  const damaged = fc.tuple(whole, damage).map(([text, [at, character]]) => {
    const place = at % Math.max(1, text.length)
    return text.slice(0, place) + character + text.slice(place + 1)
  })
  // The text after its decoding from a connection, which cannot contain half of a surrogate pair.
  return fc.oneof({ weight: 5, arbitrary: whole }, { weight: 2, arbitrary: damaged }).map((text) => Buffer.from(text).toString('utf8'))
}
