import { once } from 'node:events'
import http from 'node:http'
import http2 from 'node:http2'
import { gzipSync } from 'node:zlib'
import { beforeAll, describe, expect, it } from 'vitest'
import type { WireCall } from '../../../src/grpc/wire/call.ts'
import { createCors } from '../../../src/grpc/wire/connect.ts'
import { startUpstream } from '../../stage/upstream.ts'
import { answerSpecially, echo, SPECIAL, startPairs } from './stage.ts'

describe('connect', () => {
  const PROTO = { 'content-type': 'application/proto' }
  const JSON_TYPE = { 'content-type': 'application/json; charset=utf-8' }
  const GZIP = { 'content-encoding': 'gzip', 'accept-encoding': 'br, gzip' }
  const SAFE = 'GET /test.Echo/Safe?connect=v1&encoding=proto'

  describe.each([1, 2] as const)('a unary call of Connect over HTTP/%d', (version) => {
    it('gets the message as it is', async () => {
      const { call, ended } = await startPairs(version)
      const end = ended()
      expect(await call('hello', PROTO)).toMatchObject({
        status: 200,
        headers: { 'content-type': 'application/proto', 'content-length': '5' },
        body: Buffer.from('hello'),
      })
      expect(await end).toBe(0)
    })

    it('gets metadata, and trailers as headers with a prefix', async () => {
      const stage = await startPairs(version)
      stage.handler = async () => ({ message: [], headers: { 'x-head': 'h' }, trailers: { 'X-Tail': ['a', 'b'], 'tail-bin': 'AAE' } })
      expect((await stage.call('', PROTO)).headers).toMatchObject({ 'x-head': 'h', 'trailer-x-tail': 'a, b', 'trailer-tail-bin': 'AAE' })
    })

    it('gets an error as JSON with its details', async () => {
      const stage = await startPairs(version)
      const details = [{ type: 'google.rpc.ErrorInfo', value: Buffer.from('abcd') }]
      stage.handler = async () => ({ status: { code: 5, message: 'no such role', details }, trailers: { 'x-tail': 't' } })
      const end = stage.ended()
      const { status, headers, body } = await stage.call('', PROTO)
      expect([status, headers['content-type'], headers['trailer-x-tail']]).toEqual([404, 'application/json', 't'])
      expect(JSON.parse(body.toString())).toEqual({
        code: 'not_found',
        message: 'no such role',
        details: [{ type: 'google.rpc.ErrorInfo', value: 'YWJjZA' }],
      })
      expect(await end).toBe(5)
    })
  })

  describe('a call of Connect', () => {
    it('is handed over with its codec, its path and its time', async () => {
      const stage = await startPairs()
      const calls: WireCall[] = []
      stage.handler = (call) => {
        calls.push(call)
        return echo(call)
      }
      await stage.call('{}', { ...JSON_TYPE, 'connect-protocol-version': '1', 'connect-timeout-ms': '5000' })
      await stage.call(undefined, {}, `${SAFE.replace('proto', 'json')}&message=%7B%7D`)
      expect(calls).toMatchObject([
        { path: '/test.Echo/Unary', protocol: 'connect', codec: 'json', message: Buffer.from('{}'), timeoutMs: 5000, isGet: false },
        { path: '/test.Echo/Safe', protocol: 'connect', codec: 'json', message: Buffer.from('{}'), timeoutMs: undefined, isGet: true },
      ])
    })

    it.each([
      ['a message over the limit', Buffer.alloc(1001), PROTO, 429, 'resource_exhausted'],
      ['a message that inflates too far', gzipSync(Buffer.alloc(1001)), { ...PROTO, ...GZIP }, 429, 'resource_exhausted'],
      ['bytes that are not gzip', 'hello', { ...PROTO, ...GZIP }, 400, 'invalid_argument'],
      ['an unknown compression', 'hello', { ...PROTO, 'content-encoding': 'br' }, 501, 'unimplemented'],
      ['another version', 'hello', { ...PROTO, 'connect-protocol-version': '2' }, 400, 'invalid_argument'],
      ['a malformed timeout', 'hello', { ...PROTO, 'connect-timeout-ms': '1s' }, 400, 'invalid_argument'],
      ['no time left', 'hello', { ...PROTO, 'connect-timeout-ms': '0' }, 504, 'deadline_exceeded'],
    ] as const)('with %s is refused', async (_, body, headers, status, code) => {
      const { call, failures } = await startPairs()
      const answered = await call(body, headers)
      expect([answered.status, JSON.parse(answered.body.toString()).code]).toEqual([status, code])
      expect(failures).toEqual([])
    })

    it.each([
      ['after the rest of it', 1500, 1500],
      ['at once if the rest is large', 5000, 1],
    ])('that is too large is refused %s', async (_, declared, sent) => {
      const { url } = await startPairs(2)
      const session = http2.connect(url)
      const stream = session.request({ ':method': 'POST', ':path': '/test.Echo/Unary', ...PROTO, 'content-length': declared })
      stream.write(Buffer.alloc(sent))
      if (sent === declared) stream.end()
      const [head] = await once(stream, 'response')
      expect(head[':status']).toBe(429)
      session.destroy()
    })

    it('has the special status message of gRPC in its error', async () => {
      const stage = await startPairs(1, { handler: answerSpecially })
      const { status, body } = await stage.call('', PROTO)
      expect([status, JSON.parse(body.toString())]).toEqual([500, { code: 'unknown', message: SPECIAL.message }])
    })

    it('spells canceled with one l', async () => {
      const stage = await startPairs(1, { handler: async () => ({ status: { code: 1, message: '', details: [] } }) })
      const { status, body } = await stage.call('', PROTO)
      expect([status, body.toString()]).toEqual([499, '{"code":"canceled"}'])
    })

    it('gets a compressed answer if it was compressed and takes one', async () => {
      const stage = await startPairs(1, { handler: async () => ({ message: [Buffer.alloc(5000)] }) })
      const zipped = gzipSync('hello')
      expect((await stage.call(zipped, { ...PROTO, ...GZIP })).headers['content-encoding']).toBe('gzip')
      expect((await stage.call(zipped, { ...PROTO, 'content-encoding': 'gzip' })).headers['content-encoding']).toBe(undefined)
      expect((await stage.call('hello', { ...PROTO, 'accept-encoding': 'gzip' })).body.length).toBe(5000)
    })

    it.each([
      ['DELETE /test.Echo/Unary', PROTO, 405, { allow: 'POST' }],
      ['GET /test.Echo/Unary?connect=v1&encoding=proto&message=a', {}, 405, { allow: 'POST' }],
      ['PUT /test.Echo/Safe', PROTO, 405, { allow: 'GET, POST' }],
      ['POST /test.Echo/Unary', { 'content-type': 'image/jpeg' }, 415, { 'accept-post': expect.stringContaining('application/proto') }],
      ['POST /test.Echo/Unary', {}, 415, {}],
      ['POST /test.Echo/Unary', { 'content-type': 'application/json; charset=latin1' }, 415, {}],
      ['POST /test.Echo/Unary', { 'content-type': 'application/connect+proto' }, 415, {}],
      [`${SAFE.replace('proto', 'text')}&message=a`, {}, 415, {}],
    ] as const)('%s with %j is no call', async (target, headers, status, answered) => {
      const stage = await startPairs()
      const end = stage.ended()
      const body = target.startsWith('POST') ? 'hello' : undefined
      expect(await stage.call(body, headers, target)).toMatchObject({ status, headers: answered, body: Buffer.alloc(0) })
      expect(await end).toBe(undefined)
    })
  })

  describe('a GET of Connect', () => {
    it.each([
      ['text', 'message=h%C3%A9', 'hé'],
      ['base64 of URLs', 'message=-_8&base64=1', Buffer.from([0xfb, 0xff])],
      ['base64 with padding', 'message=-_8%3D&base64=1', Buffer.from([0xfb, 0xff])],
      ['base64 of mail', 'message=+/8&base64=1', Buffer.from([0xfb, 0xff])],
      ['gzip', `message=${gzipSync('hello').toString('base64url')}&base64=1&compression=gzip`, 'hello'],
      ['nothing', 'message=', ''],
    ])('carries %s', async (_, query, message) => {
      const { call } = await startPairs()
      expect(await call(undefined, {}, `${SAFE}&${query}`)).toMatchObject({ status: 200, body: Buffer.from(message) })
    })

    it.each([
      ['no message', '', 400],
      ['no base64', 'message=a.b&base64=1', 400],
      ['an unknown compression', 'message=a&compression=br', 501],
      ['a message over the limit', `message=${'a'.repeat(1001)}`, 429],
    ])('with %s is answered', async (_, query, status) => {
      const { call } = await startPairs()
      expect((await call(undefined, {}, `${SAFE}&${query}`)).status).toBe(status)
    })

    it('with another version is refused', async () => {
      const { call } = await startPairs()
      expect((await call(undefined, {}, `${SAFE.replace('v1', 'v2')}&message=a`)).status).toBe(400)
    })
  })
})

