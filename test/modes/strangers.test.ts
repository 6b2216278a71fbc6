import { afterEach, describe, expect, it } from 'vitest'
import type { Client } from '../../src/migrate/clients.ts'
import { ALL_V2, type ModeRules } from '../../src/migrate/modes/rules.ts'
import { runCommand } from '../cli/support.ts'
import { type Stage, startStage } from '../stage/stage.ts'

let stage: Stage
afterEach(() => stage.close())

const clients = async () => (await fetch(`${stage.server.adminUrl}/clients`)).json() as Promise<readonly Client[]>
const cutover = async () => (await runCommand(['cutover', '--admin', stage.server.adminUrl, '--target', '0.5', '--each'])).out

/** An unsigned token. */
function forged(claims: object): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'RS256' })}.${part(claims)}.c2ln`
}

/** A signed token of the demo's owner. */
async function signed({ url, tokens }: Stage['sandbox']): Promise<string> {
  const headers = { authorization: `Bearer ${tokens.owner}` }
  const answer = await fetch(`${url}/sts/exchange?aud=${url}`, { method: 'POST', headers })
  return ((await answer.json()) as { token: string }).token
}

/** Reads that v1 refuses for their credential and the tables for their query. */
const ODD = ['/iam/v1/groups', '/iam/v1/roles', '/registry/v1/repos', '/registry/v1/tags'].map((path) => `${path}?limit=abc`)

const NOTHING = { operations: [], traffic: {} }

describe.each(['v1', 'diff-v1', 'diff-v2', 'v2'] as const)('in mode %s', (mode) => {
  it('strangers are no clients, no traffic and no evidence', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: mode } })
    for (const [nth, path] of ODD.entries()) {
      for (const token of ['', `junk-${nth}`, forged({ sub: `x-${nth}` })]) await stage.request('GET', path, { token })
    }
    for (const method of ['POST', 'PUT', 'DELETE']) await stage.request(method, '/iam/v1/groups/x', { token: 'junk', body: {} })
    await stage.request('GET', '/registry/v1/vuln_reports', { token: 'junk' })
    for (const path of ['/iam/v2/groups', '/iam/v2/groups?page_size=1']) await stage.request('GET', path, { token: 'junk' })
    await stage.settled()
    expect(await stage.evidence()).toMatchObject({ ...NOTHING, strangers: { 'iam.groups.list': 3, 'registry.vuln_reports.list': 1 } })
    expect(await clients()).toEqual([])
  })

  it('an operation without a credential names no caller that is not known already', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: mode } })
    for (const path of ['/ping/v1/ping', '/advisory/v1/documents', '/advisory/v1/metadata']) {
      expect((await stage.request('GET', path, { token: 'junk' })).status).toBe(200)
    }
    await stage.settled()
    expect(await stage.evidence()).toMatchObject(NOTHING)
    await stage.request('GET', '/iam/v1/groups')
    await stage.request('GET', '/ping/v1/ping')
    await stage.settled()
    expect((await stage.evidence()).traffic).toEqual({ 'iam.groups.list': 1, 'ping.ping.ping': 1 })
    expect(await clients()).toMatchObject([{ calls: 2 }])
  })

  it('a token that a service no longer accepts counts for nothing', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: mode } })
    await stage.request('GET', '/iam/v1/groups')
    await stage.fault({ match: 'GET /iam/', status: 401 })
    await stage.request('GET', '/iam/v1/roles')
    await stage.settled()
    expect(await stage.evidence()).toMatchObject({ traffic: { 'iam.groups.list': 1 }, strangers: { 'iam.roles.list': 1 } })
    expect((await stage.evidence()).operations.map(({ operation }) => operation)).not.toContain('iam.roles.list')
  })
})

it('v2 traffic that is passed on is no v1 traffic, and names no caller', async () => {
  stage = await startStage({ modes: { ...ALL_V2, default: 'diff-v1' } })
  expect((await stage.request('GET', '/iam/v2/groups')).status).toBe(200)
  await stage.settled()
  expect(await stage.evidence()).toMatchObject({ ...NOTHING, strangers: {} })
  expect(await clients()).toEqual([])
})

it('a client that disconnects before its answer is not accepted by it', async () => {
  stage = await startStage({ modes: { ...ALL_V2, default: 'v1' } })
  await stage.fault({ match: 'GET /iam/v1/', delayMs: 60_000 })
  const gone = new AbortController()
  const answer = fetch(`${stage.server.url}/iam/v1/groups`, { headers: { authorization: 'Bearer junk' }, signal: gone.signal })
  while (!(await stage.journal()).some(({ path }) => path === '/iam/v1/groups')) await new Promise(setImmediate)
  gone.abort()
  await answer.catch(() => undefined)
  while (!stage.server.log.some(({ status }) => status === 499)) await new Promise(setImmediate)
  expect(await clients()).toEqual([])
})

it("a known caller's request is no traffic if it was refused without a call", async () => {
  stage = await startStage({ 'upstream.v1': undefined })
  await stage.request('GET', '/iam/v1/groups')
  expect((await stage.request('GET', '/events/v1/subscriptions?limit=abc')).status).toBe(400)
  expect((await stage.request('GET', '/registry/v1/vuln_reports')).status).toBe(501)
  expect((await stage.evidence()).traffic).toEqual({ 'iam.groups.list': 1 })
})

describe('a cutover', () => {
  it('becomes ready in spite of strangers', async () => {
    stage = await startStage({ modes: { ...ALL_V2, rules: [{ operations: 'iam.groups.list', clients: '*', mode: 'diff-v1' }] } })
    const queries = ['', '?limit=5', '?limit=500', '?limit=0', '?offset=1', '?order_by=name', '?id=x']
    for (const query of queries) await stage.request('GET', `/iam/v1/groups${query}`)
    await stage.settled()
    expect(await cutover()).toContain('All 1 operations with traffic')
    for (const path of ['/registry/v1/vuln_reports', '/events/v1/subscriptions?limit=abc', '/ping/v1/ping', ...ODD]) {
      await stage.request('GET', path, { token: 'junk' })
      await stage.request('GET', path, { token: '' })
    }
    await stage.settled()
    expect(await cutover()).toContain('All 1 operations with traffic')
    expect(await cutover()).toContain('Not counted: 14 requests of strangers to 7 operations: no side accepted a credential of theirs.')
  })
})

describe('a circuit', () => {
  const canary: ModeRules = {
    ...ALL_V2,
    default: 'v1',
    rules: [{ operations: '*', clients: '*', mode: 'v1', canary: { percent: 100, mode: 'v2' } }],
  }
  const open = async () => stage.server.log.filter(({ msg }) => String(msg).includes('is open'))

  it('is not opened by strangers, whatever v2 answers', async () => {
    stage = await startStage({ modes: canary, 'fallback.perMinute': 0 })
    await stage.fault({ match: 'GET /iam/v2/groups', status: 503 })
    for (let nth = 0; nth < 30; nth += 1) await stage.request('GET', '/iam/v1/groups', { token: `junk-${nth}` })
    expect(await open()).toEqual([])
  })

  it.each(['diff-v1', 'diff-v2'] as const)('is not opened by an anonymous request in mode %s', async (mode) => {
    stage = await startStage({ modes: { ...ALL_V2, default: mode } })
    await stage.request('GET', '/iam/v1/groups')
    expect([400, 401]).toContain((await fetch(`${stage.server.url}/iam/v1/groups?limit=abc`)).status)
    await stage.server.logged(({ msg, status }) => msg === 'request' && status !== 200)
    await stage.settled()
    const { operations, strangers } = await stage.evidence()
    expect(operations).toMatchObject([{ operation: 'iam.groups.list', comparisons: 1, matches: 1, mismatches: 0 }])
    expect(strangers).toEqual({ 'iam.groups.list': 1 })
    expect(await open()).toEqual([])
  })

  it('is opened by callers that were accepted before, also where v1 cannot help', async () => {
    stage = await startStage({ modes: canary, 'fallback.perMinute': 0 })
    await stage.request('GET', '/iam/v1/roles')
    await stage.fault({ match: 'POST /iam/v2/groups', status: 503 })
    for (let nth = 0; nth < 10; nth += 1) await stage.request('POST', '/iam/v1/groups/x', { body: { name: 'a' } })
    expect(await open()).toHaveLength(1)
  })

  it('is opened by new callers if v1 accepts them instead', async () => {
    stage = await startStage({ modes: canary })
    await stage.fault({ match: 'GET /iam/v2/groups', status: 503 })
    for (const token of Object.values(stage.sandbox.tokens)) await stage.request('GET', '/iam/v1/groups', { token })
    expect(await open()).toHaveLength(1)
  })
})

describe('a stranger with the subject of a real caller', () => {
  it('excuses no difference by attempted writes', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: 'diff-v1' } })
    const token = await signed(stage.sandbox)
    const fake = `${token.split('.').slice(0, 2).join('.')}.c2ln`
    await stage.request('GET', '/iam/v1/roles', { token })
    await stage.fault({ match: 'GET /iam/v2/groups', times: 1, change: { at: '/groups/0/name', to: 'wrong' } })
    const reads = Array.from({ length: 10 }, () => stage.request('GET', '/iam/v1/groups', { token }))
    const writes = Array.from({ length: 50 }, () => stage.request('DELETE', '/iam/v1/groups/x', { token: fake }))
    await Promise.all([...reads, ...writes])
    await stage.settled()
    const groups = (await stage.evidence()).operations.find(({ operation }) => operation === 'iam.groups.list')
    expect(groups).toMatchObject({ races: 0, mismatches: 0, transients: 1 })
    expect(await clients()).toHaveLength(1)
  })
})
