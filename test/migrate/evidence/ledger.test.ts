import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import { createMemory } from '../../../src/fleet/store/memory.ts'
import { type Accounts, accountsOf, triedOf } from '../../../src/migrate/evidence/standing.ts'
import type { EvidenceReport } from '../../../src/migrate/migration.ts'
import { ALL_V2 } from '../../../src/migrate/modes/rules.ts'
import { runCommand } from '../../app/cli/support.ts'
import { v1Client } from '../../grpc/v1-client.ts'
import { sampled } from '../../sample.ts'
import { until } from '../../stage/clocks.ts'
import { bearer, type Stage, startQuietSandbox, startStage, type TestProxy } from '../../stage/stage.ts'

describe('ledger', () => {
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
    ['REST', overRest, 0],
    ['gRPC', overGrpc, 1],
  ] as const)('every use over %s ends in one account', (_, generate, first) => {
    it.each(sampled(['diff-v1', 'diff-v2'] as const, 2, first))('in mode %s, with a restart in between', async (mode) => {
      const folder = mkdtempSync(path.join(tmpdir(), 'crosswalk-ledger-'))
      const sandbox = await startQuietSandbox({})
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const modes = { ...ALL_V2, default: mode }
      let sent: Readonly<Record<string, number>> = {}
      for (const _ of [1, 2]) {
        const records = path.join(folder, 'records.jsonl')
        const proxy = await startStage({ sandbox, proxy: { modes, 'records.file': records } })
        sent = await generate(proxy.url, sandbox.tokens.owner, sandbox.organization)
        // The last comparisons are still under way: an end counts them, too.
        await proxy.close()
      }
      const proxy = await startStage({ v1: null, sandbox, proxy: { 'records.file': path.join(folder, 'records.jsonl') } })
      expectSums(accountsIn(await evidenceOf(proxy)), times(2, sent))
    })

    it('among three replicas', async () => {
      const memory = createMemory(Date.now)
      const stores = [memory.open(), memory.open(), memory.open()]
      const { sandbox, servers, evidence } = await startStage({ mode: 'diff-v2', stores })
      const all = await Promise.all(servers.map(({ url }) => generate(url, sandbox.tokens.owner, sandbox.organization)))
      for (const replica of servers) await replica.idle()
      expectSums(accountsIn(await evidence()), times(3, all[0]!))
    })
  })

  describe('an account', () => {
    let stage: Stage
    const accounts = async () => accountsIn(await stage.evidence())['iam.groups.list']
    const list = async (count: number, query = '') => {
      for (let nth = 0; nth < count; nth += 1) await stage.request('GET', `/iam/v1/groups${query}`)
      await stage.settled()
    }

    it('is told by the same, wrong, left out by chance, and unknown', async () => {
      stage = await startStage({ mode: 'diff-v1' })
      await list(3)
      await stage.fault({ match: 'GET /iam/v2/groups', times: 2, status: 500 })
      await list(2)
      await stage.clearFaults()
      await stage.fault({ match: 'GET /iam/v1/groups', times: 1, status: 503 })
      await list(1)
      expect(await accounts()).toMatchObject({ uses: 6, same: 3, wrong: 2, unknown: 1, waiting: 0 })
      const { out } = await runCommand(['cutover', '--admin', stage.adminUrl, '--accounts'])
      expect(out).toContain('  iam.groups.list: 6 uses = 3 the same + 2 wrong + 1 unknown.')
      expect(await (await fetch(`${stage.adminUrl}/metrics`)).text()).toContain(
        'crosswalk_uses_total{operation="iam.groups.list",account="wrong"} 2',
      )
    })

    it('is a use whatever the records have lost, and is measured once it is known', async () => {
      const file = path.join(mkdtempSync(path.join(tmpdir(), 'crosswalk-ledger-')), 'records.ndjson')
      onTestFinished(() => rmSync(path.dirname(file), { recursive: true }))
      const tally = (operation: string, booked: object) =>
        `${JSON.stringify({ kind: 'tally', at: new Date().toISOString(), operation, booked })}\n`
      writeFileSync(file, tally('iam.groups.list', { uses: 1, same: 2, wrong: 1 }) + tally('iam.roles.list', { uses: 3, same: 1 }))
      stage = await startStage({ mode: 'diff-v1', proxy: { 'records.file': file } })
      // Its counters count from its start, as all do.
      const wrong = (await (await fetch(`${stage.adminUrl}/metrics`)).text()).match(/^crosswalk_uses_total.*"wrong".*/gm)
      expect(wrong?.map((line) => line.split('operation=')[1])).toEqual([
        '"iam.groups.list",account="wrong"} 0',
        '"iam.roles.list",account="wrong"} 0',
      ])
      expect(await accounts()).toMatchObject({ uses: 3, same: 2, wrong: 1, waiting: 0 })
    })

    it('is unknown if v1 is gone', async () => {
      stage = await startStage({ mode: 'diff-v1' })
      await list(1)
      await stage.fault({ match: 'GET /iam/v1/groups', times: 5, reset: true })
      await list(2)
      expect(await accounts()).toMatchObject({ uses: 3, same: 1, unknown: 2, waiting: 0 })
    })

    it('is left out by chance if the rate is spent', async () => {
      stage = await startStage({ mode: 'diff-v1', proxy: { 'diff.perSecond': 1 } })
      await list(9)
      const { uses = 0, same = 0, coin = 0 } = (await accounts()) ?? {}
      expect({ uses, sum: same + coin }).toEqual({ uses: 9, sum: 9 })
      expect(coin).toBeGreaterThan(0)
    })
  })

  describe('what was answered before', () => {
    const listed = async (proxy: TestProxy) => (await evidenceOf(proxy)).operations.find(({ operation }) => operation === 'iam.groups.list')
    const start = async () => {
      const store = createMemory(Date.now).open()
      const proxy = await startStage({ mode: 'diff-v1', stores: [store] })
      const ask = async (count: number) => {
        const one = () => proxy.request('GET', '/iam/v1/groups')
        // The first one is accepted before the others come.
        await one()
        await Promise.all(Array.from({ length: count - 1 }, one))
      }
      return { proxy, ask, fault: proxy.fault }
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

    it('another epoch takes nothing from what the process counted', async () => {
      const { proxy, ask, fault } = await start()
      await fault({ match: 'GET /iam/v2/groups', times: 1, status: 500 })
      await ask(2)
      await proxy.idle()
      const wrong = async () =>
        (await proxy.metrics.text('prometheus')).match(/^crosswalk_(?:uses|comparisons)_total.*"(?:wrong|error)".*/gm)
      const before = await wrong()
      expect(before?.map((line) => line.split(' ')[1])).toEqual(['1', '1'])
      await change(proxy, 'POST', '/evidence/epoch')
      expect(await listed(proxy)).toBeUndefined()
      expect(await wrong()).toEqual(before)
    })

    it('another epoch counts nowhere after a restart either', async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'crosswalk-ledger-'))
      onTestFinished(() => rmSync(folder, { recursive: true }))
      const proxy = { 'records.file': path.join(folder, 'records.ndjson') }
      const first = await startStage({ mode: 'diff-v1', stores: [createMemory(Date.now).open()], proxy })
      for (let at = 0; at < 2; at += 1) await first.request('GET', '/iam/v1/groups')
      await first.idle()
      await change(first, 'POST', '/evidence/epoch')
      await first.close()
      expect(await listed(await startStage({ mode: 'diff-v1', proxy }))).toBeUndefined()
    })

    /** A write whose caller v2 does not know, while v1 does not tell soon whether it does. */
    const refuse = async (proxy: Stage) => {
      const { request, fault, sandbox } = proxy
      await change(proxy, 'PUT', '/modes', { default: 'diff-v2', rules: [], testers: [] })
      await request('GET', '/iam/v1/roles')
      await fault({ match: 'PATCH /iam/v2/groups', times: 1, status: 401 })
      await fault({ match: 'GET /iam/v1/groups', times: 1, status: 503, delayMs: 1500 })
      await request('PUT', `/iam/v1/groups/${sandbox.organization}`, { body: { name: 'a' } })
    }
    const updated = async (proxy: TestProxy) =>
      (await evidenceOf(proxy)).operations.find(({ operation }) => operation === 'iam.groups.update')

    it('another epoch counts no write that v2 alone refused', async () => {
      const { proxy } = await start()
      await refuse(proxy)
      await change(proxy, 'POST', '/evidence/epoch')
      await proxy.idle()
      expect((await proxy.journal()).at(-1)).toMatchObject({ method: 'GET', path: '/iam/v1/groups' })
      expect(await updated(proxy)).toBeUndefined()
    })

    it('a change of the modes leaves out a write that v2 alone refused', async () => {
      const { proxy } = await start()
      await refuse(proxy)
      await change(proxy, 'PUT', '/modes', { default: 'diff-v1', rules: [], testers: [] })
      await proxy.idle()
      expect(await updated(proxy)).toMatchObject({ comparisons: 0, booked: { uses: 1 }, uncompared: { earlier: 1 } })
    })

    it('another epoch counts no use of a caller whom v1 accepted too late', async () => {
      const { proxy } = await start()
      await change(proxy, 'PUT', '/modes', { default: 'diff-v2', rules: [], testers: [] })
      await proxy.fault({ match: 'GET /iam/v2/groups', times: 1, status: 401 })
      await proxy.fault({ match: 'GET /iam/v1/groups', times: 1, delayMs: 1500 })
      await proxy.request('GET', '/iam/v1/groups')
      await change(proxy, 'POST', '/evidence/epoch')
      await proxy.idle()
      expect(await listed(proxy)).toBeUndefined()
    })
  })
})

