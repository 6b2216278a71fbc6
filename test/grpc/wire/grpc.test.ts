import { once } from 'node:events'
import { constants } from 'node:http2'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import type { WireCall } from '../../../src/grpc/wire/call.ts'
import { createServeGrpcStream, type WireStreamHandler } from '../../../src/grpc/wire/grpc.ts'
import { closedCode, grpcMessage } from '../../../src/grpc/wire/status.ts'
import { createBudget } from '../../../src/serve/bounds.ts'
import { processorMs } from '../../stage/clocks.ts'
import { framed as frame } from '../client.ts'
import { answerSpecially, echo, SPECIAL, startGrpc } from './stage.ts'

describe('closed code', () => {
  const ok = { 'grpc-status': '0' }

  it.each([
    ['the status of trailers', { sentHeaders: {}, sentTrailers: { 'grpc-status': '5' } }, 5],
    ['the status of a head without messages', { sentHeaders: { 'grpc-status': '7' } }, 7],
    ['a cancel', { sentHeaders: {}, sentTrailers: ok, rstCode: constants.NGHTTP2_CANCEL }, 1],
    ['a client that refuses the stream', { rstCode: constants.NGHTTP2_REFUSED_STREAM }, 1],
    ['a client that breaks off', { sentHeaders: ok, rstCode: constants.NGHTTP2_PROTOCOL_ERROR }, 1],
    ['a client that leaves as Envoy says it', { aborted: true, sentHeaders: {} }, 1],
    ['an end without a status', { sentHeaders: {} }, 2],
  ])('reads %s', (_, stream, code) => {
    expect(closedCode({ rstCode: 0, ...stream })).toBe(code)
  })
})

describe('grpc message', () => {
  describe('grpc-message', () => {
    it.each([
      ['', ''],
      ['Invalid argument: name, "x" [y] {z} #1 & 50', 'Invalid argument: name, "x" [y] {z} #1 & 50'],
      ['100%', '100%25'],
      ['café', 'caf%C3%A9'],
      [' padded  ', '%20padded%20%20'],
      ['\x00\x7f', '%00%7F'],
      ['\ud800 alone', '%EF%BF%BD alone'],
      [SPECIAL.message, SPECIAL.encoded],
    ])('encodes only what it must of %j', (message, encoded) => {
      expect(grpcMessage(message)).toBe(encoded)
    })

    it('returns what clients decode to the same text', () => {
      const texts = Array.from({ length: 0x3000 }, (_, code) => `a${String.fromCharCode(code)}b`)
      expect(texts.filter((text) => decodeURIComponent(grpcMessage(text)) !== text)).toEqual([])
    })
  })

  it('encodes a message with spaces before its end in time that grows with its length', () => {
    const spaces = `${' '.repeat(1400)}x`.repeat(100)
    expect(processorMs(() => void grpcMessage(`a${spaces}`))).toBeLessThan(500)
    expect(grpcMessage(' a  b  ')).toBe('%20a  b%20%20')
  })
})

