import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import type { WireCall } from '../../src/grpc/wire/call.ts'
import { createRoom } from '../../src/serve/bounds.ts'
import { answerSpecially, SPECIAL } from './special.ts'
import { echo, frame, startGrpc } from './stage.ts'

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
    const stage = await startGrpc()
    stage.handler = answerSpecially
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
    const stage = await startGrpc()
    stage.handler = async () => ({ message: [Buffer.alloc(3000), Buffer.alloc(3000)] })
    const { head, body } = await stage.call(HELLO, GZIP)
    expect(head['grpc-encoding']).toBe('gzip')
    expect([body[0], body.length < 100]).toEqual([1, true])
    expect((await stage.call(HELLO)).body.length).toBe(6005)
  })
})

describe('room for messages', () => {
  it('is refused as UNAVAILABLE when there is none, and given back', async () => {
    const room = createRoom(20)
    const stage = await startGrpc({ room })
    expect(await stage.call(HELLO)).toMatchObject({ code: 0 })
    expect(await stage.call(frame(Buffer.alloc(30)))).toMatchObject({ code: 14, message: expect.stringContaining('limits.bodiesBytes') })
    const end = stage.ended()
    expect(await stage.call(frame(gzipSync('hello'), 1), GZIP)).toMatchObject({ code: 14 })
    await end
    expect(room.take(20)).toBe(true)
  })

  it('is taken for what a message could become before it is inflated', async () => {
    const { call } = await startGrpc({ room: createRoom(900) })
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
    const stage = await startGrpc()
    stage.handler = () => Promise.reject(new Error('not asked'))
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
    const stage = await startGrpc()
    stage.handler = () => Promise.reject(new ApiError('NOT_FOUND', 'no such role'))
    expect(await stage.call(HELLO)).toMatchObject({ code: 5, message: 'no such role' })
    expect(stage.failures).toEqual([])
    stage.handler = () => Promise.reject(new Error('secret'))
    expect(await stage.call(HELLO)).toMatchObject({ code: 13, message: 'internal error' })
    expect(stage.failures).toMatchObject([{ message: 'secret' }])
  })

  it('is INTERNAL for metadata that no header can carry', async () => {
    const stage = await startGrpc()
    stage.handler = async () => ({ message: [], headers: { 'x-head': 'a\nb' } })
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
