import type { ServerResponse } from 'node:http'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import { createBudget } from '../../../src/migrate/modes/serve.ts'
import { createQueue, type Job } from '../../../src/migrate/observe/observe.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import { bearer, startStage, type TestProxy } from '../../stage/stage.ts'
import { answering, type Handler } from '../../stage/upstream.ts'

describe('queue', () => {
  const settings = { waiting: 2, characters: 100, parallel: 1, deadlineMs: 60_000 }

  /** A job that ends on command, or when it is given up. */
  function held() {
    let end = () => {}
    let begin = () => {}
    const begun = new Promise<void>((resolve) => {
      begin = resolve
    })
    const job: Job = (signal) =>
      new Promise((resolve) => {
        begin()
        end = resolve
        signal.addEventListener('abort', () => resolve())
      })
    return { job, begun, end: () => end() }
  }

  describe('the queue', () => {
    it('drops and counts jobs beyond its number', async () => {
      const queue = createQueue(settings, () => {})
      const first = held()
      queue.offer(first.job, 0, 'a')
      await first.begun
      for (let nth = 0; nth < 3; nth++) queue.offer(async () => {}, 0, 'a')
      expect(queue.counts()).toEqual({ waiting: 2, running: 1, done: 0, dropped: 1, failed: 0 })
      first.end()
      await queue.idle()
      expect(queue.counts()).toEqual({ waiting: 0, running: 0, done: 3, dropped: 1, failed: 0 })
    })

    it('knows its places, and who has them', async () => {
      const { places, offer, idle } = createQueue({ ...settings, waiting: 5 }, () => {})
      for (const operation of ['a', 'b', 'a']) offer(async () => {}, 0, operation)
      expect([places.most, places.left(), places.usedBy('a'), places.usedBy('c')]).toEqual([5, 2, 2, 0])
      await idle()
      expect([places.left(), places.usedBy('a')]).toEqual([5, 0])
    })

    it('goes by bounds that change', async () => {
      const bounds = { ...settings, waiting: 0 }
      const queue = createQueue(bounds, () => {})
      expect([queue.refuses(0), queue.places.most]).toEqual([true, 0])
      bounds.waiting = 1
      expect([queue.refuses(0), queue.places.left()]).toEqual([false, 1])
      bounds.characters = 5
      expect([queue.refuses(6), queue.refuses(5)]).toEqual([true, false])
    })

    it('drops jobs beyond its size, also while a large one runs', async () => {
      const queue = createQueue(settings, () => {})
      const first = held()
      queue.offer(first.job, 99, 'a')
      await first.begun
      expect([queue.refuses(2), queue.refuses(1)]).toEqual([true, false])
      queue.offer(async () => {}, 1, 'a')
      expect([queue.refuses(1), queue.refuses(0)]).toEqual([true, false])
      first.end()
      await queue.idle()
      expect(queue.refuses(100)).toBe(false)
    })

    it('gives a job up at its deadline and continues', async () => {
      const queue = createQueue({ ...settings, deadlineMs: 5 }, () => {})
      queue.offer(held().job, 0, 'a')
      await queue.idle()
      expect(queue.counts()).toMatchObject({ done: 1, running: 0 })
    })

    it('survives a job that throws', async () => {
      const told: unknown[] = []
      const queue = createQueue(settings, (error) => told.push(error))
      queue.offer(
        async () => {
          throw new Error('ours')
        },
        0,
        'a',
      )
      queue.offer(async () => {}, 0, 'a')
      await queue.idle()
      expect(queue.counts()).toMatchObject({ done: 1, failed: 1 })
      expect(told).toEqual([new Error('ours')])
    })

    it('starts nothing before the caller has continued', () => {
      const queue = createQueue(settings, () => {})
      let begun = false
      queue.offer(
        async () => {
          begun = true
        },
        0,
        'a',
      )
      expect(begun).toBe(false)
    })

    it('gives up running jobs and drops waiting ones when it is closed', async () => {
      const queue = createQueue(settings, () => {})
      const first = held()
      queue.offer(first.job, 0, 'a')
      await first.begun
      queue.offer(async () => {}, 0, 'a')
      await queue.close()
      expect(queue.refuses(0)).toBe(true)
      expect(queue.counts()).toMatchObject({ waiting: 0, running: 0, dropped: 2 })
    })
  })

  it('a budget allows as many per minute as it says and fills evenly', () => {
    let now = 0
    const budget = createBudget(2, () => now)
    const take = (times: number) => Array.from({ length: times }, () => budget.take(false))
    expect(take(3)).toEqual([true, true, false])
    now = 30_000
    expect(take(2)).toEqual([true, false])
    now = 3_600_000
    expect(take(3)).toEqual([true, true, false])
    expect(budget.counts).toEqual({ taken: 5, refused: 3, walks: 0 })
    expect(createBudget(0, () => now).take(false)).toBe(false)
  })

  it('a budget reserves half of itself from strangers', () => {
    const budget = createBudget(4, () => 0)
    expect([true, true, true, false, false, false].map((isStranger) => budget.take(isStranger))).toEqual([
      true,
      true,
      false,
      true,
      true,
      false,
    ])
    expect([createBudget(1, () => 0).take(true), createBudget(0, () => 0).take(true)]).toEqual([true, false])
  })
})

