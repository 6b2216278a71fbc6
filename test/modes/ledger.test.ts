import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, describe, expect, it, onTestFinished } from 'vitest'
import { joinFleet } from '../../src/app/server/fleet.ts'
import { createMemory } from '../../src/fleet/store/memory.ts'
import { type Accounts, accountsOf } from '../../src/migrate/evidence/standing.ts'
import type { EvidenceReport } from '../../src/migrate/migration.ts'
import { ALL_V2 } from '../../src/migrate/modes/rules.ts'
import type { Mode } from '../../src/serve/sides.ts'
import { runCommand } from '../cli/support.ts'
import { v1Client } from '../grpc/served/v1-client.ts'
import { bearer, startProxy, type TestProxy } from '../stage/proxy.ts'
import { startQuietSandbox } from '../stage/sandbox.ts'
import { type Stage, startStage } from '../stage/stage.ts'

const UNKNOWN_UID = 'f'.repeat(40)

/** Sends requests of all kinds. Returns the number of each operation, of callers whom a side accepts. */
type Generator = (url: string, token: string, organization: string) => Promise<Readonly<Record<string, number>>>

const overRest: Generator = async (url, token, organization) => {
  const sent: Record<string, number> = {}
  const send = async (operation: string, method: string, route: string, body?: object, who = token) => {
    if (who === token) sent[operation] = (sent[operation] ?? 0) + 1
    const answer = await fetch(url + route, { method, headers: bearer(who), ...(body && { body: JSON.stringify(body) }) })
    return (await answer.json().catch(() => ({}))) as { id?: string }
  }
  for (const query of ['', '?limit=2', '', '?name=caf%C3%A9', `?id=${UNKNOWN_UID}`, '?limit=x']) {
    await send('iam.groups.list', 'GET', `/iam/v1/groups${query}`)
    await send('iam.groups.list', 'GET', `/iam/v1/groups${query}`, undefined, 'junk')
  }
  const { id } = await send('iam.groups.create', 'POST', `/iam/v1/groups/${organization}`, { name: `made ${Math.random()}` })
  await send('iam.groups.create', 'POST', `/iam/v1/groups/${organization}`, { description: 'without a name' })
  await send('iam.groups.create', 'POST', `/iam/v1/groups/${organization}`, { name: 'made' }, 'junk')
  await send('iam.groups.update', 'PUT', `/iam/v1/groups/${id}`, { name: 'renamed' })
  await send('iam.groups.update', 'PUT', `/iam/v1/groups/${organization}/0123456789abcdef`, { name: 'nothing' })
  await send('iam.groups.delete', 'DELETE', `/iam/v1/groups/${id}`)
  await send('iam.groups.delete', 'DELETE', `/iam/v1/groups/${id}`)
  return sent
}

const overGrpc: Generator = async (url, token, organization) => {
  const [client, stranger] = [v1Client(url, token), v1Client(url, 'junk')]
  for (const group of [{}, { name: 'a' }, {}, { id: UNKNOWN_UID }]) {
    await client.call('iam.Groups/List', group)
    await stranger.call('iam.Groups/List', group)
  }
  const made = await client.call('iam.Groups/Create', { parent: organization, group: { name: `made ${Math.random()}` } })
  await client.call('iam.Groups/Update', { id: made.message.id, name: 'renamed' })
  await client.call('iam.Groups/Delete', { id: made.message.id })
  await client.call('iam.Groups/Delete', { id: made.message.id })
  client.close()
  stranger.close()
  return { 'iam.groups.list': 4, 'iam.groups.create': 1, 'iam.groups.update': 1, 'iam.groups.delete': 2 }
}

function accountsIn({ operations }: EvidenceReport): Readonly<Record<string, Accounts>> {
  return Object.fromEntries(operations.map((one) => [one.operation, accountsOf(one)]))
}

