import { once } from 'node:events'
import { constants } from 'node:http2'
import { connect } from 'node:net'
import { gunzipSync, gzipSync } from 'node:zlib'
import { status } from '@grpc/grpc-js'
import protojson from 'protobufjs/ext/protojson.js'
import { beforeEach, describe, expect, test } from 'vitest'
import { grpcApi, readFrame } from '../../src/sandbox/grpc/server.ts'
import { startSandbox } from '../../src/sandbox/start.ts'
import { framed, grpcClient, rawClient } from './grpc-client.ts'
import { running } from './stage.ts'

describe('manners', () => {
  const { sandbox, get } = running()
  const { call } = grpcClient(() => sandbox().url)
  const { send, sendWithoutEnd } = rawClient(() => sandbox().url)

  const PING = '/chainguard.platform.ping.Ping/Ping'
  const LIST = '/chainguard.platform.iam.Groups/List'

  /** The code and text of a call that failed, and its HTTP status. */
  const failure = async (body: Uint8Array, headers: Readonly<Record<string, string>> = {}, path = LIST) => {
    const { headers: head } = await send(path, body, headers)
    return [Number(head['grpc-status']), decodeURIComponent(String(head['grpc-message']))]
  }

  test.each([
    ['/chainguard.platform.iam.Groups/Grow', 'unknown method Grow for service chainguard.platform.iam.Groups'],
    ['/chainguard.platform.iam.Trees/List', 'unknown service chainguard.platform.iam.Trees'],
    ['/chainguard.platform.iam.v2beta1.RequestGroupsService/Get', 'unknown service chainguard.platform.iam.v2beta1.RequestGroupsService'],
    ['/nowhere', 'malformed method name: "/nowhere"'],
    ['/chainguard.platform.registry.Registry/GetSbom', 'method GetSbom not implemented'],
  ])('refuses %s as unimplemented', async (path, message) => {
    expect(await failure(framed(Buffer.alloc(0)), {}, path)).toEqual([status.UNIMPLEMENTED, message])
  })

  test('refuses a stream to an unknown service before its end', async () => {
    const { headers } = await sendWithoutEnd('/grpc.reflection.v1.ServerReflection/ServerReflectionInfo', framed(Buffer.alloc(0)))
    expect(headers['grpc-status']).toBe(String(status.UNIMPLEMENTED))
  })

  const UNREADABLE = 'grpc: error unmarshalling request: proto: cannot parse invalid wire-format data'

  test.each([
    ['a message cut in a field', framed(Buffer.from([0x0a, 0x05, 0x61])), UNREADABLE],
    ['an endless varint', framed(Buffer.alloc(12, 0xff)), UNREADABLE],
    ['invalid UTF-8', framed(Buffer.from([0x1a, 0x01, 0xff])), 'grpc: error unmarshalling request: string field contains invalid UTF-8'],
    ['a cut frame', Buffer.from([0, 0, 0, 0, 9, 1]), 'unexpected EOF'],
    ['no message', Buffer.alloc(0), 'cardinality violation: received no request message from non-client-streaming RPC'],
    [
      'two messages',
      Buffer.concat([framed(Buffer.alloc(0)), framed(Buffer.alloc(0))]),
      'cardinality violation: received multiple request messages for non-client-streaming RPC',
    ],
    ['an unknown flag', framed(Buffer.alloc(0), 4), 'grpc: received unexpected payload format 4'],
    ['a compressed message without an encoding', framed(gzipSync(''), 1), 'grpc: compressed flag set with identity or empty encoding'],
  ])('refuses %s as grpc-go does', async (_, body, message) => {
    expect(await failure(body)).toEqual([status.INTERNAL, message])
  })

  test('skips unknown fields and fields of another type', async () => {
    const { trailers } = await send(LIST, framed(Buffer.from([0x18, 0x05, 0xc0, 0x3e, 0x01])))
    expect(trailers['grpc-status']).toBe('0')
  })

  test('inflates a request and compresses its answer', async () => {
    const { headers, body } = await send(LIST, framed(gzipSync(''), 1), { 'grpc-encoding': 'gzip' })
    const plain = await send(LIST, framed(Buffer.alloc(0)))
    expect([headers['grpc-encoding'], body[0]]).toEqual(['gzip', 1])
    expect(gunzipSync(body.subarray(5))).toEqual(plain.body.subarray(5))
    expect(await failure(framed(Buffer.alloc(0)), { 'grpc-encoding': 'zstd' })).toEqual([
      status.UNIMPLEMENTED,
      'grpc: Decompressor is not installed for grpc-encoding "zstd"',
    ])
    const [code, message] = await failure(framed(Buffer.from('no gzip'), 1), { 'grpc-encoding': 'gzip' })
    expect([code, message]).toEqual([status.INTERNAL, expect.stringContaining('grpc: failed to decompress the received message')])
  })

  test('refuses a message above 100 MB by its length', async () => {
    const prefix = Buffer.from([0, 0x06, 0x40, 0, 1])
    expect(await failure(prefix)).toEqual([status.RESOURCE_EXHAUSTED, 'grpc: received message larger than max (104857601 vs. 104857600)'])
  })

  test('refuses a message that inflates above the limit', async () => {
    const arriving = async function* () {
      yield framed(gzipSync(Buffer.alloc(1001)), 1)
    }
    await expect(readFrame(arriving(), 'gzip', 1000)).rejects.toThrow('grpc: message after decompression larger than max (1001 vs. 1000)')
    expect(await readFrame(arriving(), 'gzip', 1001)).toHaveLength(1001)
  })

  test('reads no more of a request than its first message', async () => {
    const { headers } = await sendWithoutEnd(LIST, Buffer.concat([framed(Buffer.alloc(0)), Buffer.alloc(1)]))
    expect(headers['grpc-status']).toBe(String(status.INTERNAL))
  })

  test('survives a connection that is no HTTP/2 after its first bytes', async () => {
    const socket = connect(sandbox().port, '127.0.0.1')
    socket.end('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\nnot a frame at all')
    await once(socket.resume(), 'close')
    expect((await call(LIST)).code).toBe(0)
  })

  test('refuses a malformed timeout', async () => {
    expect(await failure(framed(Buffer.alloc(0)), { 'grpc-timeout': 'soon' })).toEqual([status.INTERNAL, 'malformed grpc-timeout: "soon"'])
  })

  test('sends the details of v2 errors, and none of v1 errors', async () => {
    const uid = `${sandbox().organization}/${'f'.repeat(16)}`
    const v2 = await call('/chainguard.platform.registry.v2.ReposService/GetRepo', { uid })
    const rest = (await get(`/registry/v2/repos/${uid}`)).json
    expect([v2.code, v2.message]).toEqual([rest.code, rest.message])
    expect(rest.details.length).toBeGreaterThan(1)
    const type = grpcApi().root.lookupType('google.rpc.Status')
    const [bytes] = v2.metadata.get('grpc-status-details-bin')
    expect(protojson.toJson(type, type.decode(bytes as Buffer))).toEqual(rest)
    const v1 = await call('/chainguard.platform.registry.Registry/CreateRepo', { parentId: 'zz', repo: {} })
    expect([v1.code, v1.metadata.get('grpc-status-details-bin')]).toEqual([status.INVALID_ARGUMENT, []])
  })

  test('encodes in a message only what must be', async () => {
    const path = '/chainguard.platform.iam.v2.GroupsService/GetGroup'
    const { headers } = await send(path, framed(Buffer.from([0x0a, 0x04, 0x25, 0x20, 0xc3, 0xa9])))
    expect(headers['grpc-message']).toContain('"%25 %C3%A9" is not')
  })

  test.each([
    ['no token', null],
    ['a wrong token', 'nobody'],
  ])('refuses %s as unauthenticated', async (_, token) => {
    expect(await call(LIST, {}, { token })).toMatchObject({
      code: status.UNAUTHENTICATED,
      message: 'Unauthenticated: missing or invalid token',
    })
  })

  test('refuses other requests over HTTP/2', async () => {
    const web = await send(PING, Buffer.alloc(0), { 'content-type': 'application/grpc-web' })
    const read = await send(PING, Buffer.alloc(0), { ':method': 'GET' })
    expect([web.headers[':status'], read.headers[':status']]).toEqual([415, 405])
  })

  test('serves a Get with an empty uid as a Get', async () => {
    expect(await call('/chainguard.platform.iam.v2.GroupsService/GetGroup')).toMatchObject({ code: status.INVALID_ARGUMENT })
    expect((await get('/iam/v2/groups/')).status).toBe(200)
  })
})

