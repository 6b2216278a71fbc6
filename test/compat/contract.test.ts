import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { differences } from '../../mappings/differences.ts'
import { mappings } from '../../mappings/index.ts'
import { createRouter } from '../../src/request/router.ts'
import { cases } from './cases/index.ts'
import { operationsHit } from './hits.ts'
import { complaintsAboutList, complaintsOf, type Outcome } from './judge.ts'
import { run } from './run.ts'
import { type Sides, startSides } from './sides.ts'
import type { Dialect } from './spell.ts'

/** What came of every case in both dialects, for the tests of the whole below. */
const outcomes: Outcome[] = []

describe.each<Dialect>(['specification', 'published'])('the v1 contract, %s dialect', (dialect) => {
  let sides: Sides

  beforeAll(async () => {
    sides = await startSides(dialect)
  })

  afterAll(() => sides.close())

  test.each(cases.filter((one) => (one.dialect ?? dialect) === dialect))('$name', async (one) => {
    const native = await run(one, sides.native)
    const proxied = await run(one, sides.proxied)
    const outcome = { case: one, native, proxied }
    outcomes.push(outcome)
    const complaints = complaintsOf(outcome, differences)
    if (complaints.length > 0) throw new Error(complaints.join('\n'))
  })
})

describe('the contract as a whole', () => {
  const router = createRouter(mappings.flatMap((mapping) => mapping.operations))

  test('the list of differences is the list of cases that differ', () => {
    expect(complaintsAboutList(cases, differences)).toEqual([])
  })

  test('names of cases are unique', () => {
    expect(cases.map(({ name }) => name).filter((name, at, all) => all.indexOf(name) !== at)).toEqual([])
  })

  test('a case calls the operations that it says it shows', () => {
    const unmet = outcomes.flatMap(({ case: { name, operations: said }, proxied }) => {
      const hit = operationsHit(router, proxied.requests)
      return said.filter((id) => !hit.has(id)).map((id) => `${name}: ${id}`)
    })
    expect(unmet).toEqual([])
  })

  test.each(differences)('without the code $code something is red', ({ code }) => {
    const others = differences.filter((difference) => difference.code !== code)
    expect(outcomes.flatMap((outcome) => complaintsOf(outcome, others))).toContain(`difference ${code} is not in mappings/differences.ts`)
  })

  test('a false code turns the suite red, and so does a false operation, a false case and a difference that no longer occurs', () => {
    const [first, ...rest] = differences
    if (!first) throw new Error('there is no difference')
    const listWith = (changed: Partial<typeof first>) => complaintsAboutList(cases, [{ ...first, ...changed }, ...rest])
    expect(listWith({ code: 'false' })).toContain(`difference false: no case "${first.test}" pins it`)
    expect(listWith({ operations: [...first.operations, 'iam.roles.list'] })).not.toEqual([])
    expect(listWith({ test: 'ping needs no token' })).not.toEqual([])
    expect(complaintsAboutList(cases, [first, ...differences])).toContain(`difference ${first.code} is declared twice`)
    const pinned = outcomes.find(({ case: one }) => one.difference === first.code)
    if (!pinned) throw new Error(`nothing pins ${first.code}`)
    expect(complaintsOf({ ...pinned, native: pinned.proxied }, differences)).toEqual([
      `difference ${first.code} no longer occurs: both sides answer alike`,
    ])
    expect(complaintsOf({ ...pinned, case: { ...pinned.case, operations: ['iam.roles.list'] } }, differences)).toEqual([
      `difference ${first.code} does not name iam.roles.list`,
    ])
    const { difference: _, ...undeclared } = pinned.case
    expect(complaintsOf({ ...pinned, case: undeclared }, differences).join()).toMatch(/^the sides differ and no difference is declared/)
  })
})
