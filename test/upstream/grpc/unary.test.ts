import { once } from 'node:events'
import { constants, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { type AddressInfo, createServer } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { createGrpc } from '../../../src/grpc/relay/relay.ts'
import { readAnswer } from '../../../src/grpc/relay/unary.ts'
import { Firing } from '../../../src/serve/signals.ts'
import { answerWith, framed, startBareService } from '../../grpc/bare-service.ts'
import { type Echo, pathOf, startEcho } from '../../grpc/echo.ts'
import { answering, startUpstream } from '../../stage/upstream.ts'

const settings = { connections: 2, connectTimeoutMs: 3000, answerBytes: 1000 }
const call = { path: pathOf('Unary'), headers: {}, message: Buffer.from('hello'), timeoutMs: undefined, signal: new Firing() }

const clientOf = (url: string, service: 'v1' | 'v2' = 'v2') => {
  const grpc = createGrpc(url, { service, ...settings })
  onTestFinished(grpc.close)
  return grpc.call
}

const serving = async (answer: (stream: ServerHttp2Stream) => void, service?: 'v1') => {
  const bare = await startBareService(answer)
  onTestFinished(bare.close)
  return clientOf(bare.url, service)
}

describe('a call of one message', () => {
  let echo: Echo

  beforeAll(async () => {
    echo = await startEcho()
  })
  afterAll(() => echo.kill())

  it('answers with the message and its metadata, and hides the headers of the client’s protocol', async () => {
    const headers = {
      ':path': '/other',
      'content-type': 'application/connect+json',
      'connect-timeout-ms': '7',
      host: 'a.test',
      'x-text': 'a',
      'x-one-bin': 'AP8',
    }
    const answer = await clientOf(`http://${echo.address}`)({ ...call, headers, timeoutMs: 5000 })
    expect(answer).toEqual({
      status: undefined,
      message: Buffer.from('hello'),
      headers: { 'x-text': 'a', 'x-one-bin': 'AP8=' },
      trailers: { 'x-text': 'a', 'x-one-bin': 'AP8=' },
    })
    expect(Math.abs(echo.deadline - Date.now() - 5000)).toBeLessThan(2000)
  })

  it('answers with the status of an error', async () => {
    const answer = await clientOf(`http://${echo.address}`)({ ...call, path: pathOf('Refuse') })
    expect(answer).toMatchObject({
      status: { code: 5, message: 'Straße nicht gefunden: 100 %', details: [] },
      message: undefined,
      headers: {},
    })
  })

  it('resets the call when its client goes away', async () => {
    const signal = new Firing()
    const [hangs, cancelled] = [once(echo.events, 'hang'), once(echo.events, 'cancelled')]
    const answer = clientOf(`http://${echo.address}`)({ ...call, path: pathOf('Hang'), signal })
    await hangs
    const gone = new ApiError('CANCELLED', 'the client went away')
    signal.abort(gone)
    await expect(answer).rejects.toBe(gone)
    await cancelled
    await expect(clientOf(`http://${echo.address}`)({ ...call, signal })).rejects.toBe(gone)
  })
})

it('reads the details of an error', async () => {
  // Code 9, message "no", one Any of google.rpc.ErrorInfo with three bytes.
  const any = Buffer.concat([
    Buffer.from([0x0a, 40]),
    Buffer.from('type.googleapis.com/google.rpc.ErrorInfo'),
    Buffer.from([0x12, 3, 1, 2, 3]),
  ])
  const status = Buffer.concat([Buffer.from([0x08, 9, 0x12, 2]), Buffer.from('no'), Buffer.from([0x1a, any.length]), any])
  const trailers = { 'grpc-status': '9', 'grpc-message': 'no', 'grpc-status-details-bin': status.toString('base64') }
  const answer = await (await serving((stream) => answerWith(stream, Buffer.alloc(0), trailers)))(call)
  expect(answer.status).toEqual({ code: 9, message: 'no', details: [{ type: 'google.rpc.ErrorInfo', value: Buffer.from([1, 2, 3]) }] })
})

const OK = { 'grpc-status': '0' }
const BROKE_OFF = 'the v2 service broke off during the call, which may have been done'
const CANNOT = 'the v2 service sent an answer that cannot be passed on'
const NO_GRPC = 'the v1 service does not speak gRPC; set upstream.v1Grpc to rest if it speaks REST'

type Row = readonly [what: string, answer: (stream: ServerHttp2Stream) => void, code: string, message: string]

it.each<Row>([
  ['resets after the message', (stream) => stream.once('data', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR)), 'UNKNOWN', BROKE_OFF],
  ['breaks the connection', (stream) => stream.session?.destroy(), 'UNKNOWN', BROKE_OFF],
  ['refuses the stream', (stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM), 'UNAVAILABLE', 'the v2 service cannot be reached'],
  ['sends no trailers', (stream) => answerWith(stream, framed('a')), 'INTERNAL', CANNOT],
  ['sends no message', (stream) => answerWith(stream, Buffer.alloc(0), OK), 'INTERNAL', CANNOT],
  ['sends two messages', (stream) => answerWith(stream, Buffer.concat([framed('a'), framed('b')]), OK), 'INTERNAL', CANNOT],
  ['sends half a message', (stream) => answerWith(stream, framed('abc').subarray(0, 7), OK), 'INTERNAL', CANNOT],
  ['compresses unasked', (stream) => answerWith(stream, framed('a', 1), OK), 'INTERNAL', CANNOT],
  [
    'sends a huge message',
    (stream) => answerWith(stream, framed(Buffer.alloc(1001)), OK),
    'RESOURCE_EXHAUSTED',
    'the v2 service sent an answer of more than limits.answerBytes (1000)',
  ],
  [
    'answers with HTTP 503',
    (stream) => stream.respond({ ':status': 503, 'content-type': 'text/html' }, { endStream: true }),
    'UNKNOWN',
    'the v2 service answered HTTP 503 without gRPC',
  ],
])('rejects if the service %s', async (_, answer, code, message) => {
  await expect((await serving(answer))(call)).rejects.toMatchObject({ code, message })
})

