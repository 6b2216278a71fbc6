import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { type Fields, type FieldType, nullable, readOnly, text } from '../../src/tables/fields.ts'
import { isObject, type JsonObject } from '../../src/tables/json.ts'
import type { Resource } from '../../src/tables/resource.ts'
import { ARRIVED_MEMORY, behindFirst, compilePage, compileRow, isRowText, ROWS_MEMORY, type RowText } from '../../src/tables/text/engine.ts'
import { isLongList, parseByRows, parseJson } from '../../src/tables/text/parse-json.ts'
import { DIALECTS, type Dialect } from '../../src/tables/uid.ts'
import { isFull } from '../sample.ts'

/** JSON as text in any valid spelling. */
type JsonText = string

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
        fc.constantFrom('', '.', '.1', '.123456789', '.1234567890', ',1', '.a1', '.1a', '.12345678:', './'),
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
function pageToken(plural: string, fields: Fields): fc.Arbitrary<JsonText> {
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

describe('the memory of pages', () => {
  const KIB = 1024

  it('is used again once it was given back, also by a part of it', () => {
    const first = ROWS_MEMORY.take(60 * KIB)
    ROWS_MEMORY.give(first.subarray(100))
    const second = ROWS_MEMORY.take(40 * KIB)
    expect(second.buffer).toBe(first.buffer)
    expect(second).toHaveLength(40 * KIB)
    expect(ROWS_MEMORY.take(60 * KIB).buffer).not.toBe(first.buffer)
  })

  it('is lent once, even if it was given back twice', () => {
    const memory = ROWS_MEMORY.take(60 * KIB)
    ROWS_MEMORY.give(memory)
    ROWS_MEMORY.give(memory)
    expect(ROWS_MEMORY.take(60 * KIB).buffer).not.toBe(ROWS_MEMORY.take(60 * KIB).buffer)
  })

  it('takes nothing that came from elsewhere', () => {
    const foreign = [Buffer.allocUnsafeSlow(64 * KIB), ARRIVED_MEMORY.take(60 * KIB), ROWS_MEMORY.take(300 * KIB)]
    for (const bytes of foreign) ROWS_MEMORY.give(bytes)
    const taken = [60, 60, 300].map((size) => ROWS_MEMORY.take(size * KIB).buffer)
    for (const { buffer } of foreign) expect(taken).not.toContain(buffer)
  })

  it('waits for its next use up to a bound', () => {
    const many = Array.from({ length: 100 }, () => ROWS_MEMORY.take(64 * KIB))
    for (const one of many) ROWS_MEMORY.give(one)
    const known = new Set(many.map(({ buffer }) => buffer))
    const again = Array.from({ length: 100 }, () => ROWS_MEMORY.take(64 * KIB))
    expect(again.filter(({ buffer }) => known.has(buffer)).length).toBeLessThanOrEqual(64)
  })
})

describe('page text', () => {
  const resources = new Map(
    mappings
      .flatMap(({ operations }) => operations)
      .flatMap(({ rows, answer }) => (rows && answer && 'plural' in answer ? [[answer.name, answer as Resource] as const] : [])),
  )
  const tables = [...resources.values()].flatMap((resource) =>
    DIALECTS.flatMap((dialect) => {
      const read = compilePage(resource.plural, resource.shown, dialect)
      return read ? [{ resource, dialect, read }] : []
    }),
  )

  /** Returns the text from parsing the page and writing its rows. */
  function parsed(
    text: string,
    { plural, show }: Resource,
    dialect: Dialect,
  ): { rows: readonly JsonObject[]; rest: JsonObject; text: string } {
    const body = parseJson(text) as JsonObject
    const { [plural]: list, ...rest } = body
    const rows = Array.isArray(list) ? list.filter(isObject) : []
    return { rows, rest, text: rows.map((row) => `,${JSON.stringify(show[dialect](row))}`).join('') }
  }

  function rowsIn(body: JsonObject, { plural }: Resource): RowText {
    const rows = body[plural]
    if (!isRowText(rows)) throw new Error('the rows were not turned into text')
    return rows
  }

  /** Cuts the bytes into two pieces at any place. */
  function piecesOf(text: string): readonly Buffer[] {
    const bytes = Buffer.from(text)
    const middle = bytes.length >> 1
    return [bytes.subarray(0, middle), bytes.subarray(middle)]
  }

  const textOf = ({ bytes }: RowText) => (typeof bytes === 'string' ? Buffer.from(bytes, 'latin1') : bytes).toString()

  /** Throws unless the text reader agrees with the parser or leaves the page to it; returns which of the two. */
  function compare(text: string, { resource, dialect, read }: (typeof tables)[number]): 'same' | 'left' {
    const body = read(piecesOf(text))
    if (!body) return 'left'
    const { [resource.plural]: _, ...rest } = body
    const rows = rowsIn(body, resource)
    const right = parsed(text, resource, dialect)
    expect(textOf(rows)).toBe(right.text)
    expect(rest).toEqual(right.rest)
    expect([rows.count, rows.first, rows.last]).toEqual([right.rows.length, right.rows[0]?.uid ?? '', right.rows.at(-1)?.uid ?? ''])
    const others = right.rows.slice(1).map((row) => `,${JSON.stringify(resource.show[dialect](row))}`)
    const behind = behindFirst(rows) as RowText
    expect([textOf(behind), behind.count]).toEqual([others.join(''), others.length])
    return 'same'
  }

  /** Pages of each table. */
  const CASES = Number(process.env.CROSSWALK_CASES ?? (isFull ? 400 : 75))
  /** Pages whose single rows are read. Of fewer, the engine reads too few of some tables. */
  const CUT = Math.max(CASES, 400)

  describe('a page turned into v1 text', () => {
    it('is left to the parser where null is a value', () => {
      expect(compilePage('items', { id: readOnly('uid'), a: nullable(text('a')) }, 'published')).toBeUndefined()
    })

    it('is possible for the tables whose rows need no other rows', () => {
      expect([...new Set(tables.map(({ resource }) => resource.name))]).toEqual(
        expect.arrayContaining(['tag', 'repo', 'group', 'identity', 'role', 'advisory']),
      )
    })

    it.each(tables.map((table) => [`${table.resource.name}, ${table.dialect}`, table] as const))(
      'equals what parsing gives byte for byte, whatever v2 sends: %s',
      (_, table) => {
        fc.assert(
          fc.property(pageToken(table.resource.plural, table.resource.shown), (text) => void compare(text, table)),
          { numRuns: CASES, seed: 4 },
        )
      },
      // A page takes less than a millisecond.
      5000 + 20 * CASES,
    )
  })

  const tag = tables.find(({ resource, dialect }) => resource.name === 'tag' && dialect === 'specification')
  const tagText = (more: string) => `{"tags":[{"uid":"a/b","name":"x"},{"uid":"a/c","name":"y"}]${more}}`

  describe('a page', () => {
    it('is not left to the parser if it is ordinary', () => {
      if (!tag) throw new Error('there is no table of tags')
      const same = fc
        .sample(pageToken('tags', tag.resource.shown), { numRuns: 1000, seed: 1 })
        .filter((text) => compare(text, tag) === 'same')
      expect(same.length).toBeGreaterThan(300)
      expect(compare(tagText(',"nextPageToken":"t","totalCount":"2","skipped":0'), tag)).toBe('same')
    })

    it.each([
      ['pretty-printed', JSON.stringify(JSON.parse(tagText('')), null, 2)],
      ['with a second list of rows', tagText(',"tags":[]')],
      ['with a byte order mark', `\ufeff${tagText('')}`],
      ['with something behind it', `${tagText('')}x`],
      ['without its rows', '{"totalCount":"0"}'],
      ['with a row that has no uid', '{"tags":[{"name":"x"}]}'],
      ['with rows that are none', '{"tags":[null]}'],
      ['cut off', tagText('').slice(0, -9)],
      ['with a stray comma before its end', tagText(',')],
      ['without a comma behind its rows', '{"tags":[]"more":1,}'],
      ['with a digit behind its rows', '{"more":1,"tags":[]1}'],
      ['with an escape in a name', '{"tags":[{"\\u0075id":"a","name":"x"}]}'],
      ['cut off behind a backslash', '{"tags":[{"uid":"a\\'],
      ['with a control character', '{"tags":[{"uid":"a\u0001"}]}'],
      ['of more v1 text than the engine has room for', `{"tags":[${new Array(200_000).fill('{"uid":"a"}').join()}]}`],
      ['of more bytes than the engine has room for', tagText(`,"more":"${'x'.repeat(4 * 1024 * 1024)}"`)],
    ])('is left to the parser %s', (_, text) => {
      expect(tag?.read(piecesOf(text))).toBeUndefined()
    })

    it('is left to the parser if it is not UTF-8', () => {
      const bytes = Buffer.from(tagText(''))
      bytes[bytes.indexOf('x')] = 0xff
      expect(tag?.read([bytes])).toBeUndefined()
    })

    it.each([
      ['without rows', '{"tags":[]}'],
      ['with its rows last', '{"more":{"tags":["]"]},"totalCount":"1","tags":[{"uid":"a/b"}]}'],
      ['with spaces', '{ "skipped" : 0 , "tags" : [ { "uid" : "a/b" , "name":"x" } , {"uid": "a/c"} ] , "totalCount": "2" }'],
      ['with letters of several bytes', '{"tags":[{"uid":"ü/b","name":"漢字 😀 \\n\\"x\\""},{"name":"\\u00e9","uid":"é"}]}'],
      ['with members in another order in each row', '{"tags":[{"name":"x","uid":"a"},{"uid":"b","name":"y","new":[1]},{"uid":"c"}]}'],
      [
        'with more members than have places',
        `{"tags":[{${Array.from({ length: 99 }, (_, at) => `"m${at}":${at}`).join()},"uid":"a","name":"x"}]}`,
      ],
    ])('is not left to the parser %s', (_, text) => {
      expect(tag && compare(text, tag)).toBe('same')
    })
  })

  describe('a single row', () => {
    /** Rows as they occur in odd pages; a row that is cut out may be invalid JSON. */
    const rowsOf = (plural: string, page: string) => page.slice(page.indexOf(`"${plural}"`)).match(/\{[^{}]*\}/g) ?? []

    it.each(tables.map((table) => [`${table.resource.name}, ${table.dialect}`, table] as const))(
      'equals what parsing gives byte for byte: %s',
      (_, { resource, dialect }) => {
        const { plural, shown, show } = resource
        const read = compileRow(plural, shown, dialect)
        let same = 0
        for (const page of fc.sample(pageToken(plural, shown), { numRuns: CUT, seed: 5 })) {
          for (const text of rowsOf(plural, page)) {
            const rows = read?.(piecesOf(text))?.[plural]
            if (!isRowText(rows)) continue
            expect(textOf(rows)).toBe(`,${JSON.stringify(show[dialect](parseJson(text) as JsonObject))}`)
            same += 1
          }
        }
        expect(same).toBeGreaterThan(50)
      },
      5000 + 20 * CUT,
    )

    it.each([
      ['two of them', '{"uid":"a"},{"uid":"b"}'],
      ['none', ''],
      ['one that ends the list around it', '{"uid":"a"}],"more":[{"uid":"b"}'],
      ['a list', '[{"uid":"a"}]'],
      ['something behind it', '{"uid":"a"}x'],
      ['no object', '"a"'],
    ])('is left to the parser when there is %s', (_, text) => {
      if (!tag) throw new Error('there is no table of tags')
      expect(compileRow('tags', tag.resource.shown, 'specification')?.(piecesOf(text))).toBeUndefined()
    })
  })
})

describe('an answer that is parsed row by row', () => {
  /** Parses to the end. */
  function parsed(pieces: readonly Uint8Array[]): unknown {
    const parsing = parseByRows(pieces, (what) => new RangeError(what))
    for (;;) {
      const { done, value } = parsing.next()
      if (done) return value
    }
  }

  /** The pieces of a text, of so many bytes each. */
  function piecesOf(text: string | Buffer, size: number): readonly Buffer[] {
    const bytes = Buffer.from(text)
    return Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) => bytes.subarray(at * size, (at + 1) * size))
  }

  /** What both parsers make of a text: the value as text, so that the order of members and of doubled ones counts, or that they refuse it. */
  function said(parse: () => unknown): string {
    try {
      return JSON.stringify(parse()) ?? 'nothing'
    } catch (error) {
      if (error instanceof SyntaxError) return 'no JSON'
      throw error
    }
  }

  const same = (text: string, size: number) =>
    expect(said(() => parsed(piecesOf(text, size)))).toBe(said(() => (text.trim() === '' ? undefined : parseJson(text))))

  it('has the value of one that is parsed at once', () => {
    const scalar = fc.oneof(fc.string({ unit: 'binary' }), fc.integer(), fc.bigInt().map(String), fc.boolean(), fc.constant(null))
    const member = fc.oneof(fc.constantFrom('groups', '__proto__', 'nextPageToken', '"', '\\'), fc.string({ unit: 'binary' }))
    const { value } = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, scalar, fc.array(tie('value')), fc.dictionary(member, tie('value'))),
    }))
    const answer = fc.dictionary(member, fc.oneof(value, fc.array(value)))
    fc.assert(
      fc.property(answer, fc.integer({ min: 1, max: 40 }), fc.constantFrom(0, 1), (body, size, spaces) => {
        same(JSON.stringify(body, undefined, spaces), size)
      }),
      { numRuns: isFull ? 300 : 30 },
    )
  })

  it('is refused where one that is parsed at once is', () => {
    const letters = fc.constantFrom(...'{}[],:"\\ 1a-', '"a"', '"a":', '[1]', '{}', '123456789012345678', 'null', '\u00e9')
    const damaged = fc.array(letters, { maxLength: 12 }).map((parts) => parts.join(''))
    const around = fc.constantFrom(
      (text: string) => text,
      (text: string) => `{"a":[${text}]}`,
      (text: string) => `{"a":[1,${text}`,
    )
    fc.assert(
      fc.property(damaged, around, fc.integer({ min: 1, max: 9 }), (text, wrap, size) => {
        same(wrap(text), size)
      }),
      { numRuns: isFull ? 5000 : 300 },
    )
  })

  it.each([
    '{"a":[]}',
    '{"a":[ ]}',
    '{"a":[1,]}',
    '{"a":[,1]}',
    '{"a":[1}',
    '{"a":[1]',
    '{"a":[1],"a":2}',
    '{"a":[1],"a":[2,3]}',
    '{"a":2,"a":[1]}',
    '{"__proto__":[1]}',
    '[[1],[2]]',
    '[1,2]',
    ' ',
    '\ufeff{}',
    '{"a":[[0],[1]]}',
    '{"a":[12345678901234567890, 1]}',
  ])('reads %s alike', (text) => same(text, 3))

  it('joins the batches of a long list', () => {
    const rows = Array.from({ length: 5000 }, (_, nth) => ({ uid: String(nth), texts: ['é"\\'.repeat(nth % 40)] }))
    for (const size of [1000, 65_536, 2 ** 24]) {
      const value = parsed(piecesOf(JSON.stringify({ rows, more: [1] }), size)) as { rows: object; more: object }
      expect(value).toEqual({ rows, more: [1] })
      expect([isLongList(value.rows), isLongList(value.more), isLongList([])]).toEqual([true, true, false])
    }
    same(`{"a":[${'"abcdefgh",'.repeat(4000)}]}`, 65_536)
  })

  it('is bounded in one row, beside the rows, and in all', () => {
    const values = (count: number) => Array.from({ length: count }, () => 1).join()
    const refused = (text: string, why: string) => expect(() => parsed(piecesOf(text, 65_536))).toThrow(new RangeError(`more than ${why}`))
    const place = 'in one row, or beside its rows'
    refused(`{"a":[1,[${values(20_002)}]]}`, `20000 values ${place}`)
    refused(`{"a":{"b":[${values(20_002)}]}}`, `20000 values ${place}`)
    refused('['.repeat(30_000), `20000 values ${place}`)
    refused(`{"a":["${'x'.repeat(2 ** 22)}"]}`, `4194304 bytes ${place}`)
    refused(`{"a":"${'x'.repeat(2 ** 22)}"}`, `4194304 bytes ${place}`)
    const rows = (count: number) => `{"a":[${Array.from({ length: count }, () => `[${values(19_000)}]`).join()}]}`
    expect(parsed(piecesOf(rows(26), 65_536))).toEqual(JSON.parse(rows(26)))
    refused(rows(27), '500000 values')
  })

  it('is refused if it is not UTF-8', () => {
    const bytes = Buffer.from('{"a":["é"]}')
    const at = bytes.indexOf(0xc3)
    expect(() => parsed([Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])])).toThrow(TypeError)
    expect(parsed([bytes.subarray(0, at + 1), bytes.subarray(at + 1)])).toEqual({ a: ['é'] })
  })
})

