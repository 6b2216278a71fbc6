import { describe, expect, it } from 'vitest'
import { differences } from '../../../mappings/differences.ts'
import { asked, court, seen } from '../given.ts'

const { judge } = court(differences)

/** The artifacts from one position to another, with what the answer says beside them. */
function page(from: number, to: number, { total = 90, token = '', change = {} }: { total?: number; token?: string; change?: object } = {}) {
  const items = Array.from({ length: Math.max(0, to - from) }, (_, nth) => ({ id: `a-${from + nth}`, name: `n-${from + nth}` }))
  return { items, next_page_token: token, total_artifacts: total, skipped: from, ...change }
}

function judged(operation: string, query: string, v1: object, v2: object) {
  return judge(asked(operation, query), seen(v1), seen(v2))
}

/** What v1 shows of 90 artifacts if it ignores the window. */
const FIRST = page(0, 50, { token: 'v1' })

describe('a window of a list that v1 paged by token', () => {
  it.each([
    ['limit=3', page(0, 3, { token: 'v2' })],
    ['limit=3&offset=1', page(1, 4, { token: 'v2' })],
    ['offset=1', page(1, 51, { token: 'v2' })],
    ['limit=500', page(0, 90)],
    ['offset=88', page(88, 90)],
    ['offset=200', page(200, 200)],
    ['page_number=2&per_page=20', page(20, 40, { token: 'v2' })],
  ])('is expected to have the rows of %s', (query, v2) => {
    const { outcome, findings } = judged('libraries.artifacts.list', query, FIRST, v2)
    expect([outcome, ...new Set(findings.map(({ code }) => code))]).toEqual(['expected', 'token-lists-take-windows'])
  })

  it('begins where the own skip of the list begins', () => {
    const v1 = page(2, 52, { token: 'v1' })
    expect(judged('libraries.artifacts.list', 'skip=2&limit=3', v1, page(2, 5, { token: 'v2' })).outcome).toBe('expected')
    expect(judged('libraries.artifacts.list', 'skip=2&limit=3', v1, page(0, 3, { token: 'v2' })).outcome).toBe('mismatch')
  })

  it('ends where v1 ended its own page', () => {
    const v1 = page(0, 2, { token: 'v1' })
    expect(judged('libraries.artifacts.list', 'page=2&page_size=2', v1, page(2, 4, { token: 'v2' })).outcome).toBe('expected')
    expect(judged('libraries.artifacts.list', 'page=1&page_size=2', v1, page(0, 3, { token: 'v2' })).outcome).toBe('mismatch')
  })

  it('matches a v1 that follows it too', () => {
    const window = page(1, 4, { token: 'either' })
    expect(judged('libraries.artifacts.list', 'limit=3&offset=1', window, window).outcome).toBe('match')
  })

  const lost = page(1, 4, { token: 'v2' })
  it.each([
    ['its first row', 'limit=3&offset=1', { ...lost, items: lost.items.slice(1) }],
    ['its last row', 'limit=3&offset=1', { ...lost, items: lost.items.slice(0, 2) }],
    ['all rows', 'limit=3&offset=1', { ...lost, items: [] }],
    ['the value of a row', 'limit=3&offset=1', { ...lost, items: [{ ...lost.items[0], name: 'x' }, ...lost.items.slice(1)] }],
    ['its order', 'limit=3&offset=1', { ...lost, items: [...lost.items].reverse() }],
    ['its beginning', 'limit=3&offset=1', page(2, 5, { token: 'v2' })],
    ['the total', 'limit=3&offset=1', page(1, 4, { token: 'v2', total: 3 })],
    ['a row that no list has', 'limit=3', { ...page(0, 3), items: [...page(0, 2).items, { id: 'new', name: 'new' }] }],
    ['a window that nobody asked for', '', page(1, 50, { token: 'v2' })],
    ['the token, without a window', 'limit=0', page(0, 50)],
    ['a wrong window that is followed', 'limit=3&page=2', page(0, 3, { token: 'v2' })],
  ])('does not excuse %s', (_, query, v2) => {
    expect(judged('libraries.artifacts.list', query, FIRST, v2).outcome).toBe('mismatch')
  })

  it('is no excuse for a list that v1 did not page', () => {
    const rows = (count: number) => ({ items: Array.from({ length: count }, (_, nth) => ({ id: `g-${nth}` })) })
    expect(judged('iam.groups.list', 'limit=3', rows(5), rows(3)).outcome).toBe('mismatch')
  })

  it('is all that there is of a list without a page of its own', () => {
    const tags = (from: number, to: number) => ({ items: page(from, to).items, next_page_token: '' })
    expect(judged('registry.eol_tags.list', 'limit=2', tags(0, 5), { ...tags(0, 2), next_page_token: 'v2' }).outcome).toBe('expected')
    expect(judged('registry.eol_tags.list', 'offset=4', tags(0, 5), tags(4, 6)).outcome).toBe('mismatch')
  })
})
