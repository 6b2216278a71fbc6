import { status } from '@grpc/grpc-js'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ALL_V2 } from '../../../src/migrate/modes/rules.ts'
import { startProxy } from '../../stage/proxy.ts'
import { type Stage, startStage } from '../../stage/stage.ts'
import { type V1Client, v1Client } from './v1-client.ts'

let stage: Stage
let client: V1Client
let root: string

beforeAll(async () => {
  stage = await startStage({ 'fallback.perMinute': 1000, 'diff.learnEvery': 0 })
  client = v1Client(stage.server.url, stage.sandbox.tokens.owner)
  root = (await client.call('iam.Groups/List', { uidp: { in_root: true } })).message.items[0].id
})

afterAll(async () => {
  client.close()
  await stage.close()
})

beforeEach(() => stage.clearJournal())
afterEach(() => stage.clearFaults())

/** The sides that were asked since the journal was cleared: `v1` over REST, `v1 gRPC`, `v2`. */
async function asked(): Promise<readonly string[]> {
  await stage.server.idle()
  const sides = (await stage.journal()).map(({ path, ...entry }) => ('grpc' in entry ? 'v1 gRPC' : path.split('/')[2]))
  return [...new Set(sides)].sort() as string[]
}

async function evidenceOf(operation: string) {
  await stage.server.idle()
  return (await stage.evidence()).operations.find((one) => one.operation === operation)
}

describe('a read', () => {
  it.each([
    ['v2', ['v2']],
    ['v1', ['v1 gRPC']],
    ['diff-v1', ['v1', 'v2']],
    ['diff-v2', ['v1', 'v2']],
  ] as const)('in mode %s has the same answer', async (mode, sides) => {
    const before = await client.call('registry.Registry/ListRepos', {})
    await stage.setModes({ default: mode })
    await stage.clearJournal()
    const { code, message } = await client.call('registry.Registry/ListRepos', {})
    expect([code, message]).toEqual([status.OK, before.message])
    expect(await asked()).toEqual(sides)
  })

  it.each([
    ['diff-v1', 'iam.Roles/List', 'iam.roles.list'],
    ['diff-v2', 'iam.Identities/List', 'iam.identities.list'],
  ] as const)('in mode %s is compared as a read over REST is, and counted as evidence', async (mode, method, operation) => {
    await stage.setModes({ default: mode })
    await client.call(method, {})
    expect(await evidenceOf(operation)).toMatchObject({ matches: 1, mismatches: 0 })
  })

  it('falls back to v1 if v2 fails', async () => {
    await stage.setModes({ default: 'v2' })
    await stage.fault({ match: 'GET /iam/v2/roles', status: 500 })
    const { code, message } = await client.call('iam.Roles/List', {}, { metadata: { 'x-request-id': 'fell' } })
    expect([code, message.items.length > 0]).toEqual([status.OK, true])
    expect(await stage.server.logged(({ reqId }) => reqId === 'fell')).toMatchObject({ mode: 'fallback', grpcStatus: 'OK' })
  })

  it('falls back to v1 if v2 does not answer within limits.deadlineMs, and the client waits', async () => {
    const own = await startStage({ 'fallback.perMinute': 1000, 'limits.deadlineMs': 500 })
    const ofOwn = v1Client(own.server.url, own.sandbox.tokens.owner)
    await own.setModes({ default: 'v2' })
    await own.fault({ match: 'GET /iam/v2/roles', delayMs: 60_000 })
    const { code, message } = await ofOwn.call('iam.Roles/List', {}, { metadata: { 'x-request-id': 'slow' } })
    expect([code, message.items.length > 0]).toEqual([status.OK, true])
    expect(await own.server.logged(({ reqId }) => reqId === 'slow')).toMatchObject({ mode: 'fallback', grpcStatus: 'OK' })
    ofOwn.close()
    await own.close()
  })

  it('obeys a tester’s choice of mode', async () => {
    await stage.setModes({ default: 'v2', testers: ['*'] })
    await client.call('iam.Roles/List', {}, { metadata: { 'x-crosswalk-mode': 'v1' } })
    expect(await asked()).toEqual(['v1 gRPC'])
  })
})

describe('a write', () => {
  it.each(['v1', 'v2', 'diff-v1', 'diff-v2'] as const)('in mode %s reaches one side', async (mode) => {
    await stage.setModes({ default: mode })
    const { code, message } = await client.call('iam.Groups/Create', { parent: root, group: { name: `in-${mode}` } })
    expect(code).toBe(status.OK)
    await stage.server.idle()
    const writes = (await stage.journal()).filter(({ method, path }) => method === 'POST' && !path.includes('List'))
    expect(writes).toHaveLength(1)
    await client.call('iam.Groups/Delete', { id: message.id })
  })
})

it('reads a write back through both sides, and counts what it sees as evidence', async () => {
  await stage.setModes({ default: 'diff-v2' })
  const { message } = await client.call('iam.Groups/Create', { parent: root, group: { name: 'read-back' } })
  expect(await evidenceOf('iam.groups.create')).toMatchObject({ mismatches: 0 })
  expect((await evidenceOf('iam.groups.create'))?.matches).toBeGreaterThan(0)
  await client.call('iam.Groups/Delete', { id: message.id })
})

it('says UNKNOWN to a write whose answer is too long, because v1 has done it', async () => {
  const urls = { 'upstream.v2': stage.sandbox.url, 'upstream.v1': stage.sandbox.url }
  const own = await startProxy({ ...urls, modes: { ...ALL_V2, default: 'v1' }, 'limits.answerBytes': 1 })
  const ownClient = v1Client(own.url, stage.sandbox.tokens.owner)
  const { code } = await ownClient.call('iam.Groups/Create', { parent: root, group: { name: 'too-long' } })
  expect(code).toBe(status.UNKNOWN)
  ownClient.close()
  await own.close()
})

it('gives the callers of a canary to v2', async () => {
  await stage.setModes({
    default: 'v1',
    rules: [{ operations: 'iam.roles.*', clients: '*', mode: 'v1', canary: { percent: 100, mode: 'v2' } }],
  })
  await client.call('iam.Roles/List', {})
  expect(await asked()).toEqual(['v2'])
})

it('has v1 answer a method that v2 lacks', async () => {
  await stage.setModes({ default: 'v2' })
  const { code } = await client.call('libraries.Malware/ListBlockList', {}, { metadata: { 'x-request-id': 'v1-only' } })
  // The genuine v1 of the sandbox has no such data, so that its own refusal comes back.
  expect([code, await asked()]).toEqual([status.UNIMPLEMENTED, ['v1 gRPC']])
  const line = await stage.server.logged(({ reqId }) => reqId === 'v1-only')
  expect(line).toMatchObject({ operation: 'libraries.malware.list_block_list', mode: 'v1', grpcStatus: 'UNIMPLEMENTED' })
})
