import { describe, expect, it } from 'vitest'
import { holds } from '../check.ts'
import { operations } from '../messages.ts'
import { agreements } from './agreement.ts'
import { pairs, tableOf, UNPAIRED } from './pairs.ts'

describe.each(pairs.map((pair) => [pair.table.name, pair] as const))('%s', (_, pair) => {
  it.each(agreements(pair).map((agreement) => [agreement.what, agreement] as const))('%s', (_what, { drawn, check }) => {
    holds(drawn, check)
  })
})

it('every table has a native twin, or a reason why not', () => {
  const known = new Set([...pairs.map(({ table }) => table), ...UNPAIRED.map(([id, part]) => tableOf(id, part))])
  const all = operations.flatMap(({ request, answer, envelope }) => [request, answer, envelope])
  const alone = all.filter((table) => table && Object.keys(table.fields).length > 0 && !known.has(table))
  expect([...new Set(alone.map((table) => table?.name))]).toEqual([])
})
