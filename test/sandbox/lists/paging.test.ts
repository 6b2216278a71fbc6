import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readQuery } from '../../../src/sandbox/http/route.ts'
import { type Order, pageOf, readPaging, sortRows } from '../../../src/sandbox/lists.ts'
import type { Row } from '../../../src/sandbox/world/model.ts'
import { createClock, createRandom, createStore, type World } from '../../../src/sandbox/world/store.ts'

type Named = Row & { readonly name: string }

const world: World = {
  store: createStore(),
  clock: createClock(0),
  random: createRandom(1),
  options: { v1Dialect: 'specification', serviceDomain: 'example.test' },
  tokens: new Map(),
  baseUrl: () => '',
  pageKey: 'key',
}

const sortable = { uid: ({ uid }: Named) => uid, name: ({ name }: Named) => name }
const byUid: Order = { name: 'uid', descending: false }

const page = (rows: readonly Named[], parameters: Readonly<Record<string, string>>) => {
  const paging = readPaging(readQuery(Object.entries(parameters)), world, { sortable, order: byUid, filterKey: '' })
  return pageOf(world, sortRows(rows, paging.order, sortable), paging, sortable)
}

const walk = (rows: readonly Named[], sizes: readonly number[], parameters: Readonly<Record<string, string>>) => {
  const seen: Named[] = []
  let token: string | undefined = ''
  for (let index = 0; token !== undefined; index++) {
    const size = sizes[index % sizes.length]!
    const found = page(rows, { ...parameters, page_size: String(size), page_token: token })
    expect(found.totalCount).toBe(String(rows.length))
    expect(found.rows.length).toBeGreaterThan(rows.length === 0 ? -1 : 0)
    seen.push(...found.rows)
    token = found.nextPageToken
  }
  return seen
}

/** Few names, so that most rows tie. Uids are in ascending order, as in a table. */
const rowSet = fc
  .uniqueArray(fc.record({ uid: fc.stringMatching(/^[0-9a-f]{4}$/), name: fc.constantFrom('a', 'b', 'c') }), {
    selector: ({ uid }) => uid,
    maxLength: 40,
  })
  .map((rows) => rows.sort((left, right) => (left.uid < right.uid ? -1 : 1)))

test('returns every row once for any page sizes and order, ties by uid', () => {
  fc.assert(
    fc.property(
      rowSet,
      fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1 }),
      fc.constantFrom('uid', 'uid desc', 'name', 'name desc'),
      (rows, sizes, order) => {
        const [field = 'uid', direction] = order.split(' ')
        const read = field === 'uid' ? sortable.uid : sortable.name
        const expected = [...rows].sort((left, right) => {
          const sign = direction === 'desc' ? -1 : 1
          if (read(left) !== read(right)) return read(left) < read(right) ? -sign : sign
          return left.uid < right.uid ? -1 : 1
        })
        expect(walk(rows, sizes, { order_by: order })).toEqual(expected)
      },
    ),
  )
})

test('neither repeats nor hides a row if another is added or removed between pages', () => {
  fc.assert(
    fc.property(rowSet, fc.integer({ min: 1, max: 5 }), fc.nat(), (rows, size, pick) => {
      const first = page(rows, { page_size: String(size) })
      if (first.nextPageToken === undefined) return
      const gone = rows[pick % rows.length]!
      const left = rows.filter((row) => row !== gone)
      const rest = page(left, { page_size: '200', page_token: first.nextPageToken })
      expect(rest.rows).toEqual(rows.slice(size).filter((row) => row !== gone))
    }),
  )
})
