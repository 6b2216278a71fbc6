import type { ServerResponse } from 'node:http'
import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import { Agent } from 'undici'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { ApiError } from '../../../src/errors.ts'
import { createTranscode, type Transcode } from '../../../src/grpc/calls/destinations.ts'
import type { RpcMethod } from '../../../src/grpc/proto-files.ts'
import type { WireReply } from '../../../src/grpc/wire/call.ts'
import { newRequestRecord } from '../../../src/serve/core.ts'
import { Firing } from '../../../src/serve/signals.ts'
import { createAskRest } from '../../../src/serve/upstream/v1.ts'
import { rpc } from '../../rpc/messages/messages.ts'
import { callTimes } from '../../stage/call-times.ts'
import { startUpstream, type Upstream } from '../../stage/upstream.ts'

let upstream: Upstream
let transcode: Transcode
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
  transcode = createTranscode({ ask, rpc, limits: { messageBytes: 1000, rowsPerRequest: 1000, headerBytes: 65_536 } })
})

afterAll(async () => {
  await upstream.close()
  await pool.close()
})

const methodOf = (name: string): RpcMethod => {
  const method = rpc.find(`/chainguard.platform.${name}`)
  if (!method) throw new Error(`no method ${name}`)
  return method
}

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
  expect(seen?.headers).toMatchObject({ authorization: 'Bearer a', 'cdn-loop': 'crosswalk-x', 'x-request-id': 'the-id', 'user-agent': 'u' })
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
  await expect(call(methodOf('registry.v2.ReposService/GetRepo'), { uid: 'a/readme' })).rejects.toMatchObject({ code: 'INVALID_ARGUMENT' })
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
