import { describe, expect, it } from 'vitest'
import { createReadinessMemory, judgeCutover } from '../../../src/migrate/evidence/cutover.ts'
import { createEvidence } from '../../../src/migrate/evidence/evidence.ts'
import type { Note } from '../../../src/migrate/records/record.ts'
import { operations } from '../given.ts'

const [GROUPS, REPOS] = ['iam.groups.list', 'registry.repos.list'] as const

/** How many clean and how many wrong observations there are of an operation. */
type Counts = Readonly<Record<string, readonly [clean: number, wrong?: number]>>

const ENOUGH = [400] as const
const BAD = [400, 30] as const

/** The verdict at a target of 1 %, which 400 clean observations reach. */
function verdictOf(counts: Counts, circuits: Readonly<Record<string, string>> = {}) {
  const evidence = createEvidence(() => 0)
  for (const [operation, [clean, wrong = 0]] of Object.entries(counts)) {
    for (let nth = 0; nth < clean + wrong; nth += 1) {
      evidence.observe({ operation, caller: 'c', shape: `${nth}`, outcome: nth < clean ? 'match' : 'mismatch' })
    }
  }
  const seen = { evidence: evidence.all(), traffic: new Map(), clients: [], openCircuits: new Map(Object.entries(circuits)) }
  return judgeCutover({ target: 0.01, withoutV1: false, isStrict: true, ...seen, operations })
}

const brief = (notes: readonly Pick<Note, 'what' | 'operation' | 'from' | 'to'>[]) =>
  notes.map(({ what, operation = 'all', from, to }) => `${operation} ${what}: ${from} -> ${to}`)

describe('the memory of readiness', () => {
  it('tells once when an operation and everything becomes ready', () => {
    const memory = createReadinessMemory()
    expect(memory.news(verdictOf({ [GROUPS]: [10] }), 0)).toEqual([])
    expect(brief(memory.news(verdictOf({ [GROUPS]: ENOUGH, [REPOS]: [10] }), 1))).toEqual([`${GROUPS} ready: inconclusive -> inside`])
    const all = verdictOf({ [GROUPS]: ENOUGH, [REPOS]: ENOUGH })
    expect(brief(memory.news(all, 2))).toEqual([`${REPOS} ready: inconclusive -> inside`, 'all ready: not ready -> ready'])
    expect(memory.news(all, 3)).toEqual([])
  })

  it('tells at once, with the reason, when an operation stops being ready', () => {
    const memory = createReadinessMemory()
    memory.news(verdictOf({ [GROUPS]: ENOUGH, [REPOS]: ENOUGH }), 0)
    expect(memory.news(verdictOf({ [GROUPS]: BAD, [REPOS]: ENOUGH }), 1)).toEqual([
      { what: 'not-ready', operation: GROUPS, from: 'inside', to: 'outside', text: expect.stringContaining('30 mismatches') },
      { what: 'not-ready', from: 'ready', to: 'not ready', text: `In the way: ${GROUPS}.` },
    ])
  })

  it('calls an operation with an open circuit not ready', () => {
    const memory = createReadinessMemory()
    memory.news(verdictOf({ [GROUPS]: ENOUGH }), 0)
    const [first] = memory.news(verdictOf({ [GROUPS]: ENOUGH }, { [GROUPS]: 'errors: 4 of 4' }), 1)
    expect(first).toMatchObject({ what: 'not-ready', operation: GROUPS, text: expect.stringContaining('circuit is open. errors: 4 of 4') })
  })

  it('calls an operation of which nothing is known any more not ready', () => {
    const memory = createReadinessMemory()
    memory.news(verdictOf({ [GROUPS]: ENOUGH }), 0)
    expect(brief(memory.news(verdictOf({}), 1))).toEqual(['all not-ready: ready -> not ready', `${GROUPS} not-ready: inside -> unknown`])
    expect(memory.news(verdictOf({}), 2)).toEqual([])
  })

  it('tells of what hovers at the target once in five minutes', () => {
    const memory = createReadinessMemory()
    const verdicts = [verdictOf({ [GROUPS]: ENOUGH, [REPOS]: [1] }), verdictOf({ [GROUPS]: [10], [REPOS]: [1] })] as const
    const told = Array.from({ length: 1200 }, (_, second) => memory.news(verdicts[second % 2 === 0 ? 0 : 1], 1000 * second)).flat()
    expect(told.map(({ what }) => what)).toEqual(['ready', 'not-ready', 'ready', 'not-ready', 'ready', 'not-ready', 'ready', 'not-ready'])
    expect(memory.isWaiting()).toBe(false)
    memory.news(verdicts[0], 1_200_000)
    expect(memory.isWaiting()).toBe(true)
  })

  it('says nothing again that earlier records know', () => {
    const memory = createReadinessMemory()
    memory.assume(verdictOf({ [GROUPS]: ENOUGH }))
    expect(memory.news(verdictOf({ [GROUPS]: ENOUGH }), 0)).toEqual([])
  })

  it('says what changed since the last note of earlier records', () => {
    const memory = createReadinessMemory()
    const note = { kind: 'note', at: '1970-01-01T00:00:00.000Z', text: '' } as const
    memory.recall({ ...note, what: 'ready', operation: GROUPS, to: 'inside' })
    memory.recall({ ...note, what: 'not-ready', operation: REPOS, to: 'outside' })
    memory.recall({ ...note, what: 'modes' })
    const now = verdictOf({ [GROUPS]: BAD, [REPOS]: ENOUGH })
    memory.assume(now)
    expect(brief(memory.news(now, 0))).toEqual([`${GROUPS} not-ready: inside -> outside`])
    expect(brief(memory.news(now, 300_000))).toEqual([`${REPOS} ready: outside -> inside`])
  })
})
