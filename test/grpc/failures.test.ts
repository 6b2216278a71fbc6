import { once } from 'node:events'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { ChannelCredentials, Client, status } from '@grpc/grpc-js'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { answering, startUpstream } from '../stage/upstream.ts'
import { answerWith, framed, startBareService } from './bare-service.ts'
import { connect, down, read, unary } from './client.ts'
import { type Echo, pathOf, startEcho } from './echo.ts'

const BROKE_OFF = 'the v2 service broke off during the call, which may have been done'

let echo: Echo
let proxy: TestProxy
let client: Client

const startAll = async (values: Parameters<typeof startProxy>[0] = {}, options = {}) => {
  echo = await startEcho(0, options)
  proxy = await startProxy({ 'upstream.v2': `http://${echo.address}`, ...values })
  client = connect(proxy.url)
}

const portOf = ({ address }: Echo) => Number(address.split(':')[1])

afterEach(async () => {
  client.close()
  await proxy.close()
  echo.kill()
})

describe('the service', () => {
  beforeEach(() => startAll())

  it('is UNAVAILABLE when it is down, logged by us, and used when it is back', async () => {
    echo.kill()
    const { status: end } = await unary(client, 'Unary', 'a').answer
    expect(end).toMatchObject({ code: status.UNAVAILABLE, details: 'the v2 service cannot be reached' })
    expect(await proxy.logged(({ grpcStatus }) => grpcStatus === 'UNAVAILABLE')).toMatchObject({
      operation: 'grpc',
      mode: 'native',
      path: '/test.Echo/Unary',
      status: 503,
      error: { code: 'UNAVAILABLE', message: 'the v2 service cannot be reached', cause: `nothing listens (127.0.0.1:${portOf(echo)})` },
    })
    echo = await startEcho(portOf(echo))
    expect((await unary(client, 'Unary', 'b').answer).messages.map(String)).toEqual(['b'])
  })

  it('is UNKNOWN, after its messages, if it breaks in a stream', async () => {
    const call = down(client, 'Down', '1000000 100')
    const answer = read(call)
    await once(call, 'data')
    echo.kill()
    const { messages, status: end } = await answer
    expect(messages.length).toBeGreaterThan(0)
    expect(end).toMatchObject({ code: status.UNKNOWN, details: BROKE_OFF })
  })

  it('is UNKNOWN if it breaks before it answers: the call may have been done', async () => {
    const hangs = once(echo.events, 'hang')
    const { answer } = unary(client, 'Hang')
    await hangs
    echo.kill()
    expect((await answer).status).toMatchObject({ code: status.UNKNOWN, details: BROKE_OFF })
  })

  it('finishes its calls when it retires (GOAWAY); the next call finds its successor', async () => {
    const call = down(client, 'Down', '200 1000')
    const answer = read(call)
    await once(call, 'data')
    const retired = echo.retire()
    expect(await answer).toMatchObject({ messages: { length: 200 }, status: { code: status.OK } })
    await retired
    echo = await startEcho(portOf(echo))
    expect((await unary(client, 'Unary', 'next').answer).messages.map(String)).toEqual(['next'])
  })
})

it('lets a client repeat the call that a service left without', async () => {
  let asked = 0
  const bare = await startBareService((stream, headers) => {
    if (headers[':path'] === pathOf('First')) return answerWith(stream, framed('first'), { 'grpc-status': '0' })
    asked += 1
    if (asked > 1) return answerWith(stream, framed('hi'), { 'grpc-status': '0' })
    stream.session?.goaway(http2.constants.NGHTTP2_NO_ERROR, 1)
    setImmediate(() => stream.session?.destroy())
  })
  await startAll({ 'upstream.v2': bare.url })
  const repeating = new Client(new URL(proxy.url).host, ChannelCredentials.createInsecure())
  expect((await unary(repeating, 'First').answer).messages.map(String)).toEqual(['first'])
  expect((await unary(repeating, 'Second').answer).messages.map(String)).toEqual(['hi'])
  expect(asked).toBe(2)
  repeating.close()
  bare.close()
})

it('loses the calls of a client that goes away', async () => {
  await startAll()
  const [hangs, cancelled] = [once(echo.events, 'hang'), once(echo.events, 'cancelled')]
  const session = http2.connect(proxy.url)
  session.on('error', () => {})
  const stream = session.request({ ':method': 'POST', ':path': '/test.Echo/Hang', 'content-type': 'application/grpc', te: 'trailers' })
  stream.on('error', () => {})
  stream.end(Buffer.alloc(5))
  await hangs
  session.destroy()
  await cancelled
  expect(await proxy.logged(({ path }) => path === '/test.Echo/Hang')).toMatchObject({ status: 499, grpcStatus: 'CANCELLED' })
})