describe('accounts', () => {
  let stage: Stage

  const KINDS = ['', '?limit=5', '?limit=500', '?limit=0', '?offset=1', '?order_by=name', '?id=x'].map((query) => `/iam/v1/groups${query}`)

  async function ask(paths: readonly string[], token?: string): Promise<void> {
    for (const path of paths) await stage.request('GET', path, token === undefined ? {} : { token })
    await stage.settled()
  }

  const asking = (target: string) => ['cutover', '--admin', stage.adminUrl, '--target', target]

  const eachAt = (target: string, ...more: string[]) => runCommand([...asking(target), ...more, '--each'])

  /** Asks for each operation by itself and for all together. Both must agree, since what is asked of one operation is asked of it alone. */
  async function cutoverAt(target: string, ...more: string[]): Promise<{ readonly code: number; readonly out: string }> {
    const [each, together] = await Promise.all([eachAt(target, ...more), runCommand([...asking(target), ...more, '--each-min', '1'])])
    expect(together.code).toBe(each.code)
    return each
  }

  const cutover = (...more: string[]) => cutoverAt('0.5', ...more)

  const groups = async () => (await stage.evidence()).operations.find(({ operation }) => operation === 'iam.groups.list')

  /** What v2 does to every read once READY was reached, and the fault of the sandbox that makes it. */
  const WAYS: Readonly<Record<string, object>> = {
    ...Object.fromEntries([400, 401, 403, 404, 409, 429, 499, 500, 501, 502, 503, 504].map((status) => [`answers ${status}`, { status }])),
    'changes a value': { change: { at: '/groups/0/name', to: 'wrong' } },
  }

  // Of a sample each mode gets every sixth way, from another one on.
  describe.each([
    ['diff-v1', 0],
    ['diff-v2', 1],
  ] as const)('in mode %s, cutover stops saying READY', (mode, first) => {
    it.each(sampled(Object.entries(WAYS), 6, first))('when v2 %s', async (_, fault) => {
      stage = await startStage({ mode, proxy: { 'fallback.perMinute': 0, 'diff.perSecond': 0 } })
      await ask(KINDS)
      expect(await cutover()).toMatchObject({ code: 0 })
      await stage.fault({ match: 'GET /iam/v2/groups', times: 1000, ...fault })
      await ask([...KINDS, ...KINDS])
      const { n = 0, bad = 0, repeats } = (await groups()) ?? {}
      expect(n + (repeats?.n ?? 0)).toBe(3 * KINDS.length)
      expect(bad + (repeats?.bad ?? 0)).toBeGreaterThan(KINDS.length)
      expect((await cutover('--without-v1')).code).toBe(1)
    })

    it('when the tables refuse what v1 accepts', async () => {
      stage = await startStage({ mode, proxy: { 'diff.perSecond': 0 } })
      await ask(KINDS)
      await ask(Array.from({ length: 20 }, () => '/iam/v1/groups?name=caf%E9'))
      expect(await groups()).toMatchObject({ n: 8, bad: 1, repeats: { n: 19, bad: 19 } })
      expect((await cutover()).code).toBe(1)
    })
  })

  it('of another v2 build, or by other tables, prove nothing after a restart, nor in a report', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'crosswalk-ledger-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const sandbox = await startQuietSandbox({})
    const [records, tables] = [path.join(folder, 'records.ndjson'), path.join(folder, 'tables.js')]
    const report = async () => /^[A-Z ]+/.exec((await runCommand(['report', records, '--target', '0.5', '--each'])).out)?.[0].trim()
    const epochs: readonly (readonly [build: string, tables: string, asks: boolean])[] = [
      ['2.1', 'one', true],
      ['2.2', 'one', false],
      ['2.1', 'two', false],
      ['2.1', 'one', true],
    ]
    const known: unknown[] = []
    for (const [build, text, asks] of epochs) {
      writeFileSync(tables, text)
      stage = await startStage({ sandbox, mode: 'diff-v1', proxy: { tables, 'records.file': records, 'upstream.v2Build': build } })
      known.push([(await stage.evidence()).traffic['iam.groups.list'], (await groups())?.n])
      if (asks) await ask(KINDS)
      await stage.close()
      known.push(await report())
    }
    const all = KINDS.length
    const empty = [[all, undefined], 'NOT READY']
    expect(known).toEqual([[undefined, undefined], 'READY', ...empty, ...empty, [all, all], 'READY'])
  })

  describe('a write', () => {
    const start = async (mode: 'diff-v1' | 'diff-v2', more: Partial<Config> = {}) => {
      stage = await startStage({ mode, proxy: { 'diff.perSecond': 0, ...more } })
      const made = await stage.request('POST', `/iam/v1/groups/${stage.sandbox.organization}`, {
        body: { name: 'made', description: 'one' },
      })
      await stage.settled()
      return `/iam/v1/groups/${made.body.id}`
    }
    const BODIES = [{ name: 'a' }, { name: 'a', description: 'b' }, { name: 'a', description: '' }]
    const put = async (path: string, callers: readonly string[] = [stage.sandbox.tokens.owner, stage.sandbox.tokens.admin]) => {
      for (const token of callers) {
        for (const body of BODIES) {
          await stage.request('PUT', path, { body, token })
          await stage.settled()
        }
      }
    }
    const updates = async () => (await stage.evidence()).operations.find(({ operation }) => operation === 'iam.groups.update')
    const ofUpdates = () => cutoverAt('0.9', '--operations', 'iam.groups.update')

    it('is not ready before v2 was asked to write, however well v1 writes', async () => {
      const path = await start('diff-v1')
      await put(path)
      expect(await ofUpdates()).toMatchObject({
        code: 1,
        out: expect.stringContaining(
          'v2 has never been seen to write this;\n         give it a share: crosswalk rollouts iam.groups.update start.',
        ),
      })
      await stage.setModes({ default: 'diff-v2' })
      await put(path)
      // The kinds that v1 wrote within ten minutes are not seen again before these are over.
      expect(await eachAt('0.9', '--operations', 'iam.groups.update')).toMatchObject({ code: 0 })
    })

    it('is not ready by what v1 wrote if nothing was learnt of what v2 wrote', async () => {
      const path = await start('diff-v1')
      await put(path)
      await stage.setModes({ default: 'diff-v2' })
      await stage.fault({ match: 'GET /iam/v1/groups', times: 1000, status: 503 })
      await put(path)
      const known = (await updates())!
      expect(known).toMatchObject({ n: 6, comparisons: 12, uncompared: { untried: 6, undecided: 6, v1Failed: 6 } })
      expect(triedOf(known)).toBe(0)
    })

    it('is wrong in diff-v1 if the tables refuse what v1 accepts', async () => {
      await start('diff-v1')
      const repo = await stage.request('POST', `/registry/v1/repos/${stage.sandbox.organization}`, { body: { name: 'made' } })
      expect((await stage.request('PUT', `/registry/v1/repos/${repo.body.id}`, { body: { name: 'made', catalogTier: 1 } })).status).toBe(
        200,
      )
      await stage.settled()
      const { operations } = await stage.evidence()
      expect(operations.find(({ operation }) => operation === 'registry.repos.update')).toMatchObject({ n: 1, bad: 1, mismatches: 1 })
    })

    it.each([401, 404])('is wrong if v2 answers it %i and a read of v1 shows that v1 would not', async (status) => {
      const path = await start('diff-v2')
      await stage.fault({ match: 'PATCH /iam/v2/groups', times: 1000, status })
      await put(path, [stage.sandbox.tokens.owner])
      expect(await updates()).toMatchObject({ n: 3, bad: 3 })
      expect((await ofUpdates()).code).toBe(1)
    })

    it.each(sampled([400, 403, 409, 429, 499, 503], 4, 1))('keeps cutover from READY if v2 answers %i to some', async (status) => {
      const path = await start('diff-v2')
      await put(path)
      expect((await ofUpdates()).code).toBe(0)
      await stage.fault({ match: 'PATCH /iam/v2/groups', times: 1000, status })
      for (let nth = 0; nth < 10; nth += 1) await put(path)
      expect((await ofUpdates()).code).toBe(1)
    })

    it('keeps cutover from READY if v2 alone refuses so many that they could be too many, and opens no circuit', async () => {
      const path = await start('diff-v2')
      await put(path)
      expect((await ofUpdates()).code).toBe(0)
      await stage.fault({ match: 'PATCH /iam/v2/groups', times: 3, status: 403 })
      await put(path, [stage.sandbox.tokens.owner])
      const { code, out } = await ofUpdates()
      expect(code).toBe(1)
      expect(out.replaceAll(/\s+/g, ' ')).toMatch(
        /INCONCLUSIVE, because up to .* % may be wrong, as 3 requests wrote and were refused by v2/,
      )
      expect(accountsOf((await updates())!)).toMatchObject({ same: 6, alone: 3, unknown: 0, waiting: 0 })
      expect((await stage.evidence()).circuits['iam.groups.update']?.state).not.toBe('open')
    })

    it.each(['REST', 'gRPC'])('weighs nothing over %s if v1 refuses each write of the caller and the kind so', async (protocol) => {
      const path = await start('diff-v1')
      const { viewer } = stage.sandbox.tokens
      await stage.request('GET', '/iam/v1/groups', { token: viewer })
      const client = v1Client(stage.url, viewer)
      const putOne = async (name: string) => {
        if (protocol === 'REST') return (await stage.request('PUT', path, { body: { name }, token: viewer })).status
        return (await client.call('iam.Groups/Update', { id: path.split('/').slice(4).join('/'), name })).code
      }
      const refused = protocol === 'REST' ? 403 : 7
      expect(await putOne('a')).toBe(refused)
      await stage.setModes({ default: 'diff-v2' })
      expect([await putOne('b'), await putOne('c')]).toEqual([refused, refused])
      await stage.settled()
      client.close()
      expect(accountsOf((await updates())!)).toMatchObject({ uses: 3, refused: 3, alone: 0, waiting: 0 })
    })

    it('may be wrong if the answer of v2 to it is too large to compare, although it is done', async () => {
      const path = await start('diff-v2', { 'diff.answerBytes': 2000 })
      await stage.fault({ match: 'PATCH /iam/v2/groups', times: 3, change: { at: '/name', to: 'x'.repeat(3000) } })
      await put(path, [stage.sandbox.tokens.owner])
      expect(accountsOf((await updates())!)).toMatchObject({ uses: 3, same: 0, alone: 3, waiting: 0 })
      expect((await ofUpdates()).out).toMatch(/3 requests had an answer larger than diff\.answerBytes of v2 alone: raise diff\.answerBytes/)
    })

    it('is held against v2 if its body is larger than what is translated, whether v1 took it or Crosswalk refused it', async () => {
      const path = await start('diff-v2', { 'limits.requestBytes': 100 })
      await put(path)
      expect((await ofUpdates()).code).toBe(0)
      const large = { body: { name: 'a', description: 'x'.repeat(100) } }
      expect((await stage.request('PUT', path, large)).status).toBe(400)
      await stage.setModes({ default: 'diff-v1' })
      for (const _ of [1, 2]) expect((await stage.request('PUT', path, large)).status).toBe(200)
      await stage.settled()
      expect(accountsOf((await updates())!)).toMatchObject({ uses: 9, same: 6, alone: 3, waiting: 0 })
      const { code, out } = await ofUpdates()
      expect([code, out.replaceAll(/\s+/g, ' ')]).toEqual([
        1,
        expect.stringMatching(/3 requests had a body larger than limits\.requestBytes/),
      ])
    })

    it('is unknown if v1 took a body of unknown length, and refused if v1 refused that', async () => {
      const path = await start('diff-v1')
      for (const route of [path, path, `${path.slice(0, -2)}00`]) {
        const body = new Blob([JSON.stringify({ name: 'a' })]).stream()
        const sent = { method: 'PUT', headers: bearer(stage.sandbox.tokens.owner), body, duplex: 'half' } as const
        await (await fetch(stage.url + route, sent)).text()
      }
      await until(async () => accountsOf((await updates()) ?? { booked: {}, uncompared: {} }).uses === 3)
      expect(accountsOf((await updates())!)).toMatchObject({ unknown: 2, refused: 1, waiting: 0 })
      expect((await ofUpdates()).out).toContain(
        '2 requests had a body of unknown length, which went to v1 unread: give a share in diff-v2.',
      )
    })

    it('may be wrong if v1 accepted one of the caller and the kind', async () => {
      const path = await start('diff-v1')
      await stage.fault({ match: 'PUT /iam/v1/groups', times: 1, status: 403 })
      await put(path, [stage.sandbox.tokens.owner])
      await put(path, [stage.sandbox.tokens.owner])
      await stage.setModes({ default: 'diff-v2' })
      await stage.fault({ match: 'PATCH /iam/v2/groups', times: 1000, status: 403 })
      await put(path, [stage.sandbox.tokens.owner])
      expect(accountsOf((await updates())!)).toMatchObject({ refused: 1, alone: 3, waiting: 0 })
    })

    it('weighs nothing if v1 refused those of the caller and the kind at another replica', async () => {
      const memory = createMemory(Date.now)
      const { sandbox, servers } = await startStage({ mode: 'diff-v1', stores: [memory.open(), memory.open()] })
      const [one, other] = servers
      const headers = bearer(sandbox.tokens.viewer)
      const putOne = async ({ url }: TestProxy) => {
        await (await fetch(`${url}/iam/v1/groups`, { headers })).text()
        const body = JSON.stringify({ name: 'a' })
        return (await fetch(`${url}/iam/v1/groups/${sandbox.organization}`, { method: 'PUT', headers, body })).status
      }
      expect(await putOne(one)).toBe(403)
      const modes = { method: 'PUT', body: JSON.stringify({ default: 'diff-v2', rules: [], testers: [] }) }
      const answer = await fetch(`${one.adminUrl}/modes`, {
        ...modes,
        headers: { 'content-type': 'application/json', 'x-crosswalk-actor': 'a' },
      })
      expect(answer.status).toBe(200)
      const evidenceOf = async () => (await (await fetch(`${other.adminUrl}/evidence`)).json()) as EvidenceReport
      const modeOf = async () => (await (await fetch(`${other.adminUrl}/modes`)).json()) as { default: string }
      await until(async () => (await modeOf()).default === 'diff-v2')
      expect(await putOne(other)).toBe(403)
      await other.idle()
      const found = (await evidenceOf()).operations.find(({ operation }) => operation === 'iam.groups.update')
      expect(accountsOf(found!)).toMatchObject({ uses: 2, refused: 2, alone: 0, waiting: 0 })
    })

    it('weighs nothing if v1 does not know its caller or its resource either', async () => {
      const path = await start('diff-v2')
      await put(`${path.slice(0, -2)}00`)
      await put(path, ['junk'])
      expect(await updates()).toMatchObject({ comparisons: 0, booked: { uses: 3 }, uncompared: { refused: 3 } })
    })
  })

  describe('in mode diff-v2', () => {
    it('a caller whom v2 never accepted counts once v1 accepts it', async () => {
      stage = await startStage({ mode: 'diff-v2' })
      await stage.fault({ match: 'GET /iam/v2/groups', times: 1000, status: 401 })
      await ask(KINDS)
      expect(await groups()).toMatchObject({ n: 7, bad: 7, mismatches: 7 })
    })

    it('a caller whom neither side accepts counts nowhere', async () => {
      stage = await startStage({ mode: 'diff-v2' })
      await ask(KINDS, 'junk')
      expect((await stage.evidence()).operations).toEqual([])
    })

    it.each([401, 429])('a canary whose callers get %i from v2 turns back', async (status) => {
      const rule = { operations: 'iam.*', clients: '*', mode: 'diff-v1', canary: { percent: 100, mode: 'diff-v2' } } as const
      stage = await startStage({ proxy: { modes: { ...ALL_V2, default: 'v1', rules: [rule] }, 'diff.perSecond': 0 } })
      await ask(KINDS)
      await stage.fault({ match: 'GET /iam/v2/groups', times: 1000, status })
      await ask([...KINDS, ...KINDS])
      expect((await stage.evidence()).circuits['iam.groups.list']?.state).toBe('open')
      expect((await stage.request('GET', '/iam/v1/groups')).status).toBe(200)
    })
  })
})
