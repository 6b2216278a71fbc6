import type { IncomingMessage, ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { createPool, type Exchange, exchange, type RawAnswer, textOf } from '../../../src/serve/upstream/exchange.ts'
import type { Underway } from '../../../src/serve/upstream/flights.ts'
import { startUpstream } from '../../stage/upstream.ts'

const closing: (() => Promise<void>)[] = []

afterEach(async () => {
  for (const close of closing.splice(0)) await close()
})

async function setUp(handle: (request: IncomingMessage, response: ServerResponse) => void, connections = 4) {
  const upstream = await startUpstream(handle)
  const pool = createPool({ connections, connectTimeoutMs: 1000, callTimeoutMs: 10_000 })
  closing.push(
    () => pool.destroy(),
    () => upstream.close(),
  )
  const ask = (more: Partial<Exchange> = {}) => {
    const request: Exchange = { origin: upstream.url, path: '/', method: 'GET', headers: [], answerBytes: 1000, ...more }
    let underway: Underway | undefined
    const done = new Promise<RawAnswer>((landed, failed) => {
      underway = exchange(pool, request, { landed, failed })
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

  it('is requested once more, and no more, after it broke off', async () => {
    const { upstream, ask } = await setUp((request) => void request.socket.destroy())
    await expect(ask().done).rejects.toMatchObject({ code: 'UNAVAILABLE' })
    expect(upstream.seen).toHaveLength(2)
  })
})

describe('a cancelled exchange', () => {
  it('ends at once with its reason and closes the connection', async () => {
    let arrived = () => {}
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve
    })
    let closed: Promise<void> | undefined
    const { upstream, ask } = await setUp((request) => {
      closed = new Promise((resolve) => request.socket.once('close', () => resolve()))
      arrived()
    })
    const { done, cancel } = ask()
    await waiting
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
