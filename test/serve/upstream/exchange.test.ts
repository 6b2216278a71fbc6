import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { createPool, decode, type Exchange, exchange, type RawAnswer, textOf } from '../../../src/serve/upstream/exchange.ts'
import { Coalescer, type Receiver, type Start, type Underway } from '../../../src/serve/upstream/shared-reads.ts'
import { startStage } from '../../stage/stage.ts'
import { closedLater, startUpstream } from '../../stage/upstream.ts'

describe('decode', () => {
  const TEXT = '{"uid":"ü"}'
  const LIMIT = 1000

  it.each([
    ['gzip', gzipSync(TEXT)],
    ['x-gzip', gzipSync(TEXT)],
    ['GZIP', gzipSync(TEXT)],
    ['deflate', deflateSync(TEXT)],
    ['br', brotliCompressSync(TEXT)],
    ['identity', Buffer.from(TEXT)],
    ['gzip, br', brotliCompressSync(gzipSync(TEXT))],
  ])('decodes %s', async (encoding, bytes) => {
    expect((await decode(bytes, encoding, LIMIT)).toString()).toBe(TEXT)
  })

  it('refuses an answer that grows beyond the limit, which it names', async () => {
    await expect(decode(gzipSync('x'.repeat(LIMIT + 1)), 'gzip', LIMIT)).rejects.toMatchObject({
      code: 'INTERNAL',
      message: 'the v2 service sent an answer of more than limits.answerBytes (1000)',
    })
  })

  it('decodes as many codings as are usual, and no more', async () => {
    const times = (count: number) => Array.from({ length: count }).reduce((bytes: Buffer) => gzipSync(bytes), Buffer.from(TEXT))
    const named = (count: number) => Array.from({ length: count }, () => 'gzip').join()
    expect((await decode(times(5), named(5), LIMIT)).toString()).toBe(TEXT)
    await expect(decode(times(6), named(6), LIMIT)).rejects.toMatchObject({
      code: 'INTERNAL',
      message: 'the v2 service sent an answer in more than 5 content codings',
    })
  })

  it.each([
    ['gzip', 'the v2 service sent an answer that is not JSON'],
    ['zstd', 'the v2 service sent an answer in the unknown content coding "zstd"'],
    ['__proto__', 'the v2 service sent an answer in the unknown content coding "__proto__"'],
  ])('reports bytes that are not %s as an error of v2', async (encoding, message) => {
    await expect(decode(Buffer.from('nonsense'), encoding, LIMIT)).rejects.toMatchObject({ code: 'INTERNAL', message })
  })
})

