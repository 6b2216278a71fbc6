import { describe, expect, it } from 'vitest'
import { createCircuit } from '../../../src/diff/evidence/circuit.ts'
import type { ComparisonOutcome } from '../../../src/diff/judge/judge.ts'

const OPERATION = 'registry.repos.list'
const settings = { windowMs: 60_000, slots: 12, minimum: 20, errors: 0.1, mismatches: 0.05 }

function circuit() {
  const clock = { now: 1_000_000 }
  const made = createCircuit(() => clock.now, settings)
  const observe = (count: number, outcome: ComparisonOutcome, operation = OPERATION) => {
    for (let nth = 0; nth < count; nth++) made.observe(operation, outcome)
  }
  return { ...made, many: observe, clock }
}

describe('the circuit of an operation', () => {
  it('is inconclusive with too little traffic, never a pass', () => {
    const { state, many } = circuit()
    expect(state(OPERATION)).toEqual({ state: 'inconclusive', reason: 'INCONCLUSIVE: 0 answers in 60 s, fewer than 20' })
    many(19, 'match')
    expect(state(OPERATION).state).toBe('inconclusive')
    many(1, 'expected')
    expect(state(OPERATION)).toEqual({ state: 'closed', reason: '20 answers in 60 s, within the bounds' })
  })

  it.each([
    ['error', 10, 'errors: 11 of 101 answers in 60 s, more than the 10 % that are allowed'],
    ['mismatch', 4, 'mismatches: 5 of 95 answers in 60 s, more than the 5 % that are allowed'],
    ['transient', 4, 'mismatches: 5 of 95 answers in 60 s, more than the 5 % that are allowed'],
  ] as const)('opens when the rate of each %s exceeds its limit, and reports it once', (outcome, allowed, reason) => {
    const { state, many, observe, isOpen, open, clock } = circuit()
    many(90, 'match')
    many(allowed, outcome)
    expect(state(OPERATION).state).toBe('closed')
    expect(observe(OPERATION, outcome)).toEqual({ state: 'open', reason, openedAt: clock.now })
    expect(observe(OPERATION, outcome)).toBeUndefined()
    expect(isOpen(OPERATION)).toBe(true)
    expect([...open().keys()]).toEqual([OPERATION])
  })

  it('opens early if no clean answers could make up for the bad ones', () => {
    const { state, many } = circuit()
    many(1, 'mismatch')
    expect(state(OPERATION).state).toBe('inconclusive')
    many(1, 'mismatch')
    expect(state(OPERATION).state).toBe('open')
  })

  it('drops answers that left the window', () => {
    const { state, many, clock } = circuit()
    many(1, 'mismatch')
    clock.now += 60_000
    many(1, 'mismatch')
    expect(state(OPERATION).state).toBe('inconclusive')
    many(30, 'match')
    clock.now += 59_999
    expect(state(OPERATION).state).toBe('closed')
    clock.now += 5_000
    expect(state(OPERATION)).toMatchObject({ state: 'inconclusive', reason: 'INCONCLUSIVE: 0 answers in 60 s, fewer than 20' })
  })

  it('does not count races and open questions', () => {
    const { state, many } = circuit()
    many(50, 'race')
    many(50, 'inconclusive')
    expect(state(OPERATION).state).toBe('inconclusive')
  })

  it('stays open until a person closes it, and does not affect other operations', () => {
    const { state, many, isOpen, reset, clock } = circuit()
    many(5, 'error')
    clock.now += 3_600_000
    many(100, 'match')
    expect(state(OPERATION).state).toBe('open')
    expect(isOpen('iam.groups.list')).toBe(false)
    reset(OPERATION)
    expect(state(OPERATION).state).toBe('inconclusive')
  })
})
