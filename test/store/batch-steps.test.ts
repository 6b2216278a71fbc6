import fc from 'fast-check'
import { expect, it } from 'vitest'
import { stepsOf } from '../../src/fleet/store/redis-scripts.ts'
import { anyChange } from './random-batches.ts'

it('sends a large batch in steps, with its heartbeat and its reads in the last', () => {
  const batches = fc.tuple(fc.array(anyChange, { maxLength: 40 }), fc.integer({ min: 1, max: 1e9 }), fc.integer({ min: 1, max: 9 }))
  const run = fc.property(batches, ([changes, nth, most]) => {
    const batch = { replica: 'a', nth, changes, reads: [{ kind: 'replicas', name: '' }], isUrgent: true } as const
    const steps = stepsOf(batch, most)
    const sent = steps.flatMap((step) => step.changes)
    expect(sent).toHaveLength(changes.length)
    expect(sent.filter(({ kind }) => kind !== 'beat')).toEqual(changes.filter(({ kind }) => kind !== 'beat'))
    expect(steps.every((step) => step.changes.length <= most)).toBe(true)
    const numbers = steps.map((step) => step.nth)
    expect(numbers.every((number, at) => number > (numbers[at - 1] ?? nth - 1))).toBe(true)
    expect(steps.at(-1)).toMatchObject({ nth, reads: batch.reads, isUrgent: true })
    expect(steps.slice(0, -1).every(({ isUrgent, reads }) => !isUrgent && reads.length === 0)).toBe(true)
    const beats = sent.flatMap(({ kind }, at) => (kind === 'beat' ? [at] : []))
    expect(steps.length === 1 || beats.every((at) => at >= sent.length - beats.length)).toBe(true)
  })
  fc.assert(run, { numRuns: 100 })
})
