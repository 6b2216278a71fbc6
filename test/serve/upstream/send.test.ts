import nock from 'nock'
import type { Agent } from 'undici'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { credentialHash } from '../../../src/serve/request.ts'
import { type CallContext, createPool } from '../../../src/serve/upstream/exchange.ts'
import { createOwnAnswers, createSend, createWriteMarks, type SendContext, type SendSettings } from '../../../src/serve/upstream/send.ts'
import type { JsonObject } from '../../../src/tables/json.ts'
import type { Call } from '../../../src/tables/turn.ts'
import { startUpstream } from '../../stage/upstream.ts'
import { promised } from '../sends.ts'

describe('own answers', () => {
  it('keeps no more resources than it may, the latest of them', () => {
    const own = createOwnAnswers(10)
    own.set('a', { uid: 'a' }, 4)
    own.set('b', { uid: 'b' }, 6)
    expect([own.get('a'), own.get('b')]).toEqual([{ uid: 'a' }, { uid: 'b' }])
    own.set('c', { uid: 'c' }, 5)
    expect([own.get('a'), own.get('b'), own.get('c')]).toEqual([undefined, undefined, { uid: 'c' }])
    own.set('d', { uid: 'd' }, 11)
    expect(['a', 'b', 'c', 'd'].map(own.get)).toEqual([undefined, undefined, undefined, undefined])
  })

  it('counts an answer once, however often it arrives', () => {
    const own = createOwnAnswers(2)
    own.set('a', { uid: 'a' }, 1)
    own.set('a', { uid: 'later' }, 1)
    own.set('b', { uid: 'b' }, 1)
    expect([own.get('a'), own.get('b')]).toEqual([{ uid: 'a' }, { uid: 'b' }])
  })
})

describe('write marks', () => {
  it('renames a caller during a write, after it, and after each further one', () => {
    const { nameOf, begin } = createWriteMarks()
    const names = [nameOf('a')]
    const over = begin('a')
    names.push(nameOf('a'))
    over(true)
    names.push(nameOf('a'))
    begin('a')(true)
    names.push(nameOf('a'))
    expect(new Set(names).size).toBe(4)
    expect(nameOf('b')).toBe('b')
  })

  it('ignores a refused write, whatever else is in flight', () => {
    const { nameOf, begin } = createWriteMarks()
    begin('a')(false)
    expect(nameOf('a')).toBe('a')
    const [refused, done] = [begin('a'), begin('a')]
    done(true)
    refused(false)
    expect(nameOf('a')).not.toBe('a')
  })

  it('keeps the name of a write in flight when another one of the caller ends', () => {
    const { nameOf, begin } = createWriteMarks()
    const [refused, done] = [begin('a'), begin('a')]
    const during = nameOf('a')
    refused(false)
    expect(nameOf('a')).toBe(during)
    done(false)
    expect(nameOf('a')).toBe('a')
  })

  it('never gives an older name back when a write is forgotten', () => {
    const { nameOf, begin } = createWriteMarks(2)
    const old = [nameOf('a')]
    for (let nth = 0; nth < 5; nth += 1) {
      begin('a')(true)
      for (const other of ['b', 'c', 'd']) begin(other)(true)
      expect(old).not.toContain(nameOf('a'))
      old.push(nameOf('a'))
    }
  })

  it('keeps no place for refused writers', () => {
    const { nameOf, begin } = createWriteMarks(1)
    begin('a')(true)
    const name = nameOf('a')
    for (let nth = 0; nth < 10; nth += 1) begin(`forged-${nth}`)(false)
    expect([nameOf('a'), nameOf('b')]).toEqual([name, 'b'])
  })
})