describe('cors', () => {
  const OURS = 'https://console.example.com'
  const cors = createCors([OURS])
  let url = ''

  beforeAll(async () => {
    ;({ url } = await startUpstream((request, response) => {
      cors.open(request, response)
      if (!cors.preflight(request, response)) response.writeHead(200, { 'x-own': '1' }).end('answered')
    }))
  })

  const ask = async (method: string, headers: http.OutgoingHttpHeaders) => {
    const [response] = (await once(http.request(url, { method, headers, agent: false }).end(), 'response')) as [http.IncomingMessage]
    response.resume()
    return response
  }
  const PREFLIGHT = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type, x-grpc-web' }

  describe('a page of an allowed origin', () => {
    it('gets what it wants to send allowed', async () => {
      const { statusCode, headers } = await ask('OPTIONS', { origin: OURS, ...PREFLIGHT })
      expect([statusCode, headers]).toMatchObject([
        204,
        {
          'access-control-allow-origin': OURS,
          'access-control-allow-methods': 'GET, POST',
          'access-control-allow-headers': 'content-type, x-grpc-web',
          'access-control-max-age': '7200',
          vary: 'origin',
        },
      ])
    })

    it('reads the answer and its status', async () => {
      const { statusCode, headers } = await ask('POST', { origin: OURS })
      const exposed = '*, grpc-status, grpc-message, grpc-status-details-bin'
      expect([statusCode, headers]).toMatchObject([
        200,
        { 'access-control-allow-origin': OURS, 'access-control-expose-headers': exposed, 'x-own': '1' },
      ])
    })

    it('may ask for no header whose name could not be one', async () => {
      const { headers } = await ask('OPTIONS', { origin: OURS, ...PREFLIGHT, 'access-control-request-headers': 'x-a: "b"' })
      expect(headers['access-control-allow-headers']).toBe(undefined)
    })
  })

  describe('another request', () => {
    it.each([
      ['of a page of another origin', 'OPTIONS', { origin: 'https://console.example.com.evil.test', ...PREFLIGHT }],
      ['of the origin null', 'OPTIONS', { origin: 'null', ...PREFLIGHT }],
      ['of no page', 'POST', {}],
    ])('%s is allowed nothing', async (_, method, headers) => {
      const answer = await ask(method, headers)
      expect(answer.statusCode).toBe(200)
      expect(Object.keys(answer.headers).filter((name) => name.startsWith('access-control-'))).toEqual([])
    })

    it('is no preflight without the method that is wanted', async () => {
      expect((await ask('OPTIONS', { origin: OURS })).statusCode).toBe(200)
    })
  })

  it('allows every origin for *', () => {
    const given: string[] = []
    const response = { appendHeader() {}, setHeader: (_: string, value: string) => given.push(value) }
    createCors(['*']).open({ headers: { origin: 'https://a.test' } } as never, response as never)
    expect(given).toContain('https://a.test')
  })
})