describe('bounds', () => {
  const LIMIT = 100_000
  const MEGABYTE = 1_000_000

  type Side = 'v1' | 'v2'

  /** Starts a proxy whose asked side answers in this way, and the other one with an empty list. */
  const start = (asked: Side, respond: Handler, values: Partial<Config> = {}) =>
    startStage({
      ...{ v1: answering({ items: [] }), v2: answering({ groups: [], nextPageToken: '' }), [asked]: respond },
      mode: asked === 'v1' ? 'diff-v2' : 'diff-v1',
      proxy: { 'diff.answerBytes': LIMIT, 'diff.learnEvery': 0, ...values },
    })

  async function compared(proxy: TestProxy): Promise<Comparison | undefined> {
    const answer = await fetch(`${proxy.url}/iam/v1/groups`, { headers: bearer('t') })
    expect([answer.status, await answer.json()]).toEqual([200, { items: [] }])
    await proxy.logged(({ msg }) => msg === 'request')
    await proxy.idle()
    const [comparison] = (await (await fetch(`${proxy.adminUrl}/comparisons`)).json()) as Comparison[]
    return comparison
  }

  const tooLarge = (side: Side, limit = LIMIT) => ({
    outcome: 'inconclusive',
    reason: sent(side, limit),
  })

  /** What one answer of v2 that is too large is where v1's is not. */
  const WRONG = { outcome: 'error', reason: `v1 answered 200, and ${sent('v2', LIMIT)}` }

  function sent(side: Side, limit: number): string {
    return `${side} sent more than diff.answerBytes (${limit} bytes), so it was not compared; raise that setting to compare it`
  }

  /** Writes as long as the reader reads, up to `most` bytes; returns how many it wrote. */
  function pour(response: ServerResponse, piece: Buffer, most = 50 * MEGABYTE): { readonly bytes: () => number } {
    let written = 0
    const more = () => {
      while (written < most && !response.destroyed) {
        written += piece.length
        if (!response.write(piece)) return void response.once('drain', more)
      }
      response.end()
    }
    more()
    return { bytes: () => written }
  }

  const GARBAGE = Buffer.alloc(16_384, 'x')
  const ROWS = JSON.stringify({ groups: Array.from({ length: 20_000 }, (_, nth) => ({ uid: `${nth}`, name: 'x'.repeat(20) })) })

  /** Large answers; each is more than the limit, and most say so late. */
  const LARGE: Readonly<Record<string, (response: ServerResponse) => void>> = {
    'garbage of a known length': (response) => void response.writeHead(200, { 'content-length': GARBAGE.length * 100 }).end(GARBAGE),
    'JSON of a known length': (response) => void response.writeHead(200, { 'content-length': ROWS.length }).end(ROWS),
    'JSON in chunks': (response) => {
      response.write(ROWS.slice(0, 10))
      response.end(ROWS.slice(10))
    },
    'one endless line': (response) => void pour(response, GARBAGE),
    'a gzip bomb': (response) =>
      void response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync(Buffer.alloc(20 * MEGABYTE, ' '))),
    'a gzip bomb that says it is small': (response) => {
      const bomb = gzipSync(Buffer.alloc(20 * MEGABYTE, ' '))
      bomb.writeUInt32LE(2, bomb.length - 4)
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb)
    },
    'a brotli bomb': (response) =>
      void response.writeHead(200, { 'content-encoding': 'br' }).end(brotliCompressSync(Buffer.alloc(2 * MEGABYTE, ' '))),
    'many small values': (response) => void response.end(`{"groups":[${'{},'.repeat(10_000)}{}]}`),
    'an endless error': (response) => void pour(response.writeHead(500), GARBAGE),
  }

  describe.each(['v1', 'v2'] as const)('an asked %s that sends too much', (side) => {
    it.each(Object.entries(LARGE))('says nothing as v1, is wrong as v2, and names the setting: %s', async (name, respond) => {
      const proxy = await start(side, (_, response) => respond(response))
      const comparison = await compared(proxy)
      // A failure of v1 says more than its size.
      if (side === 'v1' && name === 'an endless error') expect(comparison).toMatchObject({ outcome: 'inconclusive' })
      else expect(comparison).toMatchObject(side === 'v1' ? tooLarge(side) : WRONG)
    })

    it('is hung up on', async () => {
      let poured = () => 0
      let over: Promise<unknown> = Promise.resolve()
      const proxy = await start(side, (_, response) => {
        over = new Promise((resolve) => response.once('close', resolve))
        poured = pour(response, GARBAGE).bytes
      })
      expect(await compared(proxy)).toMatchObject(side === 'v1' ? tooLarge(side) : WRONG)
      await over
      // The rest had left before the connection was closed: it is in the buffers of the two sockets.
      expect(poured()).toBeLessThan(10 * MEGABYTE)
    })
  })

  describe('an asked v2 whose pages are small', () => {
    const page = (rows: number, next: string) =>
      JSON.stringify({
        groups: Array.from({ length: rows }, (_, nth) => ({ uid: `${next}-${nth}`, name: 'x'.repeat(1000) })),
        nextPageToken: next,
      })

    it('is inconclusive once they are too large together', async () => {
      let calls = 0
      const proxy = await start('v2', (_, response) => {
        calls += 1
        response.end(page(20, `page-${calls}`))
      })
      expect(await compared(proxy)).toMatchObject(tooLarge('v2'))
      expect(calls).toBeLessThan(LIMIT / 20_000 + 8)
    })

    it('is inconclusive if empty pages never end', async () => {
      let calls = 0
      const proxy = await start('v2', (_, response) => {
        calls += 1
        response.end(page(0, `page-${calls}`))
      })
      expect(await compared(proxy)).toMatchObject(tooLarge('v2'))
      expect(calls).toBeLessThan(LIMIT / 1024 + 8)
    })

    it('is compared if they fit together', async () => {
      const proxy = await start('v2', (_, response) => response.end(page(20, '')), { 'diff.answerBytes': 200_000 })
      expect(await compared(proxy)).toMatchObject({ outcome: 'mismatch' })
    })
  })

  it('an answer of v2 that is larger than what is compared is wrong if that of v1 is not', async () => {
    const large = JSON.stringify({ groups: [{ uid: 'a'.repeat(40), name: 'x'.repeat(2 * LIMIT) }], nextPageToken: '' })
    const served = await start('v2', (_, response) => void response.end(large))
    await served.setModes({ default: 'diff-v2' })
    const answer = await fetch(`${served.url}/iam/v1/groups`, { headers: bearer('t') })
    expect((await answer.text()).length).toBeGreaterThan(2 * LIMIT)
    await served.logged(({ msg }) => msg === 'request')
    await served.idle()
    const [comparison] = (await (await fetch(`${served.adminUrl}/comparisons`)).json()) as Comparison[]
    expect(comparison).toMatchObject(WRONG)
  })
})