describe('exchange', () => {
  async function setUp(handle: (request: IncomingMessage, response: ServerResponse) => void, connections = 4) {
    const upstream = await startUpstream(handle)
    const pool = createPool({ connections, connectTimeoutMs: 1000, callTimeoutMs: 10_000 })
    closedLater(() => pool.destroy())
    const ask = (more: Partial<Exchange> = {}) => {
      const request: Exchange = { origin: upstream.url, path: '/', method: 'GET', headers: [], answerBytes: 1000, ...more }
      let underway: Underway | undefined
      const done = new Promise<RawAnswer>((landed, failed) => {
        underway = exchange(pool, request, { received: landed, failed })
      })
      return { done, cancel: (reason: Error) => underway?.cancel(reason) }
    }
    return { upstream, ask }
  }

  describe('an answer', () => {
    it('is complete, however it arrives', async () => {
      const { ask } = await setUp((_, response) => {
        response.write('{"a":')
        setImmediate(() => response.end('"ü"}'))
      })
      const { status, pieces } = await ask().done
      expect([status, textOf(pieces)]).toEqual([200, '{"a":"ü"}'])
    })

    it('is the same if it is larger than a page or cut within a character', async () => {
      const body = Buffer.from(`"${'ü'.repeat(200_000)}"`)
      const { ask } = await setUp((_, response) => {
        response.write(body.subarray(0, 2))
        setImmediate(() => response.end(body.subarray(2)))
      })
      expect(textOf((await ask({ answerBytes: 500_000 }).done).pieces)).toBe(body.toString())
    })

    it('without a body is empty', async () => {
      const { ask } = await setUp((_, response) => void response.writeHead(204).end())
      expect(await ask().done).toMatchObject({ status: 204, pieces: [] })
    })

    it.each<[string, Record<string, string>]>([
      ['of a known length', { 'content-length': '5000' }],
      ['in chunks', {}],
      ['that ends with its connection', { connection: 'close', 'transfer-encoding': 'identity' }],
    ])('is an error and frees its connection if it is too large, %s', async (_, headers) => {
      const { ask } = await setUp((request, response) => {
        if (request.url === '/small') return void response.end('{}')
        response.useChunkedEncodingByDefault = headers.connection === undefined
        response.writeHead(200, headers)
        response.write('x'.repeat(600))
        setImmediate(() => response.end('x'.repeat(4400)))
      }, 1)
      await expect(ask().done).rejects.toMatchObject({
        code: 'INTERNAL',
        message: 'the v2 service sent an answer of more than limits.answerBytes (1000)',
      })
      expect(textOf((await ask({ path: '/small' }).done).pieces)).toBe('{}')
    })
  })

  describe('a cancelled exchange', () => {
    it('ends at once with its reason and closes the connection', async () => {
      const { upstream, ask } = await setUp(() => {})
      const arrived = once(upstream.server, 'request')
      const { done, cancel } = ask()
      const [{ socket }] = await arrived
      const closed = once(socket, 'close')
      cancel(new Error('gone'))
      await expect(done).rejects.toMatchObject({ cause: new Error('gone') })
      await closed
      expect(upstream.seen).toHaveLength(1)
    })

    it('is never sent while it waits for a connection', async () => {
      let release = () => {}
      const { upstream, ask } = await setUp((request, response) => {
        if (request.url === '/first') release = () => void response.end('{}')
        else response.end('{}')
      }, 1)
      const first = ask({ path: '/first' })
      const second = ask({ path: '/second' })
      second.cancel(new Error('gone'))
      await expect(second.done).rejects.toMatchObject({ cause: new Error('gone') })
      await new Promise<void>((resolve) => upstream.server.once('request', () => setImmediate(resolve)))
      release()
      await first.done
      await ask({ path: '/third' }).done
      expect(upstream.seen.map(({ url }) => url)).toEqual(['/first', '/third'])
    })

    it('changes nothing once it is over', async () => {
      const { ask } = await setUp((_, response) => void response.end('{}'))
      const { done, cancel } = ask()
      await done
      cancel(new Error('gone'))
      expect((await done).status).toBe(200)
    })
  })
})

