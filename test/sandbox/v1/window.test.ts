import { describe, expect, test } from 'vitest'
import { readQuery } from '../../../src/sandbox/http/route.ts'
import { readWindow } from '../../../src/sandbox/v1/operations.ts'

const windowFor = (text: string) => readWindow(readQuery([...new URLSearchParams(text)]))
const all = { from: 0, to: Number.POSITIVE_INFINITY }

describe('readWindow (specification §9.5)', () => {
  test.each([
    ['', all],
    ['offset=3', { from: 3, to: Number.POSITIVE_INFINITY }],
    ['offset=3&limit=4', { from: 3, to: 7 }],
    ['limit=4', { from: 0, to: 4 }],
    ['limit=0', all],
    ['page=2&page_size=10', { from: 10, to: 20 }],
    ['page=2&pageSize=10', { from: 10, to: 20 }],
    ['page=2', { from: 50, to: 100 }],
    ['page_size=10', { from: 0, to: 10 }],
    ['page=0&page_size=0', all],
    ['page=2&page_size=0', { from: 50, to: 100 }],
    ['pageNumber=3&perPage=5', { from: 10, to: 15 }],
  ])('cuts ?%s', (text, expected) => expect(windowFor(text)).toEqual(expected))

  test.each([
    ['offset=-1', 'Invalid argument: offset: must be non-negative'],
    ['page=1&page_size=-1', 'Invalid argument: page_size: must be non-negative'],
    ['offset=1&page=1', 'Invalid argument: page: cannot be combined with offset and limit'],
    ['page=1&per_page=5', 'Invalid argument: per_page: cannot be combined with page and page_size'],
    ['limit=x', 'parsing field "limit": strconv.ParseInt: parsing "x": invalid syntax'],
    ['limit=1&limit=2', 'too many values for field "limit": 1, 2'],
  ])('refuses %s', (text, message) => expect(() => windowFor(text)).toThrow(message))
})
