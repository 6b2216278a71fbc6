import { constants } from 'node:http2'
import { status } from '@grpc/grpc-js'
import { beforeEach, expect, test } from 'vitest'
import { startSandbox } from '../../../src/sandbox/start.ts'
import { running } from '../running.ts'
import { grpcClient } from './grpc-client.ts'
import { framed, rawClient } from './raw-call.ts'

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
