import { describe, expect, it } from 'vitest'
import type { Mode } from '../../src/serve/sides.ts'
import { callMany, startComparison, type TestComparison } from './given.ts'

const READ = { name: 'users.get', isRead: true } as const

/** Two functions that say who they are, and how often each was called. */
function sides() {
  const calls = { legacy: 0, next: 0 }
  const legacy = async (_: string) => {
    calls.legacy += 1
    return 'legacy'
  }
  const next = async (_: string) => {
    calls.next += 1
    return 'next'
  }
  return { calls, legacy, next }
}

function reportOf({ comparison }: TestComparison) {
  return comparison.report().operations[0]
}

describe('the mode', () => {
  it.each<[Mode, string, { legacy: number; next: number }]>([
    ['v1', 'legacy', { legacy: 1, next: 0 }],
    ['v2', 'next', { legacy: 0, next: 1 }],
    ['diff-v1', 'legacy', { legacy: 3, next: 2 }],
    ['diff-v2', 'next', { legacy: 3, next: 2 }],
  ])('%s lets %s answer', async (mode, answer, wanted) => {
    const stage = startComparison({ diff: { learnEvery: 0 } })
    const { calls, legacy, next } = sides()
    const getUser = stage.comparison.compare(legacy, next, { ...READ, mode })
    expect(await getUser('u1')).toBe(answer)
    await stage.comparison.idle()
    expect(calls).toEqual(wanted)
  })

  it('may change at any time, and is noted', async () => {
    const stage = startComparison()
    let mode: Mode = 'v1'
    const getUser = stage.comparison.compare(sides().legacy, sides().next, { ...READ, mode: () => mode })
    expect(await getUser('u1')).toBe('legacy')
    mode = 'v2'
    expect(await getUser('u1')).toBe('next')
    expect(stage.comparison.report().timeline.notes).toMatchObject([{ what: 'modes', operation: 'users.get', from: 'v1', to: 'v2' }])
  })

  it('gives a share of the callers next, each of them always', async () => {
    const stage = startComparison({ diff: { learnEvery: 0 } })
    const same = async (_: string) => 1
    const answers = new Map<string, Set<string>>()
    const options = { ...READ, mode: 'v1', canary: { mode: 'v2', percent: 50 }, caller: (id: string) => id } as const
    const { legacy, next } = sides()
    const getUser = stage.comparison.compare(legacy, next, options)
    for (let n = 0; n < 400; n++) {
      const caller = `tenant-${n % 200}`
      answers.set(caller, (answers.get(caller) ?? new Set()).add(await getUser(caller)))
    }
    expect([...answers.values()].filter(({ size }) => size > 1)).toEqual([])
    const nexts = [...answers.values()].filter((one) => one.has('next')).length
    expect(nexts).toBeGreaterThan(70)
    expect(nexts).toBeLessThan(130)
    expect(same).toBeDefined()
  })

  it('gives no caller a next that is proven wrong, until its circuit is closed', async () => {
    const stage = startComparison({ diff: { learnEvery: 0 } })
    const { legacy, next } = sides()
    const options = { ...READ, canary: { mode: 'diff-v2', percent: 100 }, caller: (id: string) => id } as const
    const getUser = stage.comparison.compare(legacy, next, options)
    expect(await getUser('a')).toBe('next')
    await callMany((n) => getUser(`a${n}`), 20, stage)
    expect(await getUser('a')).toBe('legacy')
    expect(stage.comparison.verdict().reasons[0]).toContain('circuit is open')
    stage.comparison.closeCircuit('users.get')
    expect(await getUser('a')).toBe('next')
  })
})

describe('a write', () => {
  it('is never run twice, and is unverifiable', async () => {
    const stage = startComparison()
    const { calls, legacy, next } = sides()
    const create = stage.comparison.compare(legacy, next, { name: 'users.create', isRead: false })
    expect(await create('u1')).toBe('legacy')
    await stage.comparison.idle()
    expect(calls).toEqual({ legacy: 1, next: 0 })
    expect(reportOf(stage)).toMatchObject({ standing: 'unverifiable', calls: 1, comparisons: 0 })
  })

  it('runs once on each side if the owner says that this is safe', async () => {
    const stage = startComparison({ diff: { learnEvery: 1 } })
    const { calls, legacy, next } = sides()
    const create = stage.comparison.compare(legacy, next, { name: 'users.create', isRead: false, isSafeTwice: true })
    await create('u1')
    await stage.comparison.idle()
    expect(calls).toEqual({ legacy: 1, next: 1 })
    expect(reportOf(stage)).toMatchObject({ mismatches: 1, n: 1 })
  })
})
