import { EventEmitter, once } from 'node:events'
import { readFileSync } from 'node:fs'
import http2, { type ClientHttp2Session, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import net from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { WebSocket, WebSocketServer } from 'ws'
import { createHttp2, fewAtOnce, refuseLate } from '../../../src/serve/listen/http2.ts'
import {
  bytesOf,
  dial,
  FLAG,
  type Frame,
  frame,
  GOAWAY,
  headers,
  PREFACE,
  readFrames,
  SECURE,
  TYPE,
  talk,
  uint32,
} from '../../programs/faults/wire.ts'
import { until } from '../../stage/clocks.ts'
import { startStage, type TestProxy } from '../../stage/stage.ts'
import { connect2, fetch2, listening, startUpstream, type Upstream } from '../../stage/upstream.ts'

describe('http2', () => {
  const ca = readFileSync(SECURE['tls.cert'], 'utf8')
  const warned = vi.spyOn(process, 'emitWarning')

  // Node warns of a connection header, which HTTP/2 does not have.
  afterAll(() => {
    expect(warned.mock.calls).toEqual([])
    warned.mockRestore()
  })

  let v2: Upstream
  let release: () => void

  beforeAll(async () => {
    v2 = await startUpstream((request, response, body) => {
      if (request.url === '/hang') return
      if (request.url === '/slow') {
        release = () => void response.end()
        return
      }
      if (request.url?.includes('page_token')) return void response.destroy()
      if (request.url?.includes('name=long')) return void response.end('{"groups":[{"uid":"00","name":"long"}],"nextPageToken":"2"}')
      if (request.url?.startsWith('/iam/v2/groups')) return void response.end('{"groups":[{"uid":"00","name":"acme"}]}')
      if (request.url === '/cut') {
        response.writeHead(200, { 'content-length': 100 })
        response.write('half')
        return void setImmediate(() => response.destroy())
      }
      response.writeHead(200, { 'Set-Cookie': ['a=1', 'b=2'], Connection: 'x-hop', 'X-Hop': '1', 'X-Bytes': `${body.length}` })
      response.end(`${request.method} ${body.slice(0, 10)}`)
    })
    const sockets = new WebSocketServer({ server: v2.server, path: '/socket' })
    sockets.on('connection', (socket) => socket.on('message', (message) => socket.send(`${message}!`)))
  })

  beforeEach(() => {
    v2.seen.length = 0
  })

  describe.each(['plain text', 'TLS'])('HTTP/2 over %s', (way) => {
    let proxy: TestProxy
    let session: ClientHttp2Session

    beforeAll(async () => {
      proxy = await startStage({
        v1: null,
        v2: v2.url,
        proxy: { 'limits.bufferedRows': 0, 'limits.requestBytes': 4096, ...(way === 'TLS' && SECURE) },
      })
      session = await connect2(proxy.url, way === 'TLS' ? ca : undefined)
    })

    afterAll(async () => {
      await proxy.close()
      expect(session.destroyed || session.closed).toBe(true)
    })

    it('serves v1', async () => {
      const answer = await fetch2(session, '/iam/v1/groups?limit=1', { authorization: 'Bearer t', 'x-request-id': 'h2' })
      expect(answer.status).toBe(200)
      expect(answer.headers).toMatchObject({ 'content-type': 'application/json', 'x-request-id': 'h2' })
      expect(JSON.parse(answer.body).items).toMatchObject([{ id: '00', name: 'acme' }])
      expect(v2.seen[0]?.headers.authorization).toBe('Bearer t')
      expect(await proxy.logged(({ reqId }) => reqId === 'h2')).toMatchObject({ operation: 'iam.groups.list', status: 200 })
    })

    it('serves writes and refusals of v1', async () => {
      await fetch2(session, '/iam/v1/groups', { ':method': 'POST' }, '{"name":"new"}')
      expect(JSON.parse(v2.seen[0]?.body ?? '')).toMatchObject({ name: 'new' })
      expect(await fetch2(session, '/iam/v1/groups', { ':method': 'POST' }, '{')).toMatchObject({
        status: 400,
        body: expect.stringContaining('"code":3'),
      })
      expect((await fetch2(session, '/iam/v1/nothing')).status).toBe(404)
    })

    it('passes native requests on complete', async () => {
      const answer = await fetch2(session, '/upload', { ':method': 'PUT', 'x-kept': '1', te: 'trailers' }, Buffer.alloc(3_000_000, 'y'))
      expect(answer).toMatchObject({ status: 200, body: 'PUT yyyyyyyyyy', headers: { 'set-cookie': ['a=1', 'b=2'], 'x-bytes': '3000000' } })
      expect(answer.headers).not.toHaveProperty('x-hop')
      expect(v2.seen[0]?.headers).toMatchObject({ 'x-kept': '1', 'transfer-encoding': 'chunked' })
      expect(Object.keys(v2.seen[0]?.headers ?? {}).filter((name) => name.startsWith(':') || name === 'te')).toEqual([])
    })

    it.each(['GET', 'POST', 'PATCH'])('frames the body of a %s without a length', async (method) => {
      expect((await fetch2(session, '/x', { ':method': method }, 'twelve bytes')).headers['x-bytes']).toBe('12')
    })

    it('is sent to the authority that a request names, whatever its host header says', async () => {
      await fetch2(session, '/x', { ':authority': 'named.example', host: 'other.example' })
      await fetch2(session, '/x', { host: 'alone.example' })
      expect(v2.seen.map(({ headers }) => headers['x-forwarded-host'])).toEqual(['named.example', 'alone.example'])
    })

    it('requires a length for the body of a DELETE', async () => {
      expect((await fetch2(session, '/x', { ':method': 'DELETE' }, 'abc')).status).toBe(411)
      expect((await fetch2(session, '/x', { ':method': 'DELETE', 'content-length': 3 }, 'abc')).headers['x-bytes']).toBe('3')
      expect((await fetch2(session, '/x', { ':method': 'DELETE' })).status).toBe(200)
      expect(v2.seen).toHaveLength(2)
    })

    it('refuses a body that is too long', async () => {
      const refused = { status: 400, headers: expect.not.objectContaining({ connection: 'close' }) }
      expect(await fetch2(session, '/iam/v1/groups', { ':method': 'POST' }, 'x'.repeat(5000))).toMatchObject(refused)
    })

    it('breaks off what v2 breaks off', async () => {
      await expect(fetch2(session, '/cut')).rejects.toThrow('NGHTTP2_INTERNAL_ERROR')
    })

    it('breaks off a v1 list that cannot be completed', async () => {
      await expect(fetch2(session, '/iam/v1/groups?name=long')).rejects.toThrow('NGHTTP2')
    })

    it('cancels what the client cancels', async () => {
      const arrived = once(v2.server, 'request')
      const stream = session.request({ ':path': '/hang' })
      stream.on('error', () => {})
      const [request] = await arrived
      const closed = once(request.socket, 'close')
      stream.close(8)
      await closed
      expect(await proxy.logged(({ path }) => path === '/hang')).toMatchObject({ status: 499 })
    })

    // Envoy resets so for a client that left.
    it('carries out no upload that is reset with NO_ERROR midway', async () => {
      const arrived = once(v2.server, 'request')
      const fields = { ':method': 'PUT', ':scheme': 'http', ':authority': 'x', ':path': '/blob' }
      const begun = [frame(TYPE.SETTINGS, 0, 0), headers(1, Object.entries(fields)), frame(TYPE.DATA, 0, 1, Buffer.from('half'))]
      const socket = dial(proxy.url, 'h2')
      socket.write(Buffer.concat([PREFACE, ...begun.map(bytesOf)]))
      const [request] = await arrived
      const whole = once(request, 'end').finally(() => socket.destroy())
      socket.write(bytesOf(frame(TYPE.RST_STREAM, 0, 1, uint32(0))))
      await expect(whole).rejects.toThrow('aborted')
      expect(await proxy.logged(({ path }) => path === '/blob')).toMatchObject({ status: 499 })
    })

    it('cancels the requests of a client that is gone', async () => {
      const gone = await connect2(proxy.url, way === 'TLS' ? ca : undefined)
      const arrived = once(v2.server, 'request')
      gone.request({ ':path': '/hang' }).on('error', () => {})
      const [request] = await arrived
      const closed = once(request.socket, 'close')
      gone.destroy()
      await closed
    })

    it.each(['*', '/iam/v1/%zz', '/%zz'])('answers the odd target %s', async (target) => {
      const answer = await fetch2(session, target, { ':method': 'OPTIONS' })
      expect([200, 400]).toContain(answer.status)
    })

    it('works beside HTTP/1.1, even with an offer of h2c', async () => {
      for (const offer of ['', 'connection: Upgrade, HTTP2-Settings\r\nupgrade: h2c\r\nhttp2-settings: AA\r\n']) {
        const { answers } = await talk(proxy.url, `GET /iam/v1/groups HTTP/1.1\r\nhost: x\r\n${offer}\r\n`, 1)
        expect(JSON.parse(answers[0]?.body ?? '').items).toHaveLength(1)
      }
    })

    it('works beside WebSockets', async () => {
      const socket = new WebSocket(`${proxy.url.replace('http', 'ws')}/socket`, { ca })
      const answer = once(socket, 'message')
      await once(socket, 'open')
      socket.send('hello')
      expect(String((await answer)[0])).toBe('hello!')
      socket.close()
      await once(socket, 'close')
    })
  })

  describe('a shutdown', () => {
    it('does not wait for idle HTTP/2 connections', async () => {
      const proxy = await startStage({ v1: null, v2: v2.url, proxy: { 'limits.shutdownMs': 60_000 } })
      const session = await connect2(proxy.url)
      const closed = once(session, 'close')
      await fetch2(session, '/x')
      await proxy.close()
      await closed
    })

    it('waits for a request in flight and tells its connection to leave at once', async () => {
      const proxy = await startStage({ v1: null, v2: v2.url, proxy: { 'limits.shutdownMs': 60_000 } })
      const session = await connect2(proxy.url)
      const arrived = once(v2.server, 'request')
      const answer = fetch2(session, '/slow')
      await arrived
      const told = once(session, 'goaway')
      const closed = proxy.close()
      await told
      release()
      expect((await answer).status).toBe(200)
      await closed
    })

    it('cuts off silent connections in the end', async () => {
      const proxy = await startStage({ v1: null, v2: v2.url, proxy: { 'limits.shutdownMs': 50 } })
      const silent = net.connect(Number(new URL(proxy.url).port), '127.0.0.1')
      await once(silent, 'connect')
      const gone = once(silent, 'close')
      await proxy.close()
      await gone
    })
  })
})

describe('few at once', () => {
  const turn = () => new Promise((resolve) => setImmediate(resolve))

  /** Opens streams in one turn; the numbers of those that have begun are in `begun`. */
  function openAll(count: number) {
    const begun: number[] = []
    const open = fewAtOnce((_, number: number) => void begun.push(number))
    const streams = Array.from({ length: count }, () => new EventEmitter() as ServerHttp2Stream)
    for (const [at, stream] of streams.entries()) open(stream, at)
    return { begun, streams, open }
  }

  const upTo = (count: number) => Array.from({ length: count }, (_, at) => at)

  it('begins the streams of one packet 8 in a turn, in their order', async () => {
    const { begun } = openAll(20)
    expect(begun).toEqual(upTo(8))
    await turn()
    expect(begun).toEqual(upTo(16))
    await turn()
    expect(begun).toEqual(upTo(20))
  })

  it('begins a later stream after those that wait', async () => {
    const { begun, open } = openAll(16)
    open(new EventEmitter() as ServerHttp2Stream, 16)
    await turn()
    expect(begun).toEqual(upTo(16))
    await turn()
    expect(begun).toEqual(upTo(17))
  })

  it('begins the streams of another turn at once', async () => {
    const { begun, open } = openAll(8)
    await turn()
    open(new EventEmitter() as ServerHttp2Stream, 8)
    expect(begun).toEqual(upTo(9))
  })

  it('survives the error of a stream that waits', () => {
    const { begun, streams } = openAll(9)
    expect(begun).toHaveLength(8)
    expect(() => streams[8]?.emit('error', new Error('reset'))).not.toThrow()
  })
})

describe('grpc type', () => {
  const LIMITS = { headerBytes: 65_536, headersTimeoutMs: 10_000, idleTimeoutMs: 60_000, maxStreams: 100, connections: 0 }

  let session: ClientHttp2Session

  beforeAll(async () => {
    const served = createHttp2(
      (_, response) => void response.end('request'),
      (stream) => stream.end('call'),
      LIMITS,
      () => {},
    )
    const { url } = await listening(net.createServer((socket) => void served.emit('connection', socket)))
    session = http2.connect(url)
  })

  afterAll(() => session.destroy())

  it.each([
    ['POST', 'application/grpc', 'call'],
    ['POST', 'application/grpc+proto', 'call'],
    ['POST', 'application/grpc;charset=utf-8', 'call'],
    ['POST', 'Application/gRPC', 'call'],
    ['POST', 'application/grpc-web', 'request'],
    ['POST', 'application/grpc-web+proto', 'request'],
    ['POST', 'application/grpc-web-text', 'request'],
    ['POST', 'application/grpcx', 'request'],
    ['PUT', 'application/grpc', 'request'],
  ])('takes a %s of %s for a %s', async (method, type, kind) => {
    const stream = session.request({ ':method': method, 'content-type': type }).end()
    expect((await stream.setEncoding('utf8').toArray()).join('')).toBe(kind)
  })
})

describe('refuse late', () => {
  const ask = (stream: number) =>
    headers(
      stream,
      Object.entries({ ':method': 'GET', ':scheme': 'http', ':authority': 'x', ':path': '/' }),
      FLAG.END_STREAM | FLAG.END_HEADERS,
    )

  /** Sends frames in one packet to a server that answers every stream that is not late. Returns what it did and what the client read. */
  async function hear(frames: readonly Frame[], begun: (session: ServerHttp2Session) => void = () => {}) {
    const [served, refused]: [ids: (number | undefined)[], ids: (number | undefined)[]] = [[], []]
    const server = http2.createServer().on('session', (session) => {
      const isLate = refuseLate(session)
      session.on('stream', (stream) => {
        if (isLate(stream)) return void refused.push(stream.id)
        served.push(stream.id)
        stream.respond({ ':status': 204 }, { endStream: true })
      })
      begun(session)
    })
    // The first bytes have been read before the connection is handed over, as those of the proxy have.
    const front = net.createServer((socket) => {
      socket.once('data', (bytes) => {
        socket.pause().unshift(bytes)
        server.emit('connection', socket)
      })
    })
    const socket = net.connect((await listening(front)).port, '127.0.0.1')
    const pieces: Buffer[] = []
    socket.on('data', (piece) => void pieces.push(piece))
    socket.write(Buffer.concat([PREFACE, ...[frame(TYPE.SETTINGS, 0, 0), ...frames].map(bytesOf)]))
    await once(socket, 'close')
    const read = readFrames(Buffer.concat(pieces)).frames
    const covered = read.filter(({ type }) => type === TYPE.GOAWAY).map(({ payload }) => payload.readUInt32BE(0))
    return {
      served,
      refused,
      covered: new Set(covered),
      answered: read.filter(({ type }) => type === TYPE.HEADERS).map(({ stream }) => stream),
    }
  }

  it('serves the streams before the GOAWAY of a client, refuses those behind it in the same packet, and ends the connection', async () => {
    const heard = await hear([ask(1), GOAWAY, ask(3), ask(5)])
    expect(heard).toEqual({ served: [1], refused: [3, 5], covered: new Set([1]), answered: [1] })
  })

  it('refuses the streams that arrive before the GOAWAY of a server that stops has gone out', async () => {
    const heard = await hear([ask(1), ask(3)], (session) => session.close())
    expect(heard).toEqual({ served: [], refused: [1, 3], covered: new Set([0]), answered: [] })
  })

  it('answers what has arrived before the connection is closed', async () => {
    const closed: boolean[] = []
    const heard = await hear([ask(1), ask(3)], (session) => {
      session.on('stream', ({ id }) => {
        if (id === 3) session.close(() => closed.push(true))
      })
    })
    expect(heard).toEqual({ served: [1, 3], refused: [], covered: new Set([3]), answered: [1, 3] })
    await until(async () => closed.length === 1)
  })
})