it('repeats a call that a retiring service has not taken, and tells of one that it has', async () => {
  let taken = 0
  const make = await serving((stream) => {
    // The first call is stream 1, the second is stream 3. Its successor counts anew.
    if (stream.id === 3) stream.session?.goaway(constants.NGHTTP2_ENHANCE_YOUR_CALM, 1)
    else if (++taken > 1) answerWith(stream, framed('hi'), OK)
  })
  const ends = await Promise.allSettled([make(call), make(call)])
  expect(ends.map((end) => (end.status === 'rejected' ? end.reason.code : String(end.value.message)))).toEqual(['UNKNOWN', 'hi'])
})

it('repeats a call once', async () => {
  let asked = 0
  const make = await serving((stream) => {
    asked += 1
    stream.close(constants.NGHTTP2_REFUSED_STREAM)
  })
  await expect(make(call)).rejects.toMatchObject({ code: 'UNAVAILABLE', unsent: true })
  expect(asked).toBe(2)
})

it('says what to set if v1 speaks no gRPC', async () => {
  const old = await startUpstream(answering({}))
  onTestFinished(old.close)
  await expect(clientOf(old.url, 'v1')(call)).rejects.toMatchObject({ code: 'UNIMPLEMENTED', message: NO_GRPC, unsent: true })
  const other = await serving((stream) => stream.respond({ ':status': 404 }, { endStream: true }), 'v1')
  await expect(other(call)).rejects.toMatchObject({ code: 'UNIMPLEMENTED', message: NO_GRPC })
})

it('sent nothing if no service listens', async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  await expect(clientOf(`http://127.0.0.1:${port}`)(call)).rejects.toMatchObject({ code: 'UNAVAILABLE', unsent: true })
})

it('passes on a million messages of one answer, and no more', () => {
  const received = (headers: IncomingHttpHeaders) => ({ headers, raw: [] })
  const answerOf = (messages: number) => {
    const body = Buffer.alloc(5 * messages)
    return readAnswer({ head: received({ 'content-type': 'application/grpc' }), trailers: received(OK), body }, 'v1', true)
  }
  expect(answerOf(1_000_000).frames).toHaveLength(5_000_000)
  expect(() => answerOf(1_000_001)).toThrow('the v1 service sent an answer that cannot be passed on')
})
