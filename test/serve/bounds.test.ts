import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createBucket, createBudget, createHolding, inTurns } from '../../src/serve/bounds.ts'
import { abortSignalOf, Firing } from '../../src/serve/signals.ts'

describe('work in turns', () => {
  it.each([
    [1, ['others']],
    [6, ['others', 'asked', 'asked', 'asked']],
  ])('lets others be served after 5 ms, and then asks whether it shall go on: steps of %s ms', async (ms, expected) => {
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
    onTestFinished(() => clock.mockRestore())
    const steps = function* () {
      for (let step = 0; step < 3; step++) {
        now += ms
        yield
      }
      return 'done'
    }
    const served: string[] = []
    setImmediate(() => served.push('others'))
    expect(await inTurns(steps(), () => void served.push('asked'))).toBe('done')
    if (ms < 5) expect(served).toEqual([])
    await new Promise(setImmediate)
    expect(served).toEqual(expected)
  })
})

describe('bucket', () => {
  it('allows as many at once as it holds, and then an even rate', () => {
    let now = 5
    const bucket = createBucket({ most: 4, fillMs: 1000 }, () => now)
    const taken = (times: number) => Array.from({ length: times }, () => bucket.take()).filter(Boolean).length
    expect([taken(10), bucket.wait()]).toEqual([4, 250])
    now += 100
    expect([taken(1), bucket.wait()]).toEqual([0, 150])
    now += 150
    expect([bucket.wait(), taken(10)]).toEqual([0, 1])
    now += 60_000
    expect(taken(10)).toBe(4)
  })

  it('allows nothing if it holds nothing', () => {
    let now = 0
    const bucket = createBucket({ most: 0, fillMs: 1000 }, () => now)
    now += 60_000
    expect(bucket.take()).toBe(false)
  })
})

describe('holding', () => {
  it('grows within the room, and goes back whole', () => {
    const room = createBudget(100)
    const [a, b] = [createHolding(room), createHolding(room)]
    expect([a.reach(40), a.reach(30), a.reach(60), b.reach(50), b.reach(40)]).toEqual([true, true, true, false, true])
    a.release()
    a.release()
    expect([a.reach(1), b.reach(100), b.reach(101)]).toEqual([false, true, false])
  })
})

describe('room', () => {
  it('grants what is left, and again what was returned', () => {
    let refused = 0
    const room = createBudget(10, () => {
      refused += 1
    })
    expect([room.take(6), room.take(5), room.take(4), room.take(1)]).toEqual([true, false, true, false])
    room.give(4)
    expect([room.take(5), room.take(4), refused]).toEqual([false, true, 3])
  })
})

describe('a signal', () => {
  it('calls each listener once, and no listener that left', () => {
    const signal = new Firing()
    const told: unknown[] = []
    const left = () => told.push('left')
    signal.addEventListener('abort', () => told.push(signal.reason))
    signal.addEventListener('abort', left)
    signal.removeEventListener('abort', left)
    signal.abort(new Error('first'))
    signal.abort(new Error('second'))
    expect([signal.aborted, told]).toEqual([true, [new Error('first')]])
  })

  it('forgets its listeners, so that firing tells none of them', () => {
    const signal = new Firing()
    const told: unknown[] = []
    signal.addEventListener('abort', () => told.push('told'))
    signal.forget()
    signal.abort(new Error('late'))
    expect([signal.aborted, told]).toEqual([true, []])
  })

  it('can become an AbortSignal, before it fires and after', () => {
    const signal = new Firing()
    const before = abortSignalOf(signal)
    expect(before.aborted).toBe(false)
    signal.abort(new Error('gone'))
    expect([before.reason, abortSignalOf(signal).reason]).toEqual([new Error('gone'), new Error('gone')])
  })

  it('stays the same if it is an AbortSignal', () => {
    const { signal } = new AbortController()
    expect(abortSignalOf(signal)).toBe(signal)
  })
})
