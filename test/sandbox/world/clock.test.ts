import { afterEach, describe, expect, test, vi } from 'vitest'
import { createClock } from '../../../src/sandbox/world/store.ts'

afterEach(() => void vi.useRealTimers())

describe('waiting tasks', () => {
  test('run once, in the order they are due, when the clock is moved', () => {
    const clock = createClock(0)
    const ran: string[] = []
    clock.after(20, () => ran.push('second'))
    clock.after(10, () => ran.push('first'))
    clock.advance(9)
    expect(ran).toEqual([])
    clock.advance(11)
    clock.advance(100)
    expect(ran).toEqual(['first', 'second'])
  })

  test('run by themselves on a running clock, sooner if it is moved', () => {
    vi.useFakeTimers({ now: 0 })
    const clock = createClock()
    const task = vi.fn()
    clock.after(1_000, task)
    vi.advanceTimersByTime(400)
    clock.advance(599)
    expect(task).not.toHaveBeenCalled()
    vi.advanceTimersByTime(1_000)
    clock.after(1_000, task)
    clock.advance(1_000)
    expect(task).toHaveBeenCalledTimes(2)
  })

  test('do not run when cancelled', () => {
    const clock = createClock(0)
    const task = vi.fn()
    const cancel = clock.after(10, task)
    cancel()
    clock.advance(10)
    expect(task).not.toHaveBeenCalled()
  })

  test('may wait again from within', () => {
    const clock = createClock(0)
    const task = vi.fn(() => void clock.after(5, task))
    clock.after(5, task)
    clock.advance(5)
    clock.advance(5)
    expect(task).toHaveBeenCalledTimes(2)
  })
})