describe('faults', () => {
  const { sandbox, call: rest } = running()
  const { call } = grpcClient(() => sandbox().url)
  const { send } = rawClient(() => sandbox().url)

  const fault = (body: object) => rest('POST', '/-/faults', { body, token: null })
  const journal = async () => (await rest('GET', '/-/journal', { token: null })).json

  const LIST = '/chainguard.platform.registry.v2.ReposService/ListRepos'
  const CREATE = '/chainguard.platform.registry.v2.ReposService/CreateRepo'
  const NOTHING = framed(Buffer.alloc(0))

  beforeEach(async () => {
    await rest('DELETE', '/-/faults', { token: null })
    await rest('DELETE', '/-/journal', { token: null })
  })

  test('sets the code of a status and its metadata', async () => {
    await fault({ match: 'GET /registry/v2/repos', times: 1, status: 503, headers: { 'x-fault': 'yes', connection: 'close' } })
    const { headers } = await send(LIST, NOTHING)
    expect([headers['grpc-status'], headers['grpc-message'], headers['x-fault']]).toEqual(['14', 'fault injected: 503', 'yes'])
    expect((await call(LIST)).code).toBe(0)
  })

  test('sends a body as an answer that is no gRPC', async () => {
    await fault({ match: 'GET /registry/v2/repos', times: 1, status: 502, body: '<html>', headers: { 'content-type': 'text/html' } })
    const { headers, body } = await send(LIST, NOTHING)
    expect([headers[':status'], headers['content-type'], headers['grpc-status'], body.toString()]).toEqual([
      502,
      'text/html',
      undefined,
      '<html>',
    ])
  })

  test('resets the stream of a call', async () => {
    await fault({ match: 'GET /registry/v2/repos', times: 1, reset: true })
    expect((await send(LIST, NOTHING)).reset).toBe(constants.NGHTTP2_INTERNAL_ERROR)
    expect((await send(LIST, NOTHING)).trailers['grpc-status']).toBe('0')
  })

  test('drops, changes and shifts as in REST', async () => {
    const { repos } = (await call(LIST, { pageSize: 3 })).json
    await fault({ match: 'GET /registry/v2/repos', times: 1, shift: 1 })
    expect((await call(LIST, { pageSize: 2 })).json.repos).toEqual(repos.slice(1))
    await fault({ match: 'GET /registry/v2/repos', times: 1, drop: '/repos/1' })
    expect((await call(LIST, { pageSize: 3 })).json.repos).toEqual([repos[0], repos[2]])
    await fault({ match: 'GET /registry/v2/repos', times: 1, change: { at: '/repos/0/name', to: 'changed' } })
    expect((await call(LIST, { pageSize: 3 })).json.repos[0].name).toBe('changed')
  })

  test('refuses a change to another type, which no message can hold', async () => {
    await fault({ match: 'GET /registry/v2/repos', times: 1, change: { at: '/repos/0/name', to: 5 } })
    expect(await call(LIST)).toMatchObject({ code: status.INTERNAL, message: expect.stringContaining('the answer has no gRPC form') })
  })

  test('does not perform a call whose deadline passes in a delay', async () => {
    await fault({ match: 'POST /registry/v2/repos', delayMs: 600_000 })
    const { headers } = await send(CREATE, NOTHING, { 'grpc-timeout': '20m' })
    expect([headers['grpc-status'], headers['grpc-message']]).toEqual(['4', 'context deadline exceeded'])
    expect(await journal()).toHaveLength(1)
  })

  test('does not perform a call that is cancelled in a delay', async () => {
    await fault({ match: 'POST /registry/v2/repos', delayMs: 600_000 })
    const parent = sandbox().organization
    const received = async (): Promise<void> => ((await journal()).length > 0 ? undefined : received())
    const { code } = await call(CREATE, { parent, repo: { name: 'ghost' } }, { cancel: received() })
    expect(code).toBe(status.CANCELLED)
    expect((await rest('GET', '/registry/v2/repos?name=ghost')).json.repos).toEqual([])
  })

  test('closes despite a running call', async () => {
    const slow = await startSandbox({ port: 0, latencyMs: 600_000 })
    const pending = rawClient(() => slow.url).send(LIST, NOTHING)
    const received = async (): Promise<boolean> => (await (await fetch(`${slow.url}/-/journal`)).text()) !== '[]'
    while (!(await received()));
    await slow.close()
    expect((await pending).trailers).toEqual({})
  })
})