describe('send', () => {
  const V2 = 'http://v2.test'
  const read: Call = { method: 'GET', path: '/iam/v2/groups', query: [['name', 'a b']] }
  const write: Call = { method: 'POST', path: '/iam/v2/groups', query: [], body: { name: 'x' } }

  let pool: Agent
  let sendFor: (context: CallContext) => (call: Call) => Promise<JsonObject>

  /** The context of a request that has made no call. */
  function sendingOf(context: CallContext): SendContext {
    const credential = credentialHash(context.headers.authorization)
    return { ...context, credential, since: undefined, by: undefined, own: undefined }
  }

  function promising(settings: SendSettings) {
    const make = createSend(settings)
    return (context: CallContext) => {
      const sending = sendingOf(context)
      return promised((call, landing) => make(sending, call, landing))
    }
  }

  beforeEach(() => {
    nock.disableNetConnect()
    pool = createPool({ connections: 4, connectTimeoutMs: 1000, callTimeoutMs: 1000 })
    sendFor = promising({ pool, base: `${V2}/prefix`, answerBytes: 1000, keep: { entries: 10, ttlMs: 60_000 }, bulkCalls: 2 })
  })

  afterEach(async () => {
    expect(nock.pendingMocks()).toEqual([])
    nock.cleanAll()
    nock.enableNetConnect()
    await pool.destroy()
  })

  /** Has v2 answer the next such read. */
  const answer = (status: number, body: string | object) =>
    nock(V2)
      .get('/prefix/iam/v2/groups?name=a%20b')
      .reply(status, body as nock.Body)

  function context(token: string, requestId = 'r1') {
    return {
      headers: { authorization: `Bearer ${token}`, cookie: 'c=1' },
      requestId,
      signal: new AbortController().signal,
      onCall: () => undefined,
    }
  }

  describe('one call', () => {
    it('carries the credential, the request id and the encoded query, and no cookie', async () => {
      nock(V2, { reqheaders: { authorization: 'Bearer t', 'x-request-id': 'r1' }, badheaders: ['cookie'] })
        .get('/prefix/iam/v2/groups?name=a%20b')
        .reply(200, { groups: [] })
      expect(await sendFor(context('t'))(read)).toEqual({ groups: [] })
    })

    it('returns the empty object for an empty answer', async () => {
      nock(V2).delete('/prefix/iam/v2/groups/a').reply(200)
      expect(await sendFor(context('t'))({ method: 'DELETE', path: '/iam/v2/groups/a', query: [] })).toEqual({})
    })

    it.each([
      [503, '<html>', { code: 'UNAVAILABLE' }],
      [418, 'tea', { code: 'INTERNAL' }],
      [200, '[1]', { code: 'INTERNAL', message: 'the v2 service sent an answer that is not JSON' }],
      [200, '{"a":', { code: 'INTERNAL' }],
      [409, '{"code":6,"message":"there","details":[]}', { code: 'ALREADY_EXISTS', message: 'there' }],
    ])('turns %s %s into an error of its kind', async (status, body, error) => {
      answer(status, body)
      await expect(sendFor(context('t'))(read)).rejects.toMatchObject(error)
    })
  })

  describe('identical reads in flight', () => {
    it('are made once for one caller', async () => {
      answer(200, { uid: 'one' })
      const answers = await Promise.all([sendFor(context('t'))(read), sendFor(context('t', 'r2'))(read)])
      expect(answers).toEqual([{ uid: 'one' }, { uid: 'one' }])
    })

    it.each(['user-agent', 'baggage', 'cgclientid'])('are made twice for one caller with another %s', async (name) => {
      const saying = (value: string) => ({ ...context('t'), headers: { ...context('t').headers, [name]: value } })
      for (const value of ['one', 'two'])
        nock(V2, { reqheaders: { [name]: value } })
          .get('/prefix/iam/v2/groups?name=a%20b')
          .reply(200, { uid: value })
      const answers = await Promise.all([sendFor(saying('one'))(read), sendFor(saying('two'))(read)])
      expect(answers).toEqual([{ uid: 'one' }, { uid: 'two' }])
    })

    it('are made once for one caller in two traces', async () => {
      answer(200, { uid: 'one' })
      const saying = (value: string) => ({ ...context('t'), headers: { ...context('t').headers, traceparent: value, tracestate: value } })
      await Promise.all([sendFor(saying('one'))(read), sendFor(saying('two'))(read)])
    })

    it('are made twice for two callers', async () => {
      answer(200, { uid: 'one' })
      answer(200, { uid: 'two' })
      const answers = await Promise.all([sendFor(context('alice'))(read), sendFor(context('bob'))(read)])
      expect(new Set(answers.map(({ uid }) => uid))).toEqual(new Set(['one', 'two']))
    })

    it('are not shared across a write of their caller', async () => {
      answer(200, { uid: 'before' })
      nock(V2).post('/prefix/iam/v2/groups', { name: 'x' }).reply(200, {})
      answer(200, { uid: 'after' })
      const before = sendFor(context('t'))(read)
      const written = sendFor(context('t'))(write)
      const after = sendFor(context('t'))(read)
      expect(new Set([(await before).uid, (await after).uid])).toEqual(new Set(['before', 'after']))
      await written
    })
  })

  describe('a write', () => {
    const wroteAfter = async (status: number, body: string): Promise<boolean> => {
      const onWritten = vi.fn()
      nock(V2).post('/prefix/iam/v2/groups').reply(status, body)
      await sendFor({ ...context('t'), onWritten })(write).catch(() => {})
      return onWritten.mock.calls.length > 0
    }

    it.each([
      [200, '{}'],
      [503, '{"code":14,"message":"busy"}'],
      [502, '<html>'],
      [500, '{"code":13,"message":"oops"}'],
      [409, '{"code":10,"message":"aborted"}'],
    ])('may have been done after %i %s', async (status, body) => expect(await wroteAfter(status, body)).toBe(true))

    it.each([
      [429, '{"code":8,"message":"slow down"}'],
      [429, '<html>'],
      [403, '{"code":7,"message":"no"}'],
      [401, ''],
      [400, '{"code":3,"message":"wrong"}'],
    ])('was not done after %i %s', async (status, body) => expect(await wroteAfter(status, body)).toBe(false))

    it('was not done without a connection, and may have been if the connection broke', async () => {
      nock.enableNetConnect()
      const upstream = await startUpstream((request) => request.socket.destroy())
      const wrote = async () => {
        const onWritten = vi.fn()
        const send = promising({ pool, base: upstream.url, answerBytes: 1000, keep: { entries: 1, ttlMs: 0 }, bulkCalls: 1 })
        await expect(send({ ...context('t'), onWritten })(write)).rejects.toMatchObject({ code: 'UNAVAILABLE' })
        return onWritten.mock.calls.length > 0
      }
      expect(await wrote()).toBe(true)
      await upstream.close()
      expect(await wrote()).toBe(false)
    })
  })

  describe('cached answers', () => {
    const kept: Call = { ...read, keep: { key: 'readme a 1', scope: 'caller' } }

    it('lands at once once it is known', async () => {
      answer(200, { uid: 'a' })
      const make = createSend({ pool, base: `${V2}/prefix`, answerBytes: 1000, keep: { entries: 10, ttlMs: 60_000 }, bulkCalls: 2 })
      await promised((call, landing) => make(sendingOf(context('alice')), call, landing))(kept)
      const landed: JsonObject[] = []
      make(sendingOf(context('alice')), kept, { received: (body) => void landed.push(body), failed: (error) => expect.fail(error.message) })
      expect(landed).toEqual([{ uid: 'a' }])
    })

    it('serve the same caller again, and no other', async () => {
      answer(200, { uid: 'alice' })
      answer(200, { uid: 'bob' })
      const answers = [
        await sendFor(context('alice'))(kept),
        await sendFor(context('alice', 'r2'))(kept),
        await sendFor(context('bob'))(kept),
        await sendFor({ ...context('x'), headers: {} })(kept).catch(() => 'asked'),
        await sendFor({ ...context('alice'), headers: { ...context('alice').headers, cgclientid: 'x' } })(kept).catch(() => 'asked'),
      ]
      expect(answers.slice(0, 3)).toEqual([{ uid: 'alice' }, { uid: 'alice' }, { uid: 'bob' }])
      expect(answers.slice(3)).toEqual(['asked', 'asked'])
    })

    it('of one request end with it', async () => {
      const ofRequest: Call = { ...read, keep: { key: 'k', scope: 'request' } }
      answer(200, { uid: 'first' })
      answer(200, { uid: 'second' })
      const first = sendFor(context('t', 'r1'))
      expect([await first(ofRequest), await first(ofRequest)]).toEqual([{ uid: 'first' }, { uid: 'first' }])
      expect(await sendFor(context('t', 'r2'))(ofRequest)).toEqual({ uid: 'second' })
    })

    it('belong to the request alone where no others may be cached', async () => {
      const now = promising({ pool, base: `${V2}/prefix`, answerBytes: 1000, keep: { entries: 10, ttlMs: 0 }, bulkCalls: 2 })
      for (const uid of ['a', 'b', 'c']) answer(200, { uid })
      expect([await now(context('t'))(kept), await now(context('t'))(kept)]).toEqual([{ uid: 'a' }, { uid: 'b' }])
      const ofRequest: Call = { ...read, keep: { key: 'k', scope: 'request' } }
      const request = now(context('t'))
      expect([await request(ofRequest), await request(ofRequest)]).toEqual([{ uid: 'c' }, { uid: 'c' }])
    })

    it('never hold an error', async () => {
      answer(500, 'oops')
      answer(200, { uid: 'now' })
      await expect(sendFor(context('t'))(kept)).rejects.toMatchObject({ code: 'INTERNAL' })
      expect(await sendFor(context('t'))(kept)).toEqual({ uid: 'now' })
    })
  })

  describe('a call with a reader of its own', () => {
    const counted: Call = { ...read, read: ([bytes]) => (bytes?.[0] === 0x7b ? { length: bytes.length } : undefined) }

    it('gets its own reading of the bytes, even if two calls share the answer', async () => {
      answer(200, '{"a":1}')
      const answers = await Promise.all([sendFor(context('t'))(counted), sendFor(context('t'))(read)])
      expect(answers).toEqual([{ length: 7 }, { a: 1 }])
    })

    it('gets the answer parsed if its reader fails, and reports that', async () => {
      let told = 0
      answer(200, ' {"a":1}')
      const send = sendFor({ ...context('t'), onParsed: () => (told += 1) })
      expect([await send(counted), told]).toEqual([{ a: 1 }, 1])
    })

    it('never reads an error', async () => {
      answer(409, '{"code":6,"message":"none","details":[]}')
      await expect(sendFor(context('t'))(counted)).rejects.toMatchObject({ code: 'ALREADY_EXISTS' })
    })
  })

  it('leaves connections to others while it reads further pages of lists', async () => {
    const page = (at: number): Call => ({ method: 'GET', path: `/page/${at}`, query: [], bulk: true })
    let underWay = 0
    let most = 0
    const send = sendFor({
      ...context('t'),
      onCall: () => {
        underWay += 1
        most = Math.max(most, underWay)
        return undefined
      },
      onCallEnd: () => {
        underWay -= 1
      },
    })
    for (let at = 0; at < 6; at += 1) nock(V2).get(`/prefix/page/${at}`).reply(200, {})
    await Promise.all(Array.from({ length: 6 }, (_, at) => send(page(at))))
    expect(most).toBe(2)
  })
})