it('gets no more streams than it allows, and every call is answered', async () => {
  await startAll({}, { 'grpc.max_concurrent_streams': 10 })
  const words = Array.from({ length: 200 }, (_, at) => String(at))
  const answers = await Promise.all(words.map((word) => unary(client, 'Unary', word).answer))
  expect(answers.map(({ messages }) => String(messages[0]))).toEqual(words)
})

it('gets another connection when streams stay open', async () => {
  await startAll({}, { 'grpc.max_concurrent_streams': 2 })
  await unary(client, 'Unary').answer
  const open = [1, 2, 3].map(() => down(client, 'Down', '100000 65536'))
  await Promise.all(open.map((call) => once(call, 'data').then(() => call.pause())))
  expect((await unary(client, 'Unary', 'in time').answer).messages.map(String)).toEqual(['in time'])
  for (const call of open) call.on('error', () => {}).cancel()
})

it('is UNAVAILABLE if it speaks HTTP/1.1 only', async () => {
  await startAll()
  const old = await startUpstream(answering({}))
  const other = await startProxy({ 'upstream.v2': old.url })
  const confused = connect(other.url)
  expect((await unary(confused, 'Unary').answer).status).toMatchObject({
    code: status.UNAVAILABLE,
    details: 'the v2 service does not speak gRPC; set upstream.v2Grpc to rest if it speaks REST',
  })
  confused.close()
  await other.close()
  await old.close()
})

it('announces limits.streams to clients', async () => {
  await startAll({ 'limits.streams': 7 })
  const session = http2.connect(proxy.url)
  await once(session, 'remoteSettings')
  expect(session.remoteSettings.maxConcurrentStreams).toBe(7)
  session.close()
})

describe('a shutdown', () => {
  beforeEach(() => startAll({ 'limits.shutdownMs': 100 }))

  it('lets a call finish and closes its connection', async () => {
    const call = down(client, 'Down', '50 1000')
    const answer = read(call)
    await once(call, 'data')
    await proxy.close()
    expect(await answer).toMatchObject({ messages: { length: 50 }, status: { code: status.OK } })
    expect((await unary(client, 'Unary').answer).status.code).toBe(status.UNAVAILABLE)
  })

  it('cuts off what takes too long', async () => {
    const hangs = once(echo.events, 'hang')
    const { answer } = unary(client, 'Hang')
    await hangs
    await proxy.close()
    const text = 'Crosswalk stopped before the call was answered; it may have been done'
    expect((await answer).status).toMatchObject({ code: status.UNKNOWN, details: text })
  })
})

it('counts calls by status, whatever their names are', async () => {
  await startAll()
  await unary(client, 'Unary').answer
  for (let at = 0; at < 5; at += 1) await unary(client, `Nothing${at}`).answer
  const text = await (await fetch(`${proxy.adminUrl}/metrics`)).text()
  expect(text).toContain('crosswalk_grpc_calls_total{code="OK"} 1')
  expect(text).toContain('crosswalk_grpc_calls_total{code="UNIMPLEMENTED"} 5')
  expect(text).toMatch(/crosswalk_requests_total\{operation="grpc",mode="native",outcome="refused"\} 5/)
  expect(text).not.toContain('Nothing')
})

it('closes the connection to the service if a client leaves messages unread', async () => {
  await startAll()
  const service = http2.createServer()
  const sessions = once(service, 'session') as Promise<[http2.ServerHttp2Session]>
  service.on('stream', (stream) => {
    stream.on('error', () => {})
    stream.respond({ ':status': 200, 'content-type': 'application/grpc' })
    stream.end(Buffer.alloc(100_000))
  })
  service.listen(0, '127.0.0.1')
  await once(service, 'listening')
  const own = await startProxy({ 'upstream.v2': `http://127.0.0.1:${(service.address() as AddressInfo).port}` })
  const session = http2.connect(own.url, { settings: { initialWindowSize: 0 } })
  const stream = session.request({ ':method': 'POST', ':path': '/test.Echo/Unary', 'content-type': 'application/grpc' })
  stream.on('error', () => {})
  stream.end()
  const [upstream] = await sessions
  await once(stream, 'response')
  stream.close(http2.constants.NGHTTP2_CANCEL)
  await once(stream, 'close')
  const closed = once(upstream, 'close')
  upstream.close()
  await closed
  session.destroy()
  await own.close()
  service.close()
})

describe('a call without a message', () => {
  beforeEach(() => startAll())

  it.each(['/test.Echo/Unary', '/chainguard.platform.iam.Groups/List'])(
    'is answered if it ends before the first one to %s is ready',
    async (path) => {
      const session = http2.connect(proxy.url)
      const stream = session.request(
        { ':method': 'POST', ':path': path, 'content-type': 'application/grpc', te: 'trailers' },
        { endStream: false },
      )
      stream.resume().end()
      await once(stream, 'close')
      session.close()
      expect(stream.rstCode).toBe(0)
    },
  )
})
