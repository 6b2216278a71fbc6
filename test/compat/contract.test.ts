import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { differences } from '../../mappings/differences.ts'
import { cases } from './cases/index.ts'
import { complaintsOf } from './judge.ts'
import { run } from './run.ts'
import { type Sides, startSides } from './sides.ts'
import type { Dialect } from './spell.ts'

describe.each<Dialect>(['specification', 'published'])('the v1 contract, %s dialect', (dialect) => {
  let sides: Sides

  beforeAll(async () => {
    sides = await startSides(dialect)
  })

  afterAll(() => sides.close())

  test.each(cases.filter((one) => (one.dialect ?? dialect) === dialect))('$name', async (one) => {
    const native = await run(one, sides.native)
    const proxied = await run(one, sides.proxied)
    expect(complaintsOf({ case: one, native, proxied }, differences).join('\n\n')).toBe('')
  })
})
