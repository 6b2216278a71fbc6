import { describe, expect, it } from 'vitest'
import { readWindow } from '../../../src/tables/pages.ts'
import { queryOf } from '../query-of.ts'

const windowOf = (search: string) => readWindow(queryOf(search))

describe('a window (specification §9.5)', () => {
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
