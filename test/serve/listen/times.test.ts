import { EventEmitter } from 'node:events'
import type { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import {
  type Coming,
  type Cut,
  createDeadlines,
  createRestedConnections,
  createTimeLimits,
  type Going,
  keepTickShape,
  keptTicks,
} from '../../../src/serve/listen/times.ts'
import { whenClosed } from '../../../src/serve/signals.ts'
import { metric } from '../../programs/faults/process/child.ts'
import { dial, SECURE } from '../../programs/faults/wire.ts'
import { startStage } from '../../stage/stage.ts'
import type { Handler } from '../../stage/upstream.ts'

describe('ticks', () => {
  it('keeps one object of a next tick, however often it is called', async () => {
    keepTickShape()
    await new Promise<void>((resolve) => process.nextTick(resolve))
    keepTickShape()
    await new Promise<void>((resolve) => process.nextTick(resolve))
    expect(keptTicks).toHaveLength(1)
    const [kept = {}] = keptTicks
    // The computed names of that literal, by which Node identifies a tick.
    expect(Object.getOwnPropertySymbols(kept).map(String)).toEqual(
      expect.arrayContaining(['Symbol(async_id_symbol)', 'Symbol(trigger_async_id_symbol)']),
    )
    expect(Object.keys(kept)).toContain('callback')
  })
})

describe('deadlines', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

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

describe('time limits', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  /** An answer whose bytes the test writes and takes. */
  class Answer extends EventEmitter implements Going {
    writableLength = 0
    writableEnded = false
    writableFinished = false
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

  describe('the signal of a request', () => {
    it('fires at its own deadline, whatever else is watched', () => {
      const { limits, answer } = setUp()
      limits.watch(new Answer(), undefined)
      limits.watch(answer, undefined)
      const signal = limits.signalOf(answer)
      vi.advanceTimersByTime(2000)
      const later = limits.signalOf(new Answer())
      vi.advanceTimersByTime(990)
      expect([signal.aborted, later.aborted]).toEqual([false, false])
      vi.advanceTimersByTime(20)
      expect([signal.reason, later.aborted]).toMatchObject([{ code: 'DEADLINE_EXCEEDED' }, false])
      vi.advanceTimersByTime(1990)
      expect(later.reason).toMatchObject({ code: 'DEADLINE_EXCEEDED' })
    })

    it('fires when the client goes away, after all others have heard of that', () => {
      const { limits, answer } = setUp()
      limits.watch(answer, undefined)
      const signal = limits.signalOf(answer)
      const heard: boolean[] = []
      whenClosed(answer, { over: () => void heard.push(signal.aborted), next: undefined })
      answer.destroy()
      expect([heard, signal.reason]).toMatchObject([[false], { code: 'CANCELLED' }])
    })

    it('never fires once the answer is complete, and the timer stops', () => {
      const { limits, answer } = setUp()
      limits.watch(answer, undefined)
      const signal = limits.signalOf(answer)
      answer.writableFinished = true
      answer.emit('close')
      vi.advanceTimersByTime(10_000)
      expect([signal.aborted, vi.getTimerCount()]).toEqual([false, 0])
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
})

describe('rested connections', () => {
  describe('a refused connection', () => {
    beforeEach(() => void vi.useFakeTimers())
    afterEach(() => void vi.useRealTimers())

    function setUp(perSecond: number) {
      const rests = createRestedConnections({ perSecond, longestMs: 1000 }, () => performance.now())
      const unread = new Set<number>()
      const refuse = (name: number) => rests.refused(sockets[name] as Socket)
      const sockets = Array.from({ length: 200 }, (_, name) => ({
        _handle: { readStop: () => void unread.add(name), readStart: () => void unread.delete(name) },
      })) as unknown as Socket[]
      return { rests, unread, refuse }
    }

    it('is read further while refusals are few', () => {
      const { refuse, unread } = setUp(100)
      for (let name = 0; name < 10; name++) refuse(name)
      expect(unread.size).toBe(0)
      refuse(10)
      expect([...unread]).toEqual([10])
    })

    it('resumes in its turn, so many a second', () => {
      const { refuse, unread } = setUp(100)
      for (let name = 0; name < 40; name++) refuse(name)
      expect(unread.size).toBe(30)
      vi.advanceTimersByTime(100)
      expect([...unread]).toEqual(Array.from({ length: 20 }, (_, at) => at + 20))
      vi.advanceTimersByTime(200)
      expect(unread.size).toBe(0)
    })

    it('resumes after the time it was told to wait, however many there are', () => {
      const { refuse, unread } = setUp(10)
      for (let name = 0; name < 200; name++) refuse(name)
      vi.advanceTimersByTime(990)
      expect(unread.size).toBeGreaterThan(180)
      vi.advanceTimersByTime(20)
      expect(unread.size).toBe(0)
    })

    it('rests once, however many of its requests were in flight', () => {
      const { refuse, unread } = setUp(1)
      refuse(0)
      for (let each = 0; each < 5; each++) refuse(1)
      vi.advanceTimersByTime(1005)
      expect(unread.size).toBe(0)
    })

    it('resumes at the end', () => {
      const { rests, refuse, unread } = setUp(1)
      for (let name = 0; name < 5; name++) refuse(name)
      expect(unread.size).toBe(4)
      rests.end()
      expect(unread.size).toBe(0)
      refuse(6)
      expect(unread.size).toBe(0)
    })

    it('never rests without a limit', () => {
      const { refuse, unread } = setUp(0)
      for (let name = 0; name < 200; name++) refuse(name)
      expect(unread.size).toBe(0)
    })
  })

  describe('over HTTP', () => {
    function connect(url: string) {
      const socket = dial(url).setEncoding('latin1')
      onTestFinished(() => void socket.destroy())
      return {
        send: () => void socket.write('GET /iam/v1/groups HTTP/1.1\r\nhost: v1\r\n\r\n'),
        status: () => new Promise<string>((resolve) => socket.once('data', (text: unknown) => resolve(String(text).slice(9, 12)))),
      }
    }

    it.each([
      ['plain text', {}],
      ['TLS', SECURE],
    ])('%s: gets an answer to what it asks at rest once there is room again', async (_, certificate) => {
      const held: (() => void)[] = []
      let arrived = () => {}
      const v2: Handler = (_, response) => {
        held.push(() => void response.end('{"groups":[]}'))
        arrived()
      }
      const proxy = await startStage({
        v1: null,
        v2,
        proxy: { 'limits.requestsInFlight': 1, 'limits.refusalsPerSecond': 1, ...certificate },
      })
      const waiting = new Promise<void>((resolve) => {
        arrived = resolve
      })
      const [first, second] = [connect(proxy.url), connect(proxy.url)]
      first.send()
      await waiting
      for (let each = 0; each < 2; each++) {
        second.send()
        expect(await second.status()).toBe('503')
      }
      second.send()
      // After two answers of the admin port, a connection that is read would have been read.
      for (let each = 0; each < 2; each++) await fetch(`${proxy.adminUrl}/healthz`)
      const next = second.status()
      arrived = () => held.at(-1)?.()
      held[0]?.()
      expect(await first.status()).toBe('200')
      expect(await next).toBe('200')
      expect(await metric(proxy, 'crosswalk_refused_total{reason="overload"}')).toBe(2)
    })
  })
})