async function evidenceOf({ adminUrl }: Pick<TestProxy, 'adminUrl'>): Promise<EvidenceReport> {
  return (await fetch(`${adminUrl}/evidence`)).json() as Promise<EvidenceReport>
}

/** Holds the accounts against the generator's own counts. */
function expectSums(accounts: Readonly<Record<string, Accounts>>, sent: Readonly<Record<string, number>>): void {
  expect(Object.fromEntries(Object.entries(accounts).map(([operation, { uses }]) => [operation, uses]))).toEqual(sent)
  for (const one of Object.values(accounts)) expect(one).toMatchObject({ waiting: 0 })
}

const times = (count: number, sent: Readonly<Record<string, number>>) =>
  Object.fromEntries(Object.entries(sent).map(([operation, one]) => [operation, count * one]))

describe.each([
  ['REST', overRest],
  ['gRPC', overGrpc],
] as const)('every use over %s ends in one account', (_, generate) => {
  it.each(['diff-v1', 'diff-v2'] as const)('in mode %s, with a restart in between', async (mode) => {
    const folder = mkdtempSync(path.join(tmpdir(), 'crosswalk-ledger-'))
    const sandbox = await startQuietSandbox({})
    onTestFinished(async () => {
      await sandbox.close()
      rmSync(folder, { recursive: true })
    })
    const modes = { ...ALL_V2, default: mode }
    let sent: Readonly<Record<string, number>> = {}
    for (const _ of [1, 2]) {
      const records = path.join(folder, 'records.jsonl')
      const proxy = await startProxy({ 'upstream.v1': sandbox.url, 'upstream.v2': sandbox.url, modes, 'records.file': records })
      sent = await generate(proxy.url, sandbox.tokens.owner, sandbox.organization)
      // The last comparisons are still under way: an end counts them, too.
      await proxy.close()
    }
    const proxy = await startProxy({ 'upstream.v2': sandbox.url, 'records.file': path.join(folder, 'records.jsonl') })
    onTestFinished(() => proxy.close())
    expectSums(accountsIn(await evidenceOf(proxy)), times(2, sent))
  })

  it('among three replicas', async () => {
    const sandbox = await startQuietSandbox({})
    const memory = createMemory(Date.now)
    const settings = { 'upstream.v1': sandbox.url, 'upstream.v2': sandbox.url, modes: { ...ALL_V2, default: 'diff-v2' as Mode } }
    const proxies = await Promise.all([1, 2, 3].map(() => startProxy(settings, { join: joinFleet(memory.open()) })))
    onTestFinished(async () => {
      await Promise.all(proxies.map((proxy) => proxy.close()))
      await sandbox.close()
    })
    const all = await Promise.all(proxies.map(({ url }) => generate(url, sandbox.tokens.owner, sandbox.organization)))
    for (const proxy of proxies) await proxy.idle()
    expectSums(accountsIn(await evidenceOf(proxies[0]!)), times(3, all[0]!))
  })
})

