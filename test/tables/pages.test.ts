import { describe, expect, it } from 'vitest'
import { isIdentified } from '../../src/tables/compile.ts'
import type { JsonObject } from '../../src/tables/json.ts'
import { eachPage, type Listing, pageCall, pageIn, readWindow } from '../../src/tables/pages.ts'
import { emit } from '../../src/tables/turn.ts'
import { queryOf, run } from './run.ts'

describe('page', () => {
  const listing: Listing = { path: '/tags', plural: 'tags', order: 'uid', query: [], row: { isAnswer: isIdentified } }
  const rows = [{ uid: 'a' }, { uid: 'b' }]

  /** Returns what is read from an answer to a call at this position: the number of rows, or that it is no page. */
  function read(body: JsonObject, position: readonly (readonly [string, string])[] = []): string {
    try {
      const page = pageIn(listing, pageCall(listing, 200, position), body)
      return `${(page.rows as readonly unknown[]).length} rows, total ${page.totalCount}${page.isMiscounted ? ', miscounted' : ''}`
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
      ['no rows where some are counted', { tags: [], totalCount: '3' }, [], '0 rows, total 3, miscounted'],
      ['neither rows nor their member where some are counted', { totalCount: '3' }, [], '0 rows, total 3, miscounted'],
      ['more rows than are counted', { tags: rows, totalCount: '1' }, [], '2 rows, total 1, miscounted'],
      [
        'more rows than are counted behind those that were skipped',
        { tags: rows, totalCount: '10', skipped: 9 },
        [['skip', '9']],
        '2 rows, total 10, miscounted',
      ],
      [
        'no rows where some are counted behind those that were skipped',
        { tags: [], totalCount: '10', skipped: 9 },
        [['skip', '9']],
        '0 rows, total 10, miscounted',
      ],
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
})

describe('a window (specification §9.5)', () => {
  const windowOf = (search: string) => readWindow(queryOf(search))

  it.each([
    ['', 0, undefined],
    ['offset=3', 3, undefined],
    ['limit=4', 0, 4],
    ['offset=3&limit=4', 3, 4],
    ['offset=0&limit=0', 0, undefined],
    ['page=1&page_size=10', 0, 10],
    ['page=3&pageSize=10', 20, 10],
    ['page=3', 100, 50],
    ['page=2147483647', 2147483647, 50],
    ['page_size=10', 0, 10],
    ['page=0&page_size=10', 0, 10],
    ['page_number=2&per_page=5', 5, 5],
    ['pageNumber=2&perPage=5', 5, 5],
    ['per_page=1000', 0, 1000],
  ])('%j skips %d and takes %s', (search, skip, take) => {
    expect(windowOf(search)).toEqual({ skip, take })
  })

  it('has a page_size of 64 bits where v1 has one, and no other size', () => {
    expect(readWindow(queryOf('page_size=3000000000'), 64)).toEqual({ skip: 0, take: 3_000_000_000 })
    expect(() => windowOf('page_size=3000000000')).toThrow('parsing field "page_size"')
    expect(() => readWindow(queryOf('per_page=3000000000'), 64)).toThrow('parsing field "per_page"')
  })

  it.each([
    ['offset=-1', 'offset: must be non-negative'],
    ['page=-1', 'page: must be non-negative'],
    ['limit=1&page=1', 'page: cannot be combined with'],
    ['page_size=1&per_page=1', 'per_page: cannot be combined with'],
    ['limit=x', 'parsing field "limit"'],
  ])('%j is refused', (search, message) => {
    expect(() => windowOf(search)).toThrow(message)
  })
})

describe('walk', () => {
  const listing: Listing = { path: '/tags', plural: 'tags', order: 'uid', row: { isAnswer: isIdentified }, query: [['name', 'x']] }
  const page = (uids: readonly string[], nextPageToken?: string, more: JsonObject = {}): JsonObject => ({
    tags: uids.map((uid) => ({ uid })),
    ...(nextPageToken !== undefined && { nextPageToken }),
    ...more,
  })
  const walk = (
    pages: readonly JsonObject[],
    { row = listing.row, ...options }: { order?: string; skip?: number; take?: number; row?: Listing['row'] } = {},
  ) => run(eachPage({ ...listing, row, order: options.order ?? 'uid' }, { skip: options.skip ?? 0, take: options.take }, emit), pages)
  const queries = ({ calls }: ReturnType<typeof walk>) => calls.map(({ query }) => Object.fromEntries(query))
  const uids = ({ rows }: ReturnType<typeof walk>) => rows.map(({ uid }) => uid)

  describe('a list', () => {
    it('is read to its end; every page has the filters, only the first skips', () => {
      const ran = walk([page(['b'], 't1', { skipped: 1 }), page(['c'], 't2', { skipped: 1 }), page(['d'], '', { skipped: 1 })], { skip: 1 })
      expect(queries(ran)).toEqual([
        { name: 'x', page_size: '200', skip: '1' },
        { name: 'x', page_size: '200', page_token: 't1' },
        { name: 'x', page_size: '200', page_token: 't2' },
      ])
      expect(uids(ran)).toEqual(['b', 'c', 'd'])
      expect(ran.result).toMatchObject({ nextPageToken: '' })
    })

    it('ends without a token, however v2 shows that', () => {
      expect(walk([page(['a'])]).calls).toHaveLength(1)
      expect(walk([{ tags: null, nextPageToken: null, totalCount: '0' }]).rows).toEqual([])
    })

    it('stops a window when it has enough, and returns the next token', () => {
      const ran = walk([page(['a', 'b'], 't1')], { take: 2 })
      expect(queries(ran)).toEqual([{ name: 'x', page_size: '2' }])
      expect(ran.result).toMatchObject({ nextPageToken: 't1' })
    })

    it('takes the rest of a large window from the last page', () => {
      const first = Array.from({ length: 200 }, (_, at) => `a${String(at).padStart(3, '0')}`)
      expect(queries(walk([page(first, 't1'), page(['b'], 't2')], { take: 201 })).map(({ page_size }) => page_size)).toEqual(['200', '1'])
    })

    it('is asked once for rows that v2 counts behind its end, and is whole if they were shown before', () => {
      const moved = page(['b'], '', { totalCount: '3', skipped: 2 })
      const ran = walk([page(['a'], 't1', { totalCount: '2' }), page(['b'], '', { totalCount: '3' }), moved])
      expect(queries(ran).at(-1)).toEqual({ name: 'x', page_size: '200', skip: '2' })
      expect(uids(ran)).toEqual(['a', 'b'])
    })

    it.each([
      ['more rows than it counts', page(['a', 'b'], '', { totalCount: '1' })],
      ['none where it counts some', page([], '', { totalCount: '1' })],
    ])('is asked for again once if a page has %s', (_, miscounted) => {
      const ran = walk([miscounted, page(['a', 'b'], '', { totalCount: '2' })])
      expect([ran.calls.length, ...uids(ran)]).toEqual([2, 'a', 'b'])
      expect(() => walk([miscounted, miscounted])).toThrow('the v2 service')
    })

    it('is ABORTED if v2 shows other rows there, or more than a page', () => {
      const counted = page(['a'], '', { totalCount: '3' })
      expect(() => walk([counted, page(['b', 'c'], '', { totalCount: '3', skipped: 1 })])).toThrow('longer than the rows')
      expect(() => walk([counted, page(['a'], 't', { totalCount: '3', skipped: 1 })])).toThrow('longer than the rows')
    })
  })

  describe('a list that v2 silently began anew is ABORTED (specification §8)', () => {
    const message = 'the list started over while it was read'

    it('when a row of the first page repeats', () => {
      expect(() => walk([page(['a', 'b'], 't1'), page(['c'], 't2'), page(['x', 'a'], 't3')], { order: 'name' })).toThrow(message)
    })

    it('when the cursor repeats', () => {
      expect(() => walk([page(['a'], 't1'), page(['b'], 't2'), page(['c'], 't1')], { order: 'name' })).toThrow(message)
    })

    it('when the uids go back', () => expect(() => walk([page(['b'], 't1'), page(['a'], 't2')])).toThrow(message))

    it('but not because another order does not follow the uids', () => {
      expect(uids(walk([page(['b'], 't1'), page(['a'])], { order: 'name' }))).toEqual(['b', 'a'])
    })

    it('but not because rows have no uid', () => {
      const rows = (name: string, nextPageToken = ''): JsonObject => ({ tags: [{ name }], nextPageToken })
      expect(walk([rows('a', 't1'), rows('a')], { row: { isAnswer: () => true } }).rows).toHaveLength(2)
    })
  })
})
