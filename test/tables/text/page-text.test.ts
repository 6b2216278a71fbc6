import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import { isObject, type JsonObject } from '../../../src/tables/json.ts'
import type { Resource } from '../../../src/tables/resource.ts'
import { behindFirst, isRowText, type RowText } from '../../../src/tables/text/engine.ts'
import { compilePage, compileRow } from '../../../src/tables/text/page-text.ts'
import { parseJson } from '../../../src/tables/text/parse-json.ts'
import { DIALECTS, type Dialect } from '../../../src/tables/uid.ts'
import { pageToken } from './odd-json.ts'

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
const CASES = Number(process.env.CROSSWALK_CASES ?? 400)

describe('a page turned into v1 text', () => {
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
      for (const page of fc.sample(pageToken(plural, shown), { numRuns: CASES, seed: 5 })) {
        for (const text of rowsOf(plural, page)) {
          const rows = read?.(piecesOf(text))?.[plural]
          if (!isRowText(rows)) continue
          expect(textOf(rows)).toBe(`,${JSON.stringify(show[dialect](parseJson(text) as JsonObject))}`)
          same += 1
        }
      }
      expect(same).toBeGreaterThan(50)
    },
    5000 + 20 * CASES,
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