describe('an account', () => {
  let stage: Stage
  afterEach(() => stage.close())
  const accounts = async () => accountsIn(await stage.evidence())['iam.groups.list']
  const list = async (count: number, query = '') => {
    for (let nth = 0; nth < count; nth += 1) await stage.request('GET', `/iam/v1/groups${query}`)
    await stage.settled()
  }

  it('is told by the same, wrong, left out by chance, and unknown', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: 'diff-v1' } })
    await list(3)
    await stage.fault({ match: 'GET /iam/v2/groups', times: 2, status: 500 })
    await list(2)
    await stage.clearFaults()
    await stage.fault({ match: 'GET /iam/v1/groups', times: 1, status: 503 })
    await list(1)
    expect(await accounts()).toMatchObject({ uses: 6, same: 3, wrong: 2, unknown: 1, waiting: 0 })
    const { out } = await runCommand(['cutover', '--admin', stage.server.adminUrl, '--accounts'])
    expect(out).toContain('  iam.groups.list: 6 uses = 3 the same + 2 wrong + 1 unknown.')
    expect(await (await fetch(`${stage.server.adminUrl}/metrics`)).text()).toContain(
      'crosswalk_uses_total{operation="iam.groups.list",account="wrong"} 2',
    )
  })

  it('is unknown if v1 is gone', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: 'diff-v1' } })
    await list(1)
    await stage.fault({ match: 'GET /iam/v1/groups', times: 5, reset: true })
    await list(2)
    expect(await accounts()).toMatchObject({ uses: 3, same: 1, unknown: 2, waiting: 0 })
  })

  it('is left out by chance if the rate is spent', async () => {
    stage = await startStage({ modes: { ...ALL_V2, default: 'diff-v1' }, 'diff.perSecond': 1 })
    await list(9)
    const { uses = 0, same = 0, coin = 0 } = (await accounts()) ?? {}
    expect({ uses, sum: same + coin }).toEqual({ uses: 9, sum: 9 })
    expect(coin).toBeGreaterThan(0)
  })
})

describe('what was answered before', () => {
  const listed = async (proxy: TestProxy) => (await evidenceOf(proxy)).operations.find(({ operation }) => operation === 'iam.groups.list')
  const start = async () => {
    const sandbox = await startQuietSandbox({})
    const settings = { 'upstream.v1': sandbox.url, 'upstream.v2': sandbox.url, modes: { ...ALL_V2, default: 'diff-v1' as Mode } }
    const proxy = await startProxy(settings, { join: joinFleet(createMemory(Date.now).open()) })
    onTestFinished(async () => {
      await proxy.close()
      await sandbox.close()
    })
    const ask = async (count: number) => {
      const one = async () => (await fetch(`${proxy.url}/iam/v1/groups`, { headers: bearer(sandbox.tokens.owner) })).text()
      // The first one is accepted before the others come.
      await one()
      await Promise.all(Array.from({ length: count - 1 }, one))
    }
    const fault = async (fault: object) => void (await fetch(`${sandbox.url}/-/faults`, { method: 'POST', body: JSON.stringify(fault) }))
    return { proxy, ask, fault }
  }
  const change = async (proxy: TestProxy, method: string, route: string, body?: object) => {
    const headers = { 'content-type': 'application/json', 'x-crosswalk-actor': 'a test' }
    const answer = await fetch(proxy.adminUrl + route, { method, headers, body: JSON.stringify(body ?? {}) })
    expect(answer.status, await answer.text()).toBe(200)
  }
  const SLOW = { match: 'GET /iam/v2/groups', times: 1000, status: 500, delayMs: 1500 }

  it('a change of the modes is left out by chance, and opens no circuit', async () => {
    const { proxy, ask, fault } = await start()
    await fault(SLOW)
    await ask(12)
    await change(proxy, 'PUT', '/modes', { default: 'diff-v1', rules: [], testers: [] })
    await proxy.idle()
    expect(await listed(proxy)).toMatchObject({ n: 0, booked: { uses: 12 }, uncompared: { earlier: 12 } })
    expect((await evidenceOf(proxy)).circuits).toEqual({})
  })

  it('another epoch counts nowhere, and makes nothing a repeat', async () => {
    const { proxy, ask, fault } = await start()
    await ask(2)
    await proxy.idle()
    expect(await listed(proxy)).toMatchObject({ n: 1, comparisons: 2 })
    await fault(SLOW)
    await ask(5)
    await change(proxy, 'POST', '/evidence/epoch')
    await proxy.idle()
    expect(await listed(proxy)).toBeUndefined()
    expect((await evidenceOf(proxy)).circuits['iam.groups.list']).toMatchObject({ state: 'inconclusive', errors: { bad: 0 } })
    await ask(1)
    await proxy.idle()
    expect(await listed(proxy)).toMatchObject({ n: 1, bad: 1, booked: { uses: 1, wrong: 1 } })
  })
})