describe('long answers', () => {
  /** A proxy before a v2 that answers what `answer` says of a path. */
  async function setUp(answer: (url: URL) => { readonly status?: number; readonly body: unknown }) {
    const proxy = await startStage({
      v1: null,
      v2: (request, response) => {
        const { status = 200, body } = answer(new URL(request.url ?? '', 'http://v2'))
        response.writeHead(status, { 'content-type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body))
      },
    })
    return {
      async get(path: string) {
        const answered = await fetch(`${proxy.url}${path}`)
        return { status: answered.status, text: await answered.text() }
      },
      async call(method: string) {
        const headers = { 'content-type': 'application/json' }
        return (await fetch(`${proxy.url}/chainguard.platform.iam.${method}`, { method: 'POST', headers, body: '{}' })).text()
      },
    }
  }

  const uidOf = (nth: number) => String(nth).padStart(40, '0')

  /** Rows of v2 whose texts have so many letters; `odd` members are read by no table. */
  const groupsOf = (count: number, letters: number, more: object = {}) =>
    Array.from({ length: count }, (_, nth) => ({
      uid: uidOf(nth),
      name: `g${nth}`,
      description: 'é"'.repeat(letters / 2),
      resourceLimits: { repositories: nth, ...(nth % 2 && { idps: 1 }) },
      ...more,
    }))

  const ESCAPED = { createTime: '2024-01-01T00:00:00Z', odd: [1, { two: '\\' }] }

  describe('an answer of v2 that is read in several turns', () => {
    it.each([
      ['translated as text', 700, {}],
      ['parsed', 4000, {}],
      ['parsed, with odd members', 4000, ESCAPED],
    ])('has the rows that a short one has: %s', async (_, letters, more) => {
      let groups = groupsOf(200, letters, more)
      const { get, call } = await setUp(() => ({ body: { groups, totalCount: String(groups.length) } }))
      const long = await get('/iam/v1/groups')
      const message: { items: object[] } = JSON.parse(await call('Groups/List'))
      expect(long.text.length).toBeGreaterThan(200 * letters)
      const rows = JSON.parse(long.text).items as object[]
      expect([long.status, rows.length, message.items.length]).toEqual([200, 200, 200])
      for (const nth of [0, 1, 100, 199]) {
        groups = groupsOf(200, letters, more).slice(nth, nth + 1)
        expect((await get(`/iam/v1/groups?name=g${nth}`)).text).toBe(JSON.stringify({ items: [rows[nth]] }))
        expect(JSON.parse(await call('Groups/List')).items).toEqual([message.items[nth]])
      }
    })

    it('is walked on page by page, with windows that begin with the last row before', async () => {
      const all = groupsOf(450, 4000)
      const { get } = await setUp(({ searchParams }) => {
        const skip = Number(searchParams.get('skip') ?? 0)
        const groups = all.slice(skip, skip + Number(searchParams.get('page_size')))
        return { body: { groups, totalCount: '450', skipped: skip, nextPageToken: skip + groups.length < 450 ? `t${skip}` : '' } }
      })
      const { items } = JSON.parse((await get('/iam/v1/groups')).text)
      expect(items.map(({ id }: { id: string }) => id)).toEqual(all.map(({ uid }) => uid))
    })

    it('is the whole answer to a write', async () => {
      const [group] = groupsOf(1, 400_000)
      const { get } = await setUp(() => ({ body: { ...group } }))
      expect(JSON.parse((await get(`/iam/v1/groups?id=${uidOf(0)}`)).text).items[0].description).toBe(group?.description)
    })

    const LONG = 'x'.repeat(200_000)
    it.each([
      [
        'a row of too many values',
        { groups: [{ uid: uidOf(0), odd: new Array(50_000).fill(12_345_678) }] },
        'with more than 20000 values in one row, or beside its rows',
      ],
      [
        'a row of too many bytes',
        { groups: [{ uid: uidOf(0), odd: 'x'.repeat(2 ** 22) }] },
        'with more than 4194304 bytes in one row, or beside its rows',
      ],
      ['more rows than were asked for', { groups: groupsOf(201, 1000) }, 'without what it must hold'],
      ['what is no JSON', `{"groups":["${LONG}",]}`, 'that is not JSON'],
      ['no object', `["${LONG}"]`, 'that is not JSON'],
      [
        'a value of a wrong type',
        { groups: groupsOf(200, 1000, { createTime: 7, odd: LONG.slice(0, 3000) }) },
        'a wrong answer: createTime must be an RFC 3339 timestamp',
      ],
    ])('is an error of v2: %s', async (_, body, why) => {
      const { get } = await setUp(() => ({ body }))
      const { status, text } = await get('/iam/v1/groups')
      expect([status, JSON.parse(text)]).toEqual([
        500,
        {
          code: 13,
          message: expect.stringContaining(`the v2 service sent ${why.startsWith('a ') ? '' : 'an answer '}${why}`),
          details: [],
        },
      ])
    })

    it('is no error body', async () => {
      const { get } = await setUp(() => ({ status: 404, body: { code: 5, message: LONG } }))
      expect((await get(`/iam/v1/groups?id=${uidOf(0)}`)).text).toContain('the v2 service answered HTTP 404 without an error body')
    })
  })
})

describe('work in flight', () => {
  /** The first letter of a key is the caller, the second the request, the rest the client's headers. */
  const joining =
    (reads: Coalescer<number>) =>
    (key: string, signal: AbortSignal, start: Start<number>, since = reads.turn()) =>
      new Promise<number>((landed, failed) =>
        reads.join({ who: key.slice(0, 1), what: key.slice(1, 2), headers: { 'user-agent': key.slice(2) } }, since, {
          signal,
          shared: undefined,
          start,
          handleEvent() {
            this.shared?.leave(this, signal.reason)
          },
          received: landed,
          failed,
        }),
      )

  function setUp() {
    const loop = { turn: 7 }
    const started: Receiver<number>[] = []
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
    const begin = joining(new Coalescer<number>(() => loop.turn))
    const join = (key: string, signal = new AbortController().signal, begun = start, since?: number) => begin(key, signal, begun, since)
    return { join, loop, start, started, reasons }
  }

  it('is not shared if the caller, the request or the client’s headers differ', () => {
    const { join, started } = setUp()
    for (const key of ['ab', 'ac', 'bb', 'ab', 'abc', 'abd', 'abc']) void join(key)
    expect(started.length).toBe(5)
  })

  it('is shared by key and begins anew when it is over', async () => {
    const { join, started } = setUp()
    const both = Promise.all([join('k'), join('k')])
    started[0]?.received(1)
    expect(await both).toEqual([1, 1])
    const again = join('k')
    started[1]?.received(2)
    expect([await again, started.length]).toEqual([2, 2])
  })

  it('is not joined by a later request, which begins newer work to join', async () => {
    const { join, loop, started } = setUp()
    const first = join('k')
    loop.turn += 1
    const rest = Promise.all([join('k'), join('k')])
    started[1]?.received(2)
    started[0]?.received(1)
    expect([await first, await rest, started.length]).toEqual([1, [2, 2], 2])
  })

  it('is joined by an earlier request, however late', async () => {
    const { join, loop, start, started } = setUp()
    const cameIn = loop.turn
    loop.turn += 1
    const first = join('k')
    loop.turn += 100
    const late = join('k', undefined, start, cameIn)
    started[0]?.received(1)
    expect([await first, await late, started.length]).toEqual([1, 1, 1])
  })

  it('fails for all that wait, and for no later request', async () => {
    const { join, started } = setUp()
    const both = Promise.allSettled([join('k'), join('k')])
    started[0]?.failed(new Error('broken'))
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    const again = join('k')
    started[1]?.received(2)
    expect(await again).toBe(2)
  })

  it('is not awaited if it fails before it begins', async () => {
    const { join, started } = setUp()
    const refused = join('k', undefined, (landing) => {
      landing.failed(new Error('closed'))
      return { cancel: () => {} }
    })
    await expect(refused).rejects.toThrow('closed')
    const again = join('k')
    started[0]?.received(2)
    expect(await again).toBe(2)
  })

  it('continues while a request waits, and is cancelled when none does', async () => {
    const { join, started, reasons } = setUp()
    const [one, two] = [new AbortController(), new AbortController()]
    const first = join('k', one.signal)
    const second = join('k', two.signal)
    one.abort(new Error('one left'))
    await expect(first).rejects.toThrow('one left')
    expect(reasons).toEqual([])
    two.abort(new Error('two left'))
    await expect(second).rejects.toThrow('two left')
    expect([reasons, started.length]).toEqual([[new Error('two left')], 1])
  })

  it('is not started for a request that has left', async () => {
    const join = joining(new Coalescer<number>())('k', AbortSignal.abort(new ApiError('CANCELLED', 'gone')), () => {
      throw new Error('started')
    })
    await expect(join).rejects.toThrow('gone')
  })
})
