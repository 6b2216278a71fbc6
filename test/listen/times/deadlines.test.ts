import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createDeadlines } from '../../../src/serve/listen/times.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** Collects what is late, in order and with its time. */
function setUp(ms: number) {
  const deadlines = createDeadlines(ms)
  const began = performance.now()
  const late: [name: string, after: number][] = []
  const watch = (name: string) => {
    const watched = { late: () => void late.push([name, performance.now() - began]) }
    deadlines.watch(watched)
    return watched
  }
  return { deadlines, late, watch }
}

describe('deadlines', () => {
  it('pass for each at its own time', async () => {
    const { late, watch } = setUp(100)
    watch('a')
    await vi.advanceTimersByTimeAsync(60)
    watch('b')
    watch('c')
    await vi.advanceTimersByTimeAsync(1000)
    expect(late).toEqual([
      ['a', 100],
      ['b', 160],
      ['c', 160],
    ])
  })

  it('do not pass for what is forgotten, at any place, and not twice', async () => {
    const { deadlines, late, watch } = setUp(100)
    const watched = ['a', 'b', 'c', 'd'].map(watch)
    for (const at of [1, 0, 3]) deadlines.forget(watched[at] as ReturnType<typeof watch>)
    await vi.advanceTimersByTimeAsync(100)
    for (const each of watched) deadlines.forget(each)
    watch('e')
    await vi.advanceTimersByTimeAsync(1000)
    expect(late).toEqual([
      ['c', 100],
      ['e', 200],
    ])
  })

  it('keep one timer, and none without anything to watch', async () => {
    const { deadlines, watch } = setUp(100)
    const watched = [watch('a'), watch('b')]
    expect(vi.getTimerCount()).toBe(1)
    for (const each of watched) deadlines.forget(each)
    await vi.advanceTimersByTimeAsync(100)
    expect(vi.getTimerCount()).toBe(0)
  })
})
