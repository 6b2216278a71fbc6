import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import http2 from 'node:http2'
import net, { type Socket } from 'node:net'
import { ChannelCredentials, Client, Metadata, status } from '@grpc/grpc-js'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { bytesOf, FLAG, frame, headers, PREFACE, readFrames, SECURE, TYPE } from '../../programs/faults/wire.ts'
import { type startProxy, startStage, type TestProxy } from '../../stage/stage.ts'
import { answering, listening } from '../../stage/upstream.ts'
import { answerWith, both, connect, down, type Echo, framed, pathOf, read, startBareService, startEcho, unary, up } from '../client.ts'

describe('calls', () => {
  const MEBIBYTE = 2 ** 20

  /** The same calls directly to the server and through the proxy: no difference may be visible. */
  describe.each(['direct', 'through h2c', 'through TLS'])('%s', (way) => {
    let echo: Echo
    let proxy: TestProxy | undefined
    let client: Client

    beforeAll(async () => {
      echo = await startEcho()
      if (way === 'direct') {
        client = connect(`http://${echo.address}`)
        return
      }
      const tls = way === 'through TLS' ? SECURE : {}
      proxy = await startStage({ v1: null, v2: `http://${echo.address}`, proxy: tls })
      client = connect(proxy.url, way === 'through TLS' ? readFileSync(SECURE['tls.cert'], 'utf8') : undefined)
    })

    beforeEach(() => echo.events.removeAllListeners())

    it('returns the message of a unary call', async () => {
      const { messages, status: end } = await unary(client, 'Unary', 'hello').answer
      expect(messages.map(String)).toEqual(['hello'])
      // A call that is passed on is no traffic of v1, whoever makes it.
      if (proxy) expect(await (await fetch(`${proxy.adminUrl}/clients`)).json()).toEqual([])
      expect(end.code).toBe(status.OK)
    })

    it('carries empty and large messages', async () => {
      const large = Buffer.alloc(8 * MEBIBYTE, 'x')
      expect((await unary(client, 'Unary').answer).messages).toEqual([Buffer.alloc(0)])
      expect((await unary(client, 'Unary', large).answer).messages[0]?.equals(large)).toBe(true)
    })

    it('carries metadata both ways: texts, bytes, and several of one name', async () => {
      const metadata = new Metadata()
      metadata.set('x-text', 'a, b; c="d"')
      metadata.add('x-many', '1')
      metadata.add('x-many', '2')
      metadata.set('x-one-bin', Buffer.from([0, 255, 13, 10]))
      metadata.add('x-two-bin', Buffer.from([1]))
      metadata.add('x-two-bin', Buffer.from([2, 3]))
      const { initial, status: end } = await unary(client, 'Unary', '', { metadata }).answer
      for (const brought of [initial, end.metadata]) {
        expect(brought?.get('x-text')).toEqual(['a, b; c="d"'])
        expect(brought?.get('x-many').join(', ')).toBe('1, 2')
        expect(brought?.get('x-one-bin')).toEqual([Buffer.from([0, 255, 13, 10])])
        expect(brought?.get('x-two-bin')).toEqual([Buffer.from([1]), Buffer.from([2, 3])])
      }
    })

    it('answers an error with trailers only, with its text and details', async () => {
      const { messages, initial, status: end } = await unary(client, 'Refuse').answer
      expect(messages).toEqual([])
      expect(end).toMatchObject({ code: status.NOT_FOUND, details: 'Straße nicht gefunden: 100 %' })
      expect(end.metadata.get('grpc-status-details-bin')).toEqual([Buffer.from([8, 5, 0, 255])])
      expect(initial?.get('x-text') ?? []).toEqual([])
    })

    it('answers an unknown method with the service’s UNIMPLEMENTED', async () => {
      expect((await unary(client, 'Nothing').answer).status.code).toBe(status.UNIMPLEMENTED)
    })

    it('carries a stream down whole and in order', async () => {
      const { messages, status: end } = await read(down(client, 'Down', '500 1000'))
      expect(messages).toHaveLength(500)
      expect(messages.every((message, at) => message.equals(Buffer.alloc(1000, at)))).toBe(true)
      expect(end.code).toBe(status.OK)
    })

    it('keeps the messages of a stream that breaks', async () => {
      const { messages, status: end } = await read(down(client, 'Break'))
      expect(messages.map(String)).toEqual(['one', 'two'])
      expect(end).toMatchObject({ code: status.DATA_LOSS, details: 'no third' })
    })

    it('carries a stream up', async () => {
      const { call, answer } = up(client, 'Up')
      for (let at = 0; at < 200; at += 1) if (!call.write(Buffer.alloc(10_000))) await once(call, 'drain')
      call.end()
      expect((await answer).messages.map(String)).toEqual(['2000000'])
    })

    it('lets a stream up be answered before its end', async () => {
      const { call, answer } = up(client, 'Impatient')
      call.write(Buffer.from('first'))
      const { status: end } = await answer
      expect(end).toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: 'enough' })
      expect((await unary(client, 'Unary', 'still there').answer).messages.map(String)).toEqual(['still there'])
    })

    it('carries both directions at once', async () => {
      const call = both(client, 'Both')
      const answer = read(call)
      for (const word of ['a', 'b', 'c']) {
        call.write(Buffer.from(word))
        await once(call, 'data')
      }
      call.end()
      expect((await answer).messages.map(String)).toEqual(['a', 'b', 'c'])
    })

    it('passes the deadline to the service and ends the call there', async () => {
      const deadline = Date.now() + 5000
      await unary(client, 'Unary', '', { deadline }).answer
      expect(Math.abs(echo.deadline - deadline)).toBeLessThan(1000)
      const cancelled = once(echo.events, 'cancelled')
      expect((await unary(client, 'Hang', '', { deadline: Date.now() + 200 }).answer).status.code).toBe(status.DEADLINE_EXCEEDED)
      await cancelled
    })

    it('ends a cancelled call at the service', async () => {
      const [hangs, cancelled] = [once(echo.events, 'hang'), once(echo.events, 'cancelled')]
      const { call, answer } = unary(client, 'Hang')
      await hangs
      call.cancel()
      expect((await answer).status.code).toBe(status.CANCELLED)
      await cancelled
    })

    it('stops the service when a reader stops, while others go on', async () => {
      const call = down(client, 'Down', `2000 ${64 * 1024}`)
      await once(call, 'data')
      call.pause()
      for (let at = 0; at < 20; at += 1) await unary(client, 'Unary').answer
      const before = echo.written
      for (let at = 0; at < 20; at += 1) await unary(client, 'Unary').answer
      expect(echo.written).toBe(before)
      expect(echo.written).toBeLessThan(100)
      const cancelled = once(echo.events, 'cancelled')
      call.on('error', () => {})
      call.cancel()
      await cancelled
    })
  })
})