describe('parsed JSON', () => {
  it.each([
    ['{"size":9007199254740993}', { size: '9007199254740993' }],
    ['[-9223372036854775808 ,18446744073709551615]', ['-9223372036854775808', '18446744073709551615']],
    [' 1234567890123456', '1234567890123456'],
    ['{"a":{"b":[{"c":9007199254740993}]},"d":1}', { a: { b: [{ c: '9007199254740993' }] }, d: 1 }],
    ['{"text":"\\\\\\"9007199254740993","size":9007199254740993}', { text: '\\"9007199254740993', size: '9007199254740993' }],
  ])('keeps the digits of integers: %s', (text, value) => {
    expect(parseJson(text)).toEqual(value)
  })

  it.each(['123456789012345', '1e300', '1234567890123456.5', '1234567890123456e2', '0.1234567890123456789', '"1234567890123456"', '{}'])(
    'leaves every other value unchanged: %s',
    (text) => {
      expect(parseJson(text)).toEqual(JSON.parse(text))
      expect(parseJson(`[9007199254740993,${text}]`)).toEqual(['9007199254740993', JSON.parse(text)])
    },
  )

  it('is refused if it is invalid', () => expect(() => parseJson('[9007199254740993')).toThrow(SyntaxError))

  it('has the same values with and without long numbers beside them', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const [, value] = parseJson(`[9007199254740993,${text}]`) as [string, unknown]
        expect(value).toEqual(parseJson(text))
      }),
      { numRuns: 500, seed: 1 },
    )
  })
})