describe('serve grpc', () => {
  const GZIP = { 'grpc-encoding': 'gzip' }
  const HELLO = frame('hello')

  describe('a unary call of gRPC', () => {
    it('gives the message of the reply, and the status in trailers', async () => {
      const { call, ended } = await startGrpc()
      const end = ended()
      expect(await call(HELLO)).toMatchObject({
        head: { ':status': 200, 'content-type': 'application/grpc' },
        body: HELLO,
        trailers: { 'grpc-status': '0' },
      })
      expect(await end).toBe(0)
    })

    it('hands over what the client said', async () => {
      const stage = await startGrpc()
      const calls: WireCall[] = []
      stage.handler = (call) => {
        calls.push(call)
        return echo(call)
      }
      await stage.call(HELLO, { 'content-type': 'application/grpc+json', 'x-word': ['a', 'b'], 'x-bytes-bin': 'AAE', 'grpc-timeout': '5S' })
      expect(calls).toMatchObject([
        {
          path: '/test.Echo/Unary',
          protocol: 'grpc',
          codec: 'json',
          headers: { 'x-word': 'a, b', 'x-bytes-bin': 'AAE' },
          message: Buffer.from('hello'),
          timeoutMs: 5000,
          isGet: false,
        },
      ])
    })

    it('carries metadata of the reply, and none that belongs to the protocol', async () => {
      const stage = await startGrpc()
      const headers = { 'X-Head': 'h', 'many-bin': ['AAE', 'AAI'], 'grpc-status': '9', ':status': '500', 'content-type': 'text/html' }
      stage.handler = async () => ({ message: [], headers, trailers: { 'X-Tail': 't', 'grpc-message': 'no' } })
      const { head, trailers } = await stage.call(HELLO)
      expect(head).toEqual({ ':status': 200, 'content-type': 'application/grpc', 'x-head': 'h', 'many-bin': 'AAE, AAI' })
      expect(trailers).toEqual({ 'grpc-status': '0', 'x-tail': 't' })
    })

    it('answers an error in one block of headers', async () => {
      const stage = await startGrpc()
      const details = [{ type: 'google.rpc.ErrorInfo', value: Buffer.from([0x0a, 0x01, 0x58]) }]
      stage.handler = async () => ({ status: { code: 5, message: 'no such role', details }, trailers: { 'x-tail': 't' } })
      const { head, trailers, body } = await stage.call(HELLO)
      expect(head).toMatchObject({ ':status': 200, 'grpc-status': '5', 'grpc-message': 'no such role', 'x-tail': 't' })
      expect(Buffer.from(String(head['grpc-status-details-bin']), 'base64').toString('latin1')).toBe(
        '\x08\x05\x12\x0cno such role\x1a\x2f\x0a\x28type.googleapis.com/google.rpc.ErrorInfo\x12\x03\x0a\x01X',
      )
      expect([trailers, body.length]).toEqual([{}, 0])
    })

    it('answers an error with headers of its own in two blocks', async () => {
      const stage = await startGrpc()
      stage.handler = async () => ({ status: { code: 5, message: '', details: [] }, headers: { 'x-head': 'h' } })
      expect(await stage.call(HELLO)).toMatchObject({ head: { 'x-head': 'h' }, trailers: { 'grpc-status': '5' } })
    })

    it('writes the special status message of gRPC so that clients read it', async () => {
      const stage = await startGrpc({ handler: answerSpecially })
      expect(await stage.call(HELLO)).toMatchObject({ head: { 'grpc-message': SPECIAL.encoded }, code: 2, message: SPECIAL.message })
    })

    it('sends a large message whole, from any number of pieces', async () => {
      const stage = await startGrpc()
      const pieces = Array.from({ length: 300 }, (_, at) => Buffer.alloc(1000, at))
      stage.handler = async () => ({ message: pieces })
      expect((await stage.call(HELLO)).body.equals(frame(Buffer.concat(pieces)))).toBe(true)
    })
  })

  describe('a request', () => {
    const most = frame(Buffer.alloc(1000))
    it.each([
      ['no message', [], {}, 12, 'no message'],
      ['two messages', [HELLO, HELLO], {}, 12, 'more than one'],
      ['two messages that are too large together', [most, most], {}, 8, 'limits.requestBytes'],
      ['part of a frame', [HELLO.subarray(0, 4)], {}, 13, 'ends within'],
      ['part of a message', [HELLO.subarray(0, 8)], {}, 13, 'ends within'],
      ['unknown flags', [frame('hello', 0x80)], {}, 13, 'flags 128'],
      ['a message that is too large', [frame(Buffer.alloc(1001))], {}, 8, 'limits.requestBytes'],
      ['the length of one that is too large', [frame(Buffer.alloc(1001)).subarray(0, 9)], {}, 8, 'limits.requestBytes'],
      ['a compressed message without an encoding', [frame(gzipSync('hello'), 1)], {}, 13, 'grpc-encoding'],
      ['a compressed message with identity', [frame(gzipSync('hello'), 1)], { 'grpc-encoding': 'identity' }, 13, 'grpc-encoding'],
      ['an unknown encoding', [HELLO], { 'grpc-encoding': 'br' }, 12, 'neither gzip nor identity'],
      ['bytes that are not gzip', [frame('hello', 1)], GZIP, 13, 'decompressed'],
      ['half of a gzip', [frame(gzipSync('hello').subarray(0, 15), 1)], GZIP, 13, 'decompressed'],
      ['a message that inflates too far', [frame(gzipSync(Buffer.alloc(1001)), 1)], GZIP, 8, 'limits.requestBytes'],
      ['a malformed timeout', [HELLO], { 'grpc-timeout': '1.5S' }, 13, 'grpc-timeout'],
      ['a timeout of nine digits', [HELLO], { 'grpc-timeout': '123456789n' }, 13, 'grpc-timeout'],
    ] as const)('with %s is refused', async (_, pieces, headers, code, message) => {
      const { call, failures } = await startGrpc()
      expect(await call(pieces, headers)).toMatchObject({ code, message: expect.stringContaining(message) })
      expect(failures).toEqual([])
    })

    it.each([
      ['in pieces of one byte', [...HELLO].map((byte) => Buffer.from([byte])), {}],
      ['compressed', [frame(gzipSync('hello'), 1)], GZIP],
      ['not compressed although an encoding is named', [HELLO], GZIP],
    ])('is read %s', async (_, pieces, headers) => {
      expect((await (await startGrpc()).call(pieces, headers)).body).toEqual(HELLO)
    })

    it('may be as large as the limit, also when inflated', async () => {
      const { call } = await startGrpc()
      expect((await call(most)).code).toBe(0)
      expect((await call(frame(gzipSync(Buffer.alloc(1000)), 1), GZIP)).code).toBe(0)
    })

    it('tells which encodings are known when it refuses one', async () => {
      const { call } = await startGrpc()
      expect((await call(HELLO, { 'grpc-encoding': 'br' })).head['grpc-accept-encoding']).toBe('identity,gzip')
    })

    it('with an unknown codec is an unsupported type', async () => {
      const { call } = await startGrpc()
      expect((await call(HELLO, { 'content-type': 'application/grpc+thrift' })).head).toMatchObject({ ':status': 415 })
    })

    it('gets a compressed reply if it was compressed and that is worth it', async () => {
      const stage = await startGrpc({ handler: async () => ({ message: [Buffer.alloc(3000), Buffer.alloc(3000)] }) })
      const { head, body } = await stage.call(HELLO, GZIP)
      expect(head['grpc-encoding']).toBe('gzip')
      expect([body[0], body.length < 100]).toEqual([1, true])
      expect((await stage.call(HELLO)).body.length).toBe(6005)
    })
  })

  describe('room for messages', () => {
    it('is refused as UNAVAILABLE when there is none, and given back', async () => {
      const room = createBudget(20)
      const stage = await startGrpc({ budget: room })
      expect(await stage.call(HELLO)).toMatchObject({ code: 0 })
      expect(await stage.call(frame(Buffer.alloc(30)))).toMatchObject({ code: 14, message: expect.stringContaining('limits.bodiesBytes') })
      const end = stage.ended()
      expect(await stage.call(frame(gzipSync('hello'), 1), GZIP)).toMatchObject({ code: 14 })
      await end
      expect(room.take(20)).toBe(true)
    })

    it('is taken for what a message could become before it is inflated', async () => {
      const { call } = await startGrpc({ budget: createBudget(900) })
      expect(await call(frame(gzipSync(Buffer.alloc(800)), 1), GZIP)).toMatchObject({ code: 14 })
    })
  })

  describe('the end of a call', () => {
    it('comes with the deadline of the client, whatever the handler does', async () => {
      const stage = await startGrpc()
      const reasons: unknown[] = []
      stage.handler = ({ signal }) => new Promise(() => signal.addEventListener('abort', () => reasons.push(signal.reason)))
      expect(await stage.call(HELLO, { 'grpc-timeout': '20m' })).toMatchObject({ code: 4 })
      expect(reasons).toMatchObject([{ code: 'DEADLINE_EXCEEDED' }])
    })

    it('comes with the deadline while the request has not come', async () => {
      const { session, ended } = await startGrpc()
      const end = ended()
      const stream = session.request({ ':method': 'POST', 'content-type': 'application/grpc', 'grpc-timeout': '10m' })
      const [head] = await once(stream, 'response')
      expect(head['grpc-status']).toBe('4')
      stream.resume().end()
      expect(await end).toBe(4)
    })

    it('comes at once if no time is left', async () => {
      const stage = await startGrpc({ handler: () => Promise.reject(new Error('not asked')) })
      expect(await stage.call(HELLO, { 'grpc-timeout': '0n' })).toMatchObject({ code: 4 })
      expect(stage.failures).toEqual([])
    })

    it('fires the signal when the client goes away', async () => {
      const stage = await startGrpc()
      const end = stage.ended()
      const stream = stage.session.request({ ':method': 'POST', 'content-type': 'application/grpc' })
      stream.on('error', () => {})
      const reason = new Promise((resolve) => {
        stage.handler = ({ signal }) =>
          new Promise(() => {
            signal.addEventListener('abort', () => resolve(signal.reason))
            stream.close(8)
          })
      })
      stream.end(HELLO)
      expect(await reason).toMatchObject({ code: 'CANCELLED' })
      expect(await end).toBe(1)
    })

    it('has the code of an ApiError, and INTERNAL for any other exception', async () => {
      const stage = await startGrpc({ handler: () => Promise.reject(new ApiError('NOT_FOUND', 'no such role')) })
      expect(await stage.call(HELLO)).toMatchObject({ code: 5, message: 'no such role' })
      expect(stage.failures).toEqual([])
      stage.handler = () => Promise.reject(new Error('secret'))
      expect(await stage.call(HELLO)).toMatchObject({ code: 13, message: 'internal error' })
      expect(stage.failures).toMatchObject([{ message: 'secret' }])
    })

    it('is INTERNAL for metadata that no header can carry', async () => {
      const stage = await startGrpc({ handler: async () => ({ message: [], headers: { 'x-head': 'a\nb' } }) })
      expect(await stage.call(HELLO)).toMatchObject({ code: 13 })
      expect(stage.failures).toHaveLength(1)
    })
  })

  it.each([
    ['a letter', 'x', 1491],
    ['a letter that is encoded', 'é', 248],
    ['a pair of UTF-16', '\u{1f4a5}', 124],
    ['a percent sign', '%', 497],
  ])('cuts a long message of %s to what trailers can carry', async (_, character, kept) => {
    const stage = await startGrpc()
    const details = [{ type: 'google.rpc.ErrorInfo', value: Buffer.alloc(3000) }]
    stage.handler = async () => ({ status: { code: 5, message: character.repeat(50_000), details } })
    const { code, message, trailers } = await stage.call(frame(''))
    expect({ code, message }).toEqual({ code: 5, message: `${character.repeat(kept)}…` })
    expect(JSON.stringify(trailers).length).toBeLessThan(8000)
    expect(stage.session.closed).toBe(false)
  })
})

