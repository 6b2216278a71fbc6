import { describe, expect, it } from 'vitest'
import { isIdentified } from '../../../src/tables/compile.ts'
import type { JsonObject } from '../../../src/tables/json.ts'
import { type Listing, pageCall, pageIn } from '../../../src/tables/pages.ts'

const listing: Listing = { path: '/tags', plural: 'tags', order: 'uid', query: [], row: { isAnswer: isIdentified } }
const rows = [{ uid: 'a' }, { uid: 'b' }]

/** Returns what is read from an answer to a call at this position: the number of rows, or that it is no page. */
function read(body: JsonObject, position: readonly (readonly [string, string])[] = []): string {
  try {
    const page = pageIn(listing, pageCall(listing, 200, position), body)
    return `${(page.rows as readonly unknown[]).length} rows, total ${page.totalCount}`
  } catch (error) {
    return String((error as { code?: string }).code)
  }
}

describe('a page is', () => {
  it.each<[string, JsonObject, (readonly [string, string])[], string]>([
    ['an empty list', { tags: [] }, [], '0 rows, total undefined'],
    ['one that leaves its rows out and counts none', { totalCount: '0', skipped: 0 }, [], '0 rows, total 0'],
    ['one whose rows are null and that counts none', { tags: null, totalCount: 0 }, [], '0 rows, total 0'],
    ['one behind the end', { tags: [], totalCount: '2', skipped: 9 }, [['skip', '9']], '0 rows, total 2'],
    ['one with more rows to come', { tags: rows, totalCount: '9', nextPageToken: 't' }, [], '2 rows, total 9'],
    ['one with a count that is a number', { tags: rows, totalCount: 2 }, [], '2 rows, total 2'],
    ['one that rows were deleted from since they were counted', { tags: rows, totalCount: '3' }, [], '2 rows, total 3'],
    ['the last one behind a cursor', { tags: rows, totalCount: '1000' }, [['page_token', 't']], '2 rows, total 1000'],
    ['one without rows behind a cursor', { tags: [], totalCount: '1000' }, [['page_token', 't']], '0 rows, total 1000'],
  ])('%s', (_, body, position, seen) => {
    expect(read(body, position)).toBe(seen)
  })
})

describe('no page is', () => {
  it.each<[string, JsonObject, (readonly [string, string])[]]>([
    ['the empty object', {}, []],
    ['a list of something else', { items: [], nextPageToken: '' }, []],
    ['rows that are an object', { tags: {} }, []],
    ['rows that are a text', { tags: 'x' }, []],
    ['a row that is none', { tags: [{ uid: 'a' }, null] }, []],
    ['a row without uid', { tags: [{ uid: 'a' }, { name: 'b' }] }, []],
    ['a row whose uid is empty', { tags: [{ uid: '' }] }, []],
    ['a row whose uid is a number', { tags: [{ uid: 5 }] }, []],
    ['a page token that is a number', { tags: rows, nextPageToken: 5 }, []],
    ['a count that is none', { tags: rows, totalCount: 'x' }, []],
    ['a negative count', { tags: rows, totalCount: -1 }, []],
    ['no rows where some are counted', { tags: [], totalCount: '3' }, []],
    ['neither rows nor their member where some are counted', { totalCount: '3' }, []],
    ['more rows than are counted', { tags: rows, totalCount: '1' }, []],
    ['more rows than are counted behind those that were skipped', { tags: rows, totalCount: '10' }, [['skip', '9']]],
    ['no rows where some are counted behind those that were skipped', { tags: [], totalCount: '10' }, [['skip', '9']]],
    ['more rows than were asked for', { tags: Array.from({ length: 201 }, (_, at) => ({ uid: `u${at}` })) }, []],
    ['a row that it shows twice', { tags: [...rows, { uid: 'a' }] }, []],
    ['a list whose members are in snake case', { tags: rows, next_page_token: 't' }, []],
    ['one that did not skip', { tags: rows, totalCount: '20', skipped: 0 }, [['skip', '9']]],
    [
      'one that skipped less behind a cursor',
      { tags: rows, skipped: 1 },
      [
        ['page_token', 't'],
        ['skip', '2'],
      ],
    ],
    ['a page that leaves its rows out behind a cursor', { totalCount: '3' }, [['page_token', 't']]],
  ])('%s', (_, body, position) => {
    expect(read(body, position)).toBe('INTERNAL')
  })
})
