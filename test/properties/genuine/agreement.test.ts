import { describe, it } from 'vitest'
import { holds } from '../check.ts'
import { agreements } from './agreement.ts'
import { pairs } from './pairs.ts'

describe.each(pairs.map((pair) => [pair.table.name, pair] as const))('%s', (_, pair) => {
  it.each(agreements(pair).map((agreement) => [agreement.what, agreement] as const))('%s', (_what, { drawn, check }) => {
    holds(drawn, check)
  })
})