describe('serve grpc stream', () => {
  const HELLO = frame('hello')
  const GZIP = { 'grpc-encoding': 'gzip' }

  const start = (handler: WireStreamHandler, room = createBudget(10_000)) =>
    startGrpc({ budget: room }, (settings) => {
      const serve = createServeGrpcStream(settings)
      return (stream, headers, _, ended) => serve(stream, headers, handler, ended)
    })

  const echoAll: WireStreamHandler = async function* ({ messages }) {
    for await (const message of messages) yield Buffer.from(message)
  }

  it('gives a message for each message, from frames in any pieces', async () => {
    const { call } = await start(echoAll)
    const all = Buffer.concat([HELLO, frame(''), frame('world')])
    expect(await call(all)).toMatchObject({ body: all, trailers: { 'grpc-status': '0' } })
    expect((await call([...all].map((byte) => Buffer.from([byte])))).body).toEqual(all)
    expect((await call(frame(gzipSync('hello'), 1), GZIP)).body).toEqual(HELLO)
  })

  it('gives messages while the client is sending', async () => {
    const { session } = await start(echoAll)
    const stream = session.request({ ':method': 'POST', 'content-type': 'application/grpc' })
    for (const word of ['a', 'b']) {
      stream.write(frame(word))
      expect((await once(stream, 'data'))[0]).toEqual(frame(word))
    }
    stream.end()
    const [trailers] = await once(stream, 'trailers')
    expect(trailers['grpc-status']).toBe('0')
  })

  it.each([
    ['part of a message', HELLO.subarray(0, 7), {}, 13],
    ['unknown flags', frame('hello', 2), {}, 13],
    ['a message over the limit', frame(Buffer.alloc(1001)), {}, 8],
    ['a message that inflates too far', frame(gzipSync(Buffer.alloc(1001)), 1), GZIP, 8],
    ['a compressed message without an encoding', frame(gzipSync('hello'), 1), {}, 13],
    ['an unknown encoding', HELLO, { 'grpc-encoding': 'br' }, 12],
    ['a malformed timeout', HELLO, { 'grpc-timeout': '1' }, 13],
  ])('refuses %s', async (_, body, headers, code) => {
    const { call, failures } = await start(echoAll)
    expect(await call(body, headers)).toMatchObject({ code })
    expect(failures).toEqual([])
  })

  it('ends with the error of the handler after its messages', async () => {
    const { call } = await start(async function* () {
      yield Buffer.from('hello')
      throw new ApiError('NOT_FOUND', 'no more')
    })
    expect(await call(HELLO)).toMatchObject({ body: HELLO, code: 5, message: 'no more' })
  })

  it.each(['application/grpc', 'application/grpc+xml'])('ends a call of %s whose client left before it was served', async (type) => {
    const { session, ended } = await startGrpc({}, (settings) => {
      const serve = createServeGrpcStream(settings)
      return (stream, headers, _, over) => {
        stream.on('error', () => {}).once('close', () => setImmediate(serve, stream, headers, echoAll, over))
      }
    })
    const end = ended()
    const stream = session.request({ ':method': 'POST', 'content-type': type }).on('error', () => {})
    await once(stream, 'ready')
    stream.close(constants.NGHTTP2_CANCEL)
    expect(await end).toBe(1)
  })

  it('is OK without a message', async () => {
    const { call } = await start(async function* () {})
    expect(await call(HELLO)).toMatchObject({ code: 0, body: Buffer.alloc(0) })
  })

  it('ends at the deadline of the client, whatever the handler does', async () => {
    const { call } = await start(() => ({ [Symbol.asyncIterator]: () => ({ next: () => new Promise(() => {}) }) }))
    expect(await call(HELLO, { 'grpc-timeout': '20m' })).toMatchObject({ code: 4 })
  })

  it('waits for a client that does not read', async () => {
    const PIECE = 100_000
    let given = 0
    const { session, ended } = await start(async function* ({ signal }) {
      while (!signal.aborted) {
        given += 1
        yield Buffer.alloc(PIECE)
      }
    })
    const end = ended()
    const stream = session.request({ ':method': 'POST', 'content-type': 'application/grpc' })
    stream.on('error', () => {})
    await once(stream, 'response')
    await once(stream, 'readable')
    stream.close(8)
    expect(await end).toBe(1)
    expect(given).toBeLessThan(10)
  })

  it('gives back the room of its messages', async () => {
    const room = createBudget(100)
    const { call, ended } = await start(echoAll, room)
    await call([HELLO, frame('a'), HELLO.subarray(0, 3)])
    const end = ended()
    expect(await call(frame(Buffer.alloc(200)))).toMatchObject({ code: 14 })
    await end
    expect(room.take(100)).toBe(true)
  })
})
