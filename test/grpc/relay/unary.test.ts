import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { constants, createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import { Agent } from 'undici'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { createTranscode, relayUnary } from '../../../src/grpc/calls/destinations.ts'
import type { RpcMethod } from '../../../src/grpc/proto-files.ts'
import { createGrpc } from '../../../src/grpc/relay/relay.ts'
import { type CallUnary, readAnswer } from '../../../src/grpc/relay/unary.ts'
import type { WireReply } from '../../../src/grpc/wire/call.ts'
import { newRequestRecord } from '../../../src/serve/core.ts'
import { Firing } from '../../../src/serve/signals.ts'
import { createAskRest } from '../../../src/serve/upstream/v1.ts'
import { callTimes } from '../../stage/clocks.ts'
import { NOWHERE } from '../../stage/stage.ts'
import { answering, listening, startUpstream, type Upstream } from '../../stage/upstream.ts'
import { answerWith, type Echo, framed, pathOf, startBareService, startEcho } from '../client.ts'
import { methodOf, rpc } from '../messages.ts'

describe('unary', () => {
  const settings = { connections: 2, connectTimeoutMs: 3000, answerBytes: 1000 }
  const call = { path: pathOf('Unary'), headers: {}, message: Buffer.from('hello'), timeoutMs: undefined, signal: new Firing() }

  const clientOf = (url: string, service: 'v1' | 'v2' = 'v2') => {
    const grpc = createGrpc(url, { service, ...settings })
    onTestFinished(grpc.close)
    return grpc.call
  }

  const serving = async (answer: (stream: ServerHttp2Stream) => void, service?: 'v1') =>
    clientOf((await startBareService(answer)).url, service)

  describe('a call of one message', () => {
    let echo: Echo

    beforeAll(async () => {
      echo = await startEcho()
    })

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

  it('sends each value of binary metadata by itself, as the client did', async () => {
    let sent: readonly string[] = []
    const service = createServer(({ rawHeaders }, response) => {
      sent = rawHeaders
      response.writeHead(200, { 'content-type': 'application/grpc' }).addTrailers({ 'grpc-status': '0' })
      response.end(framed(''))
    })
    await clientOf((await listening(service)).url)({ ...call, headers: { 'x-two-bin': 'AQ, AgM=', 'x-many': '1, 2' } })
    const values = (name: string) => sent.filter((_, at) => at % 2 === 1 && sent[at - 1] === name)
    expect([values('x-two-bin'), values('x-many')]).toEqual([['AQ', 'AgM='], ['1, 2']])
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
    [
      'resets after the message',
      (stream) => stream.once('data', () => stream.close(constants.NGHTTP2_INTERNAL_ERROR)),
      'UNKNOWN',
      BROKE_OFF,
    ],
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
    await expect(clientOf(old.url, 'v1')(call)).rejects.toMatchObject({ code: 'UNIMPLEMENTED', message: NO_GRPC, unsent: true })
    const other = await serving((stream) => stream.respond({ ':status': 404 }, { endStream: true }), 'v1')
    await expect(other(call)).rejects.toMatchObject({ code: 'UNIMPLEMENTED', message: NO_GRPC })
  })

  it('sent nothing if no service listens', async () => {
    await expect(clientOf(NOWHERE)(call)).rejects.toMatchObject({ code: 'UNAVAILABLE', unsent: true })
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
})

describe('relay unary', () => {
  function relay(name: string, call: CallUnary) {
    const method = methodOf(name)
    const headers = { authorization: 'Bearer t', 'x-crosswalk-mode': 'v1', 'x-request-id': 'theirs' }
    const signal = callTimes()
    const asked = { path: method.path, protocol: 'grpc', codec: 'proto', headers, timeoutMs: 5, isGet: false, signal } as const
    return relayUnary(
      { call, registry: rpc.registry, limits: { messageBytes: 1000, rowsPerRequest: 10 } },
      { method, call: { ...asked, message: Buffer.from([1]) }, record: newRequestRecord('ours') },
    )
  }

  it('sends the request id, and nothing that is meant for the proxy', async () => {
    let sent: Parameters<CallUnary>[0] | undefined
    const answer = { status: undefined, message: Buffer.from([2]), headers: {}, trailers: {} }
    const reply = await relay('iam.Groups/List', async (call) => {
      sent = call
      return answer
    })
    expect(sent?.headers).toEqual({ authorization: 'Bearer t', 'x-request-id': 'ours' })
    expect([sent?.message, reply]).toEqual([Buffer.from([1]), { message: [Buffer.from([2])], headers: {}, trailers: {} }])
  })

  const unsent = { unsent: true } as const

  it.each([
    ['iam.Groups/Create', new ApiError('UNAVAILABLE', 'broke'), 'UNKNOWN'],
    ['iam.Groups/Create', new ApiError('RESOURCE_EXHAUSTED', 'too long'), 'UNKNOWN'],
    ['iam.Groups/Create', new ApiError('UNAVAILABLE', 'not reached', unsent), 'UNAVAILABLE'],
    ['iam.Groups/List', new ApiError('UNAVAILABLE', 'broke'), 'UNAVAILABLE'],
  ])('rejects %s after %s with %s', async (name, error, code) => {
    await expect(relay(name, () => Promise.reject(error))).rejects.toMatchObject({ code })
  })
})

describe('transcode', () => {
  let upstream: Upstream
  let transcode: ReturnType<typeof createTranscode>
  let answer: (response: ServerResponse) => void

  const pool = new Agent()
  const saying =
    (status: number, body: unknown, headers = {}) =>
    (response: ServerResponse) =>
      void response
        .writeHead(status, { 'content-type': 'application/json', ...headers })
        .end(typeof body === 'string' ? body : JSON.stringify(body))

  beforeAll(async () => {
    upstream = await startUpstream((_, response) => answer(response))
    const ask = createAskRest({ service: 'v2', pool, base: `${upstream.url}/base`, answerMs: 5000 })
    transcode = createTranscode(ask, rpc, { messageBytes: 1000, rowsPerRequest: 1000, headerBytes: 65_536 })
  })

  afterAll(() => pool.close())

  const HEADERS = {
    authorization: 'Bearer a',
    'cdn-loop': 'crosswalk-x',
    'grpc-timeout': '1S',
    te: 'trailers',
    'content-type': 'application/grpc',
    'user-agent': 'u',
  }

  function call(method: RpcMethod, json: JsonValue, codec: 'proto' | 'json' = 'proto', signal = new Firing()): Promise<WireReply> {
    const message = codec === 'json' ? Buffer.from(JSON.stringify(json)) : Buffer.from(toBinary(method.input, fromJson(method.input, json)))
    const wire = {
      path: method.path,
      protocol: 'grpc',
      codec,
      headers: HEADERS,
      message,
      timeoutMs: undefined,
      isGet: false,
      signal: callTimes(signal),
    } as const
    return transcode({ method, call: wire, record: newRequestRecord('the-id') })
  }

  const messageIn = ({ output }: RpcMethod, reply: WireReply) =>
    toJson(output, fromBinary(output, Buffer.concat('message' in reply ? reply.message : [])))
  const GROUP = { uid: 'a/b', name: 'n' }

  it.each(['v2', 'v2beta1'])('serves a method of %s from the REST call that it stands for', async (version) => {
    answer = saying(200, { ...GROUP, createTime: '2026-01-02T03:04:05Z', ofANewerV2: true })
    const method = methodOf(`iam.${version}.GroupsService/UpdateGroup`)
    const reply = await call(method, { group: GROUP, updateMask: 'name' })
    expect(messageIn(method, reply)).toEqual({ ...GROUP, createTime: '2026-01-02T03:04:05Z' })
    const seen = upstream.seen.at(-1)
    expect(seen).toMatchObject({ method: 'PATCH', url: '/base/iam/v2/groups/a/b?updateMask=name', body: JSON.stringify({ name: 'n' }) })
    expect(seen?.headers).toMatchObject({
      authorization: 'Bearer a',
      'cdn-loop': 'crosswalk-x',
      'x-request-id': 'the-id',
      'user-agent': 'u',
    })
    expect(Object.keys(seen?.headers ?? {})).not.toEqual(expect.arrayContaining(['grpc-timeout']))
  })

  it('answers JSON with JSON', async () => {
    answer = saying(200, { groups: [GROUP] })
    const reply = await call(methodOf('iam.v2.GroupsService/ListGroups'), { pageSize: 1 }, 'json')
    expect(JSON.parse(Buffer.concat('message' in reply ? reply.message : []).toString())).toEqual({ groups: [GROUP] })
  })

  const V2 = rpc.methods.filter(({ version }) => version !== 'v1')

  it('asks for the route of each method, but for what REST cannot carry', async () => {
    answer = saying(200, {})
    const routes: string[] = []
    for (const method of V2) {
      const names = [...(method.rule?.template ?? '').matchAll(/\{([^=}]+)/g)].map(([, name = '']) => name.split('.'))
      const json = Object.fromEntries(names.map(([first = '', second]) => [first, second ? { [second]: 'a/b' } : 'a']))
      await call(method, json)
      const { method: verb, url } = upstream.seen.at(-1) ?? {}
      const filled = method.rule?.template.replace(/\{[^}]*\.[^}]*\}/g, 'a/b').replace(/\{[^}]*\}/g, 'a')
      expect(`${verb} ${url}`).toBe(`${method.rule?.method} /base${filled}`)
      routes.push(method.path)
    }
    expect(routes).toHaveLength(2 * 79)
    const asked = methodOf('advisory.v2.SecurityAdvisoryService/ListResolvedVulnsReports')
    await expect(call(asked, { imageRefs: [{ repo: 'a' }] })).rejects.toMatchObject({
      code: 'UNIMPLEMENTED',
      message: 'REST cannot carry image_refs of ListResolvedVulnsReports, so only gRPC serves this call',
    })
  })

  it.each([
    ['GetGroup', { uid: '' }],
    ['GetGroup', { uid: '../roles/a' }],
    ['GetGroup', { uid: 'a/..' }],
  ])('refuses a name that leads %s elsewhere: %j', async (name, json) => {
    answer = saying(200, {})
    const before = upstream.seen.length
    await expect(call(methodOf(`iam.v2.GroupsService/${name}`), json)).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
    expect(upstream.seen).toHaveLength(before)
  })

  it('refuses the name of a part of a resource', async () => {
    answer = saying(200, {})
    await expect(call(methodOf('registry.v2.ReposService/GetRepo'), { uid: 'a/readme' })).rejects.toMatchObject({
      code: 'INVALID_ARGUMENT',
    })
    await expect(call(methodOf('iam.v2.GroupsService/RequestGroupAccess'), {})).resolves.toBeDefined()
  })

  const GET = 'iam.v2beta1.GroupsService/GetGroup'
  const CREATE = 'iam.v2beta1.GroupsService/CreateGroup'
  const TERMS = {
    code: 9,
    message: 'terms',
    details: [{ '@type': 'type.googleapis.com/chainguard.platform.iam.v2.TermsNotAcceptedDetail', missing: [] }],
  }
  const READ = { uid: 'a' }

  it.each<[title: string, name: string, json: JsonValue, given: (response: ServerResponse) => void, status: object]>([
    [
      'an error of v2 with its details renamed',
      GET,
      READ,
      saying(400, TERMS),
      { code: 9, message: 'terms', details: [{ type: 'chainguard.platform.iam.v2beta1.TermsNotAcceptedDetail' }] },
    ],
    ['UNAVAILABLE for a read', GET, READ, saying(503, 'busy'), { code: 14 }],
    [
      'UNKNOWN for a write that may be done',
      CREATE,
      {},
      saying(503, { code: 14, message: 'busy' }),
      { code: 2, message: 'busy; this call may have been done' },
    ],
  ])('answers %s', async (_, name, json, given, status) => {
    answer = given
    expect(await call(methodOf(name), json)).toMatchObject({ status })
  })

  it.each<[title: string, name: string, json: JsonValue, given: (response: ServerResponse) => void, code: string]>([
    ['UNKNOWN for a write whose connection breaks', CREATE, {}, (response) => response.destroy(), 'UNKNOWN'],
    ['UNAVAILABLE for a read whose connection breaks', GET, READ, (response) => response.destroy(), 'UNAVAILABLE'],
    ['INTERNAL for what is no message', GET, READ, saying(200, '<html>'), 'INTERNAL'],
    ['RESOURCE_EXHAUSTED for a message beyond its limit', GET, READ, saying(200, { name: 'x'.repeat(2000) }), 'RESOURCE_EXHAUSTED'],
  ])('rejects with %s', async (_, name, json, given, code) => {
    answer = given
    await expect(call(methodOf(name), json)).rejects.toMatchObject({ code })
  })

  it('leaves v2 when the client goes away', async () => {
    const signal = new Firing()
    const gone = new ApiError('CANCELLED', 'the client went away')
    const left = new Promise((resolve) => {
      answer = (response) => {
        response.once('close', resolve)
        signal.abort(gone)
      }
    })
    await expect(call(methodOf(GET), READ, 'proto', signal)).rejects.toBe(gone)
    await left
  })
})
