import type { Comparison, Example } from '../../src/migrate/records/record.ts'
import { comparison, HOUR, START, shows } from './entries.ts'

const ORGANIZATION = '588391a69873a06cb99a4ed5a59102644f751ea4'
const id = (nth: number) => `${ORGANIZATION}/${nth.toString(16).padStart(16, '0')}`
const rows = (...numbers: readonly number[]) => numbers.map((nth) => ({ id: id(nth), name: `text-6-0000000${nth}` }))

/** Differences of each kind, as records have them. */
export const EXAMPLES: readonly Example[] = [
  {
    kind: 'value',
    at: '/items/3/catalog_tier',
    where: '/items/*/catalog_tier',
    v1: 'APPLICATION',
    v2: 'BASE',
    row: id(3),
    around: {
      at: '/items/3',
      path: ['catalog_tier'],
      v1: { id: id(3), name: 'text-6-81f0aa21', bundles: ['application'], catalog_tier: 'APPLICATION', '…': '4 more' },
      v2: { id: id(3), name: 'text-6-81f0aa21', bundles: [], catalog_tier: 'BASE', '…': '4 more' },
    },
  },
  {
    kind: 'missing',
    at: '/items/2',
    where: '/items/*',
    v1: { id: id(3), name: 'text-6-00000003', description: '' },
    row: id(3),
    around: { at: '/items', v1: rows(2, 3, 4), v2: rows(2, 4), rows: { v1: { from: 1, of: 7, at: 2 }, v2: { from: 1, of: 6 } } },
  },
  {
    kind: 'order',
    at: '/items',
    where: '/items',
    v1: id(1),
    v2: id(2),
    around: { at: '/items', v1: rows(1, 2, 3), v2: rows(2, 3, 1), rows: { v1: { from: 0, of: 3, at: 0 }, v2: { from: 0, of: 3, at: 2 } } },
  },
]

/** One mismatch of these kinds each hour by one caller: of each kind, all are equal. */
export function repeated(hours: number): readonly Comparison[] {
  return Array.from({ length: hours }, (_, nth) => {
    const shown = EXAMPLES.map((example) => shows(example))
    return comparison(nth, {
      at: new Date(START + nth * HOUR).toISOString(),
      outcome: 'mismatch',
      caller: 'one-caller',
      request: { method: 'GET', url: `/registry/v1/repos?uidp.children_of=${ORGANIZATION}&limit=${nth + 1}` },
      totals: shown.flatMap(({ totals }) => totals),
      examples: shown.flatMap(({ examples }) => examples),
    })
  })
}

/** A read that v2 failed, with both answers. */
export const FAILED: Comparison = comparison(1, {
  outcome: 'error',
  reason: 'v2 answered HTTP 503 where v1 answered 200',
  request: { method: 'GET', url: '/iam/v1/roles' },
  operation: 'iam.roles.list',
  v2: { status: 503, code: 14, ms: 31 },
  answers: {
    at: '',
    v1: { items: [{ id: ORGANIZATION, name: 'text-6-5e655bf9' }, '… 31 more'] },
    v2: { code: 14, message: 'text-17-21a17a3c', details: [] },
  },
})