describe('failures', () => {
  const BROKE_OFF = 'the v2 service broke off during the call, which may have been done'

  let echo: Echo
  let proxy: TestProxy
  let client: Client

  const startAll = async (values: Parameters<typeof startProxy>[0] = {}, options = {}) => {
    echo = await startEcho(0, options)
    proxy = await startStage({ v1: null, v2: `http://${echo.address}`, proxy: values })
    client = connect(proxy.url)
  }

  const portOf = ({ address }: Echo) => Number(address.split(':')[1])

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
    proxy = await startStage({ v1: null, v2: bare.url })
    const repeating = new Client(new URL(proxy.url).host, ChannelCredentials.createInsecure())
    expect((await unary(repeating, 'First').answer).messages.map(String)).toEqual(['first'])
    expect((await unary(repeating, 'Second').answer).messages.map(String)).toEqual(['hi'])
    expect(asked).toBe(2)
    repeating.close()
  })

  it.each([
    ['an authority', { ':authority': 'api.example' }],
    ['a host and an authority', { ':authority': 'api.example', host: 'other.example' }],
  ])('gets a call with %s under its own authority', async (_, name) => {
    const heads: http2.IncomingHttpHeaders[] = []
    const bare = await startBareService((stream, headers) => {
      heads.push(headers)
      answerWith(stream, framed('hi'), { 'grpc-status': '0' })
    })
    proxy = await startStage({ v1: null, v2: bare.url })
    const session = http2.connect(proxy.url)
    const head = { ':method': 'POST', ':path': pathOf('Unary'), 'content-type': 'application/grpc', 'proxy-authorization': 'Basic YTpi' }
    const stream = session
      .request({ ...head, ...name })
      .resume()
      .end(framed('hi'))
    await once(stream, 'close')
    const { ':authority': authority, host, 'x-forwarded-host': forwarded, 'proxy-authorization': credential } = heads[0] ?? {}
    expect({ authority, host, forwarded, credential }).toEqual({ authority: new URL(bare.url).host, forwarded: 'api.example' })
    session.close()
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
    const { url } = await startStage({ v1: null, v2: answering({}) })
    expect((await unary(connect(url), 'Unary').answer).status).toMatchObject({
      code: status.UNAVAILABLE,
      details: 'the v2 service does not speak gRPC; set upstream.v2Grpc to rest if it speaks REST',
    })
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
    let upstream: http2.Http2Session | undefined
    const service = await startBareService((stream) => {
      upstream = stream.session
      answerWith(stream, Buffer.alloc(100_000))
    })
    const own = await startStage({ v1: null, v2: service.url })
    const session = http2.connect(own.url, { settings: { initialWindowSize: 0 } })
    const stream = session.request({ ':method': 'POST', ':path': '/test.Echo/Unary', 'content-type': 'application/grpc' })
    stream.on('error', () => {})
    stream.end()
    await once(stream, 'response')
    stream.close(http2.constants.NGHTTP2_CANCEL)
    await once(stream, 'close')
    const closed = once(upstream as http2.Http2Session, 'close')
    upstream?.close()
    await closed
    session.destroy()
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
})

describe('odd status', () => {
  /** Answers each call with heads of these statuses, then with data, and never ends it. */
  function serve(socket: Socket, statuses: readonly string[]): void {
    let rest: Buffer = Buffer.alloc(0)
    let skipped = PREFACE.length
    socket.on('error', () => {})
    socket.write(Buffer.concat([frame(TYPE.SETTINGS, 0, 0), frame(TYPE.SETTINGS, FLAG.ACK, 0)].map(bytesOf)))
    socket.on('data', (piece: Buffer) => {
      rest = Buffer.concat([rest, piece])
      if (rest.length < skipped) return
      const read = readFrames(rest.subarray(skipped))
      rest = read.rest
      skipped = 0
      for (const { stream } of read.frames.filter(({ type }) => type === TYPE.HEADERS)) {
        const heads = statuses.map((one) => headers(stream, [[':status', one]], FLAG.END_HEADERS))
        socket.write(Buffer.concat([...heads, frame(TYPE.DATA, 0, stream, Buffer.alloc(5))].map(bytesOf)))
      }
    })
  }

  it('ends a call whose service answers with a status below 100 behind an informational one', async () => {
    const { url: v2 } = await listening(net.createServer((socket) => serve(socket, ['100', '103', '020'])))
    const { url } = await startStage({ v1: null, v2 })
    const { status: end } = await unary(connect(url), 'Unary', 'a').answer
    expect(end).toMatchObject({ code: status.INTERNAL })
  })
})
