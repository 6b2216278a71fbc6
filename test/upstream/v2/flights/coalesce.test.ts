import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../../src/errors.ts'
import { createCoalescer, type Landing, type Start } from '../../../../src/serve/upstream/flights.ts'

type Coalescing = ReturnType<typeof createCoalescer<number>>

/** The first letter of a key is the caller, the second the request, the rest the client's headers. */
const joining =
  ({ join, turn }: Coalescing) =>
  (key: string, signal: AbortSignal, start: Start<number>, since = turn()) =>
    new Promise<number>((landed, failed) =>
      join({ who: key.slice(0, 1), what: key.slice(1, 2), headers: { 'user-agent': key.slice(2) } }, since, signal, start, {
        landed,
        failed,
      }),
    )

/** Work that lands when the test says so. */
function setUp() {
  const loop = { turn: 7 }
  const started: Landing<number>[] = []
  const reasons: Error[] = []
  const start: Start<number> = (landing) => {
    started.push(landing)
    return {
      cancel(reason) {
        reasons.push(reason)
        landing.failed(reason)
      },
    }
  }
  return { join: joining(createCoalescer<number>(() => loop.turn)), loop, start, started, reasons }
}

describe('work in flight', () => {
  it('is not shared if the caller, the request or the client’s headers differ', () => {
    const { join, start, started } = setUp()
    const { signal } = new AbortController()
    for (const key of ['ab', 'ac', 'bb', 'ab', 'abc', 'abd', 'abc']) void join(key, signal, start)
    expect(started.length).toBe(5)
  })

  it('is shared by key and begins anew when it is over', async () => {
    const { join, start, started } = setUp()
    const { signal } = new AbortController()
    const both = Promise.all([join('k', signal, start), join('k', signal, start)])
    started[0]?.landed(1)
    expect(await both).toEqual([1, 1])
    const again = join('k', signal, start)
    started[1]?.landed(2)
    expect([await again, started.length]).toEqual([2, 2])
  })

  it('is not joined by a later request, which begins newer work to join', async () => {
    const { join, loop, start, started } = setUp()
    const { signal } = new AbortController()
    const first = join('k', signal, start)
    loop.turn += 1
    const rest = Promise.all([join('k', signal, start), join('k', signal, start)])
    started[1]?.landed(2)
    started[0]?.landed(1)
    expect([await first, await rest, started.length]).toEqual([1, [2, 2], 2])
  })

  it('is joined by an earlier request, however late', async () => {
    const { join, loop, start, started } = setUp()
    const { signal } = new AbortController()
    const cameIn = loop.turn
    loop.turn += 1
    const first = join('k', signal, start)
    loop.turn += 100
    const late = join('k', signal, start, cameIn)
    started[0]?.landed(1)
    expect([await first, await late, started.length]).toEqual([1, 1, 1])
  })

  it('fails for all that wait, and for no later request', async () => {
    const { join, start, started } = setUp()
    const { signal } = new AbortController()
    const both = Promise.allSettled([join('k', signal, start), join('k', signal, start)])
    started[0]?.failed(new Error('broken'))
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const again = join('k', signal, start)
    started[1]?.landed(2)
    expect(await again).toBe(2)
  })

  it('is not awaited if it fails before it begins', async () => {
    const { join, start, started } = setUp()
    const { signal } = new AbortController()
    const refused = join('k', signal, (landing) => {
      landing.failed(new Error('closed'))
      return { cancel: () => {} }
    })
    await expect(refused).rejects.toThrow('closed')
    const again = join('k', signal, start)
    started[0]?.landed(2)
    expect(await again).toBe(2)
  })

  it('continues while a request waits, and is cancelled when none does', async () => {
    const { join, start, started, reasons } = setUp()
    const [one, two] = [new AbortController(), new AbortController()]
    const first = join('k', one.signal, start)
    const second = join('k', two.signal, start)
    one.abort(new Error('one left'))
    await expect(first).rejects.toThrow('one left')
    expect(reasons).toEqual([])
    two.abort(new Error('two left'))
    await expect(second).rejects.toThrow('two left')
    expect([reasons, started.length]).toEqual([[new Error('two left')], 1])
  })

  it('is not started for a request that has left', async () => {
    const join = joining(createCoalescer<number>())('k', AbortSignal.abort(new ApiError('CANCELLED', 'gone')), () => {
      throw new Error('started')
    })
    await expect(join).rejects.toThrow('gone')
  })
})
