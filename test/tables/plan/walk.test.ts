import { describe, expect, it } from 'vitest'
import { isIdentified } from '../../../src/tables/compile.ts'
import type { JsonObject } from '../../../src/tables/json.ts'
import { eachPage, type Listing } from '../../../src/tables/pages.ts'
import { emit } from '../../../src/tables/turn.ts'
import { run } from '../run.ts'

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

  it('when the uids go back', () => {
    expect(() => walk([page(['b'], 't1'), page(['a'], 't2')])).toThrow(message)
  })

  it('but not because another order does not follow the uids', () => {
    expect(uids(walk([page(['b'], 't1'), page(['a'])], { order: 'name' }))).toEqual(['b', 'a'])
  })

  it('but not because rows have no uid', () => {
    const rows = (name: string, nextPageToken = ''): JsonObject => ({ tags: [{ name }], nextPageToken })
    expect(walk([rows('a', 't1'), rows('a')], { row: { isAnswer: () => true } }).rows).toHaveLength(2)
  })
})
