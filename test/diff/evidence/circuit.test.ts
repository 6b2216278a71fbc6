import { describe, expect, it } from 'vitest'
import { createCircuit, describeCircuit, describeOpening, type Opening, readOpening } from '../../../src/migrate/evidence/circuit.ts'

const OPERATION = 'registry.repos.list'

function circuit({ isProbed = false } = {}) {
  const clock = { now: 1_000_000 }
  const made = createCircuit(
    () => clock.now,
    () => isProbed,
  )
  const turns: string[] = []
  const told = (state: { state: string } | undefined) => state && turns.push(state.state)
  const answers = (count: number, failed: boolean) => {
    for (let nth = 0; nth < count; nth++) told(made.answered(OPERATION, failed))
  }
  const comparisons = (count: number, differed: boolean) => {
    for (let nth = 0; nth < count; nth++) told(made.compared(OPERATION, differed))
  }
  return { ...made, answers, comparisons, turns, clock }
}

describe('the circuit of an operation', () => {
  it('says what it knows and what it lacks while too little is known', () => {
    const { state, answers, comparisons } = circuit()
    expect(state(OPERATION)).toMatchObject({ state: 'inconclusive', errors: { n: 0, bad: 0, atMost: 1, allowed: 0.05 } })
    answers(20, false)
    comparisons(10, false)
    const { reason, errors } = state(OPERATION)
    expect(reason).toMatch(
      /^INCONCLUSIVE: 0 of 20 answers failed, at most [\d.]+ % do \(allowed: 5 %, after \d+ more clean ones\); 0 of 10 comparisons differed, at most [\d.]+ % do \(allowed: 1 %, after \d+ more clean ones\)$/,
    )
    answers(errors.cleanNeeded, false)
    comparisons(state(OPERATION).mismatches.cleanNeeded - 1, false)
    expect(state(OPERATION)).toMatchObject({ state: 'inconclusive', errors: { cleanNeeded: 0 }, mismatches: { cleanNeeded: 1 } })
    comparisons(1, false)
    expect(state(OPERATION).state).toBe('closed')
  })

  it('stays shut after one bad answer, whatever else is known', () => {
    for (const before of [0, 1, 5, 50, 500]) {
      const { state, answers, comparisons, turns } = circuit()
      answers(before, false)
      comparisons(before, false)
      answers(1, true)
      comparisons(1, true)
      expect(turns).toEqual([])
      expect(state(OPERATION).reason).toMatch(/; 1 of the last 1 comparisons differed, 2 more in a row open the circuit$/)
    }
  })

  it.each([0, 10, 1_000, 1_000_000])('opens within a handful of answers once v2 always fails, after %i clean ones', (clean) => {
    const { state, answers, turns, isOpen, clock } = circuit()
    answers(clean, false)
    answers(3, true)
    expect(turns).toEqual([])
    answers(1, true)
    expect(turns).toEqual(['open'])
    expect(isOpen(OPERATION)).toBe(true)
    expect(state(OPERATION)).toMatchObject({
      state: 'open',
      openedAt: clock.now,
      reason: expect.stringMatching(
        /^errors: 4 of the last 4 answers failed, so at least [\d.]+ % do; 5 % is allowed, open since 1970-01-01T00:16:40\.000Z\. Only a person can close it$/,
      ),
    })
  })

  it('opens within a handful of comparisons once v2 always differs', () => {
    const { state, comparisons, turns } = circuit()
    comparisons(100, false)
    comparisons(2, true)
    expect(turns).toEqual([])
    comparisons(1, true)
    expect(state(OPERATION).reason).toMatch(/^mismatches: 3 of the last 3 comparisons differed, so at least [\d.]+ % do; 1 % is allowed/)
  })

  it('says how many more bad ones in a row open it', () => {
    const { state, comparisons, isOpen } = circuit()
    comparisons(1, true)
    comparisons(3, false)
    comparisons(1, true)
    const needed = state(OPERATION).mismatches.run?.badNeeded ?? 0
    comparisons(needed - 1, true)
    expect(isOpen(OPERATION)).toBe(false)
    comparisons(1, true)
    expect(isOpen(OPERATION)).toBe(true)
  })

  it('forgets a bad answer that enough clean ones follow', () => {
    const { state, answers } = circuit()
    answers(1, true)
    expect(state(OPERATION).errors.run).toMatchObject({ n: 1, bad: 1 })
    answers(200, false)
    expect(state(OPERATION).errors.run).toBeUndefined()
    expect(state(OPERATION).errors).toMatchObject({ n: 200, bad: 0 })
  })

  it('measures errors by answers and mismatches by comparisons', () => {
    const { state, answers, comparisons } = circuit()
    answers(10_000, false)
    comparisons(3, true)
    expect(state(OPERATION).state).toBe('open')
  })

  it('stays open without probes until a person closes it, and does not affect other operations', () => {
    const { state, answers, comparisons, isOpen, close, all } = circuit()
    answers(4, true)
    answers(10_000, false)
    comparisons(10_000, false)
    expect(state(OPERATION).state).toBe('open')
    expect(isOpen('iam.groups.list')).toBe(false)
    expect([...all().keys()]).toEqual([OPERATION])
    close(() => true)
    expect(state(OPERATION).state).toBe('inconclusive')
  })

  it('closes by probes once both rates are proven to be within their limits again', () => {
    const { state, answers, comparisons, turns } = circuit({ isProbed: true })
    answers(1_000, false)
    comparisons(1_000, false)
    answers(4, true)
    answers(100, true)
    expect(state(OPERATION).reason).toMatch(
      /5 % is allowed, open since \S+Z\. Since then: 0 of 0 answers failed, at most 100 % do \(allowed: 5 %, after \d+/,
    )
    answers(state(OPERATION).errors.cleanNeeded, false)
    expect(turns).toEqual(['open'])
    comparisons(state(OPERATION).mismatches.cleanNeeded - 1, false)
    expect(turns).toEqual(['open'])
    comparisons(1, false)
    expect(turns).toEqual(['open', 'closed'])
    expect(state(OPERATION)).toMatchObject({ state: 'closed' })
  })

  it('stays open while probes still show too many bad answers', () => {
    const { answers, comparisons, turns } = circuit({ isProbed: true })
    answers(4, true)
    for (let round = 0; round < 200; round++) {
      answers(9, false)
      comparisons(50, false)
      answers(1, true)
    }
    expect(turns).toEqual(['open'])
  })
})

describe('an opening', () => {
  const reason = 'errors: 4 of the last 4 answers failed; 5 % is allowed (opened by a-1)'
  const at = Date.UTC(2027, 2, 1, 12)

  it.each<Opening>([
    { at, reason },
    { at, reason, owner: 'rollout iam' },
    { at, reason, owner: 'the canary of iam.* registry.*.list and rollout a, open since 2026' },
  ])('is read again from what is told of it: %j', (opening) => {
    expect(readOpening(describeOpening(opening), 7)).toEqual(opening)
    for (const probed of [false, true]) {
      const { errors, mismatches } = circuit().state(OPERATION)
      const noted = describeCircuit({ state: 'open', errors, mismatches, opened: describeOpening(opening), probed })
      expect(readOpening(noted, 7)).toEqual(opening)
    }
  })

  it('of an older version told its reason alone', () => {
    expect(readOpening(`${reason}. Only a person can close it`, 7)).toEqual({ at: 7, reason })
    expect(readOpening(reason, 7)).toEqual({ at: 7, reason })
  })

  it('names the guardrail that v2 was too slow for', () => {
    const made = createCircuit(
      () => at,
      () => false,
      undefined,
      () => 'rollout iam',
    )
    made.slow(OPERATION, 'latency: 3 of the last 3')
    expect(made.whyOpen(OPERATION)).toBe('latency: 3 of the last 3, open since 2027-03-01T12:00:00.000Z for the guardrail of rollout iam')
  })
})
