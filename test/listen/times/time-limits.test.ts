import { EventEmitter } from 'node:events'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Coming, type Cut, createTimeLimits, type Going } from '../../../src/serve/listen/times.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** An answer whose bytes the test writes and takes. */
class Answer extends EventEmitter implements Going {
  writableLength = 0
  writableEnded = false
  destroyed = false

  destroy(): void {
    this.destroyed = true
    this.emit('close')
  }
}

function setUp() {
  const cuts: Cut[] = []
  const late: Going[] = []
  const closed: Coming[] = []
  const anonymous = { complete: false }
  const limits = createTimeLimits<Coming, Going>(
    { bodyMs: 2000, writeMs: 1000, callMs: 3000, streamBytes: 10, streamMs: 1000 },
    {
      late: (response) => void late.push(response),
      close: (request) => void closed.push(request),
      breakOff: (response) => (response as Answer).destroy(),
      cut: (why) => void cuts.push(why),
      isAnonymous: (request) => request === anonymous,
    },
    () => performance.now(),
  )
  return { limits, cuts, late, closed, answer: new Answer(), request: { complete: false, moved: 0 }, anonymous }
}

describe('an answer', () => {
  it('is broken off if the client takes nothing', () => {
    const { limits, cuts, answer } = setUp()
    limits.watch(answer, undefined)
    vi.advanceTimersByTime(5000)
    answer.writableLength = 10
    vi.advanceTimersByTime(1000)
    expect(answer.destroyed).toBe(false)
    vi.advanceTimersByTime(500)
    expect([answer.destroyed, cuts]).toEqual([true, ['write']])
  })

  it('may take any time if the client takes it in pieces', () => {
    const { limits, answer } = setUp()
    limits.watch(answer, undefined)
    answer.writableLength = 10
    for (let at = 0; at < 10; at += 1) {
      vi.advanceTimersByTime(900)
      answer.emit('drain')
    }
    expect(answer.destroyed).toBe(false)
    expect(answer.listenerCount('drain')).toBeLessThanOrEqual(1)
  })

  it('is forgotten at its end, and the timer stops', () => {
    const { limits, cuts, answer } = setUp()
    limits.watch(answer, undefined)
    answer.emit('close')
    vi.advanceTimersByTime(500)
    expect([cuts, vi.getTimerCount()]).toEqual([[], 0])
  })
})

describe('a body', () => {
  it('is late if it does not arrive whole', () => {
    const { limits, cuts, late, answer, request } = setUp()
    limits.watch(answer, request)
    vi.advanceTimersByTime(1900)
    expect(late).toEqual([])
    vi.advanceTimersByTime(250)
    expect([late, cuts]).toEqual([[answer], ['body']])
  })

  it('is never late in a stream that is free', () => {
    const { limits, late, answer, request } = setUp()
    limits.watchStream(answer, request)
    vi.advanceTimersByTime(100_000)
    expect(late).toEqual([])
  })

  it.each([
    ['body', false, 'body', 2000],
    ['call', true, 'call', 3000],
    ['stream', true, 'stream', 1000],
  ] as const)('bounds a stream of the kind %s', (kind, complete, why, ms) => {
    const { limits, late, cuts, answer, request } = setUp()
    limits.watchStream(answer, Object.assign(request, { complete })).kind = kind
    vi.advanceTimersByTime(ms - 100)
    expect(late).toEqual([])
    vi.advanceTimersByTime(250)
    expect([late, cuts]).toEqual([[answer], [why]])
  })

  it('may take any time in a stream that moves', () => {
    const { limits, late, answer, request } = setUp()
    limits.watchStream(answer, request).kind = 'stream'
    for (let at = 0; at < 20; at += 1) {
      vi.advanceTimersByTime(900)
      request.moved += 20
    }
    expect(late).toEqual([])
  })

  it('gives its place up if it has no credential, once', () => {
    const { limits, late, cuts, answer, request, anonymous } = setUp()
    limits.watch(new Answer(), request)
    expect(limits.giveUpOne()).toBe(false)
    limits.watch(answer, anonymous)
    vi.advanceTimersByTime(500)
    expect([limits.giveUpOne(), limits.giveUpOne()]).toEqual([true, false])
    expect([late, cuts]).toEqual([[answer], ['place']])
  })

  it('ends the connection if it is incomplete half a second after its answer', () => {
    const { limits, closed, answer, request } = setUp()
    limits.watch(answer, request)
    answer.emit('close')
    vi.advanceTimersByTime(500)
    expect(closed).toEqual([])
    vi.advanceTimersByTime(500)
    expect([closed, vi.getTimerCount()]).toEqual([[request], 0])
  })

  it('ends nothing if it is complete a moment after its answer', () => {
    const { limits, closed, answer, request } = setUp()
    limits.watch(answer, request)
    answer.writableEnded = true
    vi.advanceTimersByTime(300)
    request.complete = true
    answer.emit('close')
    vi.advanceTimersByTime(5000)
    expect([closed, vi.getTimerCount()]).toEqual([[], 0])
  })
})
