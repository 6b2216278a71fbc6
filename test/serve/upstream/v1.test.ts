import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import http2 from 'node:http2'
import { setImmediate as immediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createLoopGuard, hasPassed } from '../../../src/serve/http/forwarded.ts'
import { destroyLater } from '../../../src/serve/listen/http2.ts'
import { Firing } from '../../../src/serve/signals.ts'
import { createPool, textOf } from '../../../src/serve/upstream/exchange.ts'
import { createReadV1 } from '../../../src/serve/upstream/v1.ts'
import { closedLater, listening, startUpstream } from '../../stage/upstream.ts'

describe('loop', () => {
  function passing(headers: Record<string, string>, ...guards: readonly ReturnType<typeof createLoopGuard>[]) {
    for (const guard of guards) expect(guard.enter(headers)).toBeUndefined()
    return headers
  }

  it('marks a request once for each proxy, after the marks of others', () => {
    const [one, other] = [createLoopGuard(), createLoopGuard()]
    expect(passing({ 'cdn-loop': 'a.test; x="1"' }, one, other)['cdn-loop']).toMatch(
      /^a\.test; x="1", crosswalk-[\w-]{12}, crosswalk-[\w-]{12}$/,
    )
  })

  it('refuses only a request that has come back', () => {
    const [one, other] = [createLoopGuard(), createLoopGuard()]
    const headers = passing({}, one, other)
    expect(one.enter(headers)).toMatchObject({ code: 'INTERNAL', message: expect.stringContaining('has passed through here before') })
    expect(createLoopGuard().enter(headers)).toBeUndefined()
  })

  it('recognises a request that has passed through any Crosswalk', () => {
    expect([hasPassed({}), hasPassed({ 'cdn-loop': 'a.test' }), hasPassed(passing({}, createLoopGuard()))]).toEqual([false, false, true])
  })
})

describe('read v1', () => {
  const REQUEST = { id: 'request-1', method: 'GET', url: '/iam/v1/roles?name=a%2Fb', headers: { host: 'proxy', accept: 'x/y' } }

  async function setUp(respond: (response: ServerResponse) => void) {
    const upstream = await startUpstream((_, response) => respond(response))
    const pool = createPool({ connections: 1, connectTimeoutMs: 1000, callTimeoutMs: 10_000 })
    closedLater(() => pool.destroy())
    const read = createReadV1({ pool, base: `${upstream.url}/base/`, answerMs: 10_000 })
    const signal = new Firing()
    return { upstream, signal, ask: () => read(REQUEST, 1000, signal) }
  }

  describe('an answer of v1 that no client gets', () => {
    it('is read whole', async () => {
      const { ask, upstream } = await setUp((response) => {
        response.writeHead(404, { 'x-one': ['1', '2'], connection: 'x-two', 'x-two': '3' }).write('{"a":')
        setImmediate(() => response.end('"ü"}'))
      })
      const { status, headers, body, size } = await ask()
      expect([status, headers['x-one'], headers['x-two'], size]).toEqual([404, ['1', '2'], undefined, 10])
      expect([textOf(body.pieces ?? []), body.broken]).toEqual(['{"a":"ü"}', false])
      const [seen] = upstream.seen
      expect(seen).toMatchObject({ url: '/base/iam/v1/roles?name=a%2Fb', headers: { accept: 'x/y', 'x-request-id': 'request-1' } })
    })

    it('may have an earlier head', async () => {
      const { ask } = await setUp((response) => {
        response.writeEarlyHints({ link: '</a>; rel=preload' })
        response.end('{}')
      })
      expect(await ask()).toMatchObject({ status: 200, size: 2 })
    })

    it.each([
      ['says so at once', (response: ServerResponse) => void response.writeHead(200, { 'content-length': 1001 }).write('{')],
      ['shows it late', (response: ServerResponse) => void response.write('x'.repeat(1001))],
    ])('is hung up on if it is too large and %s', async (_, respond) => {
      let over: Promise<unknown> | undefined
      const { ask } = await setUp((response) => {
        over = once(response, 'close')
        respond(response)
      })
      expect(await ask()).toMatchObject({ status: 200, body: { pieces: undefined, broken: false }, size: 0 })
      await over
    })

    it('is broken if its connection breaks after the head', async () => {
      const { ask } = await setUp((response) => response.writeHead(200, { 'content-length': 5 }).write('{', () => response.destroy()))
      expect(await ask()).toMatchObject({ status: 200, body: { pieces: [], broken: true }, size: 0 })
    })
  })

  describe('a v1 without an answer', () => {
    it('is not waited for when the signal fires, and is hung up on', async () => {
      let over: Promise<unknown> | undefined
      const { ask, signal } = await setUp((response) => {
        over = once(response, 'close')
        signal.abort(new DOMException('too late', 'TimeoutError'))
      })
      await expect(ask()).rejects.toMatchObject({ code: 'DEADLINE_EXCEEDED', message: 'the v1 service did not answer in time' })
      await over
    })

    it('is not asked after the signal has fired', async () => {
      const { ask, signal, upstream } = await setUp((response) => response.end('{}'))
      signal.abort(new DOMException('gone', 'AbortError'))
      await expect(ask()).rejects.toMatchObject({ code: 'CANCELLED' })
      expect(upstream.seen).toEqual([])
    })

    it('breaks the connection', async () => {
      const { ask } = await setUp((response) => response.destroy())
      await expect(ask()).rejects.toMatchObject({ code: 'UNAVAILABLE', message: 'the connection to the v1 service broke' })
    })

    it('sends a head that cannot be passed on', async () => {
      const { ask } = await setUp((response) => void response.writeHead(600).end())
      await expect(ask()).rejects.toMatchObject({ code: 'INTERNAL', message: 'the v1 service sent an answer that cannot be passed on' })
    })
  })
})

describe('destroy later', () => {
  it('leaves a connection open until the bytes that are being read have been read', async () => {
    const session = http2.connect((await listening(http2.createServer())).url)
    destroyLater(session)
    session.destroy()
    expect(session.destroyed).toBe(false)
    await immediate()
    expect(session.destroyed).toBe(true)
  })
})
