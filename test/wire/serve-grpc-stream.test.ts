import { once } from 'node:events'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import { createServeGrpcStream, type WireStreamHandler } from '../../src/grpc/wire/grpc.ts'
import { createRoom } from '../../src/serve/bounds.ts'
import { frame, startGrpc } from './stage.ts'

const HELLO = frame('hello')
const GZIP = { 'grpc-encoding': 'gzip' }

const start = (handler: WireStreamHandler, room = createRoom(10_000)) =>
  startGrpc({ room }, (settings) => {
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
  const room = createRoom(100)
  const { call, ended } = await start(echoAll, room)
  await call([HELLO, frame('a'), HELLO.subarray(0, 3)])
  const end = ended()
  expect(await call(frame(Buffer.alloc(200)))).toMatchObject({ code: 14 })
  await end
  expect(room.take(100)).toBe(true)
})
