import { describe, expect, it } from 'vitest'
import {
  clientsCsv,
  clientsJson,
  createInventory,
  createKeptUses,
  createKindOf,
  emptyUse,
  joinedClients,
  toCsv,
} from '../../src/migrate/clients.ts'
import { createRedactor, type Values } from '../../src/migrate/compare/redact.ts'
import { parseQuery } from '../../src/serve/request.ts'
import { child, operationOf, operations, ROOT_UID } from './given.ts'

describe('inventory', () => {
  const eolTags = operations.find(({ id }) => id === 'registry.eol_tags.list')
  const at = Date.UTC(2026, 0, 2, 3, 4, 5)

  function inventory() {
    const made = createInventory(operations)
    made.use({ caller: 'aa', subject: 'alice' }, { operation: 'registry.repos.list', mode: 'v2', at })
    made.use({ caller: 'aa' }, { operation: 'registry.repos.list', mode: 'diff-v1', calls: 2, at: at - 5_000 })
    made.use({ caller: 'aa' }, { operation: 'registry.eol_tags.list', mode: 'v2', at: at + 1_000 })
    made.use({ caller: 'bb' }, { operation: 'registry.vuln_reports.list', mode: 'v1', calls: 9, at })
    for (const caller of ['aa', 'zz']) made.compared({ caller, operation: 'registry.repos.list', outcome: 'mismatch', totals: [] })
    return made
  }

  it('adds the clients of proxies that know nothing of each other', () => {
    const lists = [inventory().clients(), inventory().clients()]
    const [bb, aa] = joinedClients(lists, operations)
    expect([bb?.calls, aa?.calls, aa?.subject, aa?.mismatches]).toEqual([18, 8, 'alice', 2])
    expect(aa?.operations[0]).toMatchObject({ calls: 6, modes: ['diff-v1', 'v2'], firstSeen: at - 5_000, lastSeen: at })
    expect(joinedClients([lists[0] ?? []], operations)).toBe(lists[0])
  })

  describe('the inventory', () => {
    it('knows caller, operation, count, time, mode, and what prevents a move', () => {
      const [bb, aa] = inventory().clients()
      expect(bb).toMatchObject({ caller: 'bb', calls: 9, couldMove: false, cautions: [] })
      expect(bb?.blockers).toEqual([expect.stringMatching(/^registry\.vuln_reports\.list: .+/)])
      expect(aa).toMatchObject({
        caller: 'aa',
        subject: 'alice',
        calls: 4,
        lastSeen: at + 1_000,
        mismatches: 1,
        couldMove: true,
        blockers: [],
        cautions: [`registry.eol_tags.list: ${eolTags?.because}`, 'registry.repos.list: 1 mismatch'],
        operations: [
          { operation: 'registry.repos.list', calls: 3, lastSeen: at, modes: ['diff-v1', 'v2'], mismatches: 1 },
          { operation: 'registry.eol_tags.list', calls: 1 },
        ],
      })
    })

    it('is bounded: later clients are counted together', () => {
      const made = createInventory(operations, undefined, 1)
      for (const caller of ['a', 'b', 'a', 'c']) made.use({ caller }, { operation: 'ping.ping.ping', mode: 'v2', at })
      expect(made.clients().map(({ caller, calls }) => [caller, calls])).toEqual([['a', 2]])
      expect(made.uncounted()).toBe(2)
      expect(made.traffic()).toEqual(new Map([['ping.ping.ping', 4]]))
    })

    it('looks at the first requests of a client at an operation, then at one in a hundred', () => {
      const made = createInventory(operations)
      const use = (caller: string) => made.use({ caller }, { operation: 'ping.ping.ping', mode: 'v2', at })
      const looks = Array.from({ length: 300 }, () => use('a'))
      expect(looks.flatMap((look, nth) => (look ? [nth + 1] : []))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 100, 200, 300])
      expect(use('b')).toBe(true)
    })

    it('keeps a few kinds of requests, the most frequent first', () => {
      const made = createInventory(operations)
      const kind = (nth: number) => ({ shape: `shape ${nth}`, path: [], query: [] })
      made.use({ caller: 'a' }, { operation: 'ping.ping.ping', mode: 'v2', at })
      made.look('a', 'ping.ping.ping', kind(0))
      for (let nth = 1; nth < 12; nth += 1) made.look('a', 'ping.ping.ping', kind(nth), 2)
      const [use] = made.clients()[0]?.operations ?? []
      expect(use?.requests?.map(({ shape, samples }) => [shape, samples]).at(0)).toEqual(['shape 1', 2])
      expect(use).toMatchObject({ firstSeen: at, requests: { length: 8 }, otherRequests: 8 })
    })

    it('keeps where answers differed, declared or not', () => {
      const made = createInventory(operations)
      const of = { caller: 'a', operation: 'ping.ping.ping' }
      const place = (where: string, count: number) => ({ kind: 'value' as const, where, count })
      made.use(of, { operation: of.operation, mode: 'v2', at })
      made.compared({ ...of, outcome: 'mismatch', totals: [place('/a', 1), { ...place('/n', 9), noise: true }] })
      made.compared({ ...of, outcome: 'expected', totals: [{ ...place('/b', 3), code: 'known' }] })
      made.compared({ ...of, outcome: 'race', totals: [place('/c', 1)] })
      expect(made.clients()[0]?.operations).toMatchObject([
        { mismatches: 1, differences: [{ ...place('/b', 3), code: 'known' }, place('/a', 1)] },
      ])
    })

    it('says in which protocols a client speaks, REST alone apart', () => {
      const made = createInventory(operations)
      const ping = { operation: 'ping.ping.ping', mode: 'v2', at }
      made.use({ caller: 'a' }, { ...ping, protocol: 'grpc' })
      made.use({ caller: 'a' }, ping)
      made.use({ caller: 'b' }, ping)
      const uses = made.clients().map(({ caller, operations: [use] }) => [caller, use?.protocols])
      expect(uses).toEqual([
        ['a', ['grpc', 'rest']],
        ['b', undefined],
      ])
      expect(clientsCsv(made.clients()).split('\r\n')[1]).toMatch(/,grpc rest,,$/)
    })

    it('is printed as CSV and JSON', () => {
      const clients = inventory().clients()
      const lines = clientsCsv(clients).split('\r\n')
      expect(lines[0]).toBe('caller,subject,operation,calls,last_seen,modes,mismatches,could_move,blockers,cautions,protocols,agents,name')
      expect(lines[2]).toMatch(/^aa,alice,registry\.repos\.list,3,2026-01-02T03:04:05\.000Z,diff-v1 v2,1,yes,,/)
      expect(lines).toHaveLength(5)
      expect(JSON.parse(JSON.stringify(clientsJson(clients)))[0]).toMatchObject({
        caller: 'bb',
        lastSeen: '2026-01-02T03:04:05.000Z',
        operations: [{ lastSeen: '2026-01-02T03:04:05.000Z' }],
      })
    })
  })

  it('what is kept of all clients has one bound', () => {
    const uses = createKeptUses(2)
    const [one, other] = [emptyUse(), emptyUse()]
    for (const use of [one, other, one, other]) uses.addKind(use, { shape: 'a', path: [], query: [] }, 1)
    uses.addKind(one, { shape: 'b', path: [], query: [] }, 3)
    uses.addDifferences(other, { totals: [{ kind: 'value', where: '/a', count: 1 }] })
    expect([one.kinds.length, one.otherSamples, other.kinds[0]?.samples, other.places]).toEqual([1, 3, 2, []])
  })

  describe('CSV output', () => {
    it.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'])('disarms the formula %j', (cell) => {
      expect(toCsv(['a'], [[cell]])).toBe(`a\r\n"'${cell}"\r\n`)
    })

    it('quotes cells that need it, and leaves numbers alone', () => {
      expect(toCsv(['a', 'b'], [['x,"y"\nz', -5]])).toBe('a,b\r\n"x,""y""\nz",-5\r\n')
    })
  })
})

describe('the kind of a request', () => {
  const kindOf = (id: string, query: string, params: Readonly<Record<string, string>> = {}, body?: unknown, values: Values = 'masked') =>
    createKindOf(createRedactor({ values, key: () => 'k' }))(operationOf(id), { params, query: parseQuery(query), body })

  it('keeps values that their type proves harmless, under the names of the tables', () => {
    const query = `uidp.childrenOf=${ROOT_UID}&excludeDates=true&offset=20&limit=10&order_by=name+desc&updated_since=2026-01-02T03:04:05Z`
    expect(kindOf('registry.tags.list', query).query).toEqual([
      ['uidp.children_of', ROOT_UID],
      ['updated_since', '2026-01-02T03:04:05Z'],
      ['exclude_dates', 'true'],
      ['order_by', 'name desc'],
      ['offset', '20'],
      ['limit', '10'],
    ])
    expect(kindOf('libraries.artifacts.list', 'ecosystems=JAVA&ecosystems=GO&skip=3').query).toEqual([
      ['ecosystems', 'JAVA'],
      ['ecosystems', 'GO'],
      ['skip', '3'],
    ])
  })

  it.each([
    ['registry.tags.list', 'name=hunter2', ['name']],
    ['registry.tags.list', 'limit=hunter2', ['limit']],
    ['registry.tags.list', 'limit=4111111111111111', ['limit']],
    ['registry.tags.list', 'order_by=hunter2', ['order_by']],
    ['registry.tags.list', 'exclude_dates=hunter2', ['exclude_dates']],
    ['registry.tags.list', 'updated_since=hunter2', ['updated_since']],
    ['libraries.artifacts.list', 'page_token=abcdef', ['page_token']],
    ['libraries.artifacts.list', 'ecosystems=HUNTER', ['ecosystems']],
    ['iam.groups.list', 'uidp.ids=hunter2', ['uidp.ids']],
  ])('leaves out what could be a secret: %s?%s', (id, query, given) => {
    expect(kindOf(id, query).query).toEqual([given])
  })

  it('keeps texts only where values are shown, without secrets', () => {
    expect(kindOf('registry.tags.list', 'name=latest', {}, undefined, 'shown').query).toEqual([['name', 'latest']])
    expect(kindOf('registry.tags.list', `name=${'x'.repeat(400)}`, {}, undefined, 'shown').query).toEqual([['name']])
    expect(kindOf('registry.tags.list', 'name=Bearer+abcdefgh', {}, undefined, 'shown').query).toEqual([['name']])
  })

  it('keeps uids of a path, and no other text of it', () => {
    expect(kindOf('iam.roles.update', '', { id: child(1) }, {}).path).toEqual([['id', child(1)]])
    expect(kindOf('iam.roles.update', '', { id: 'hunter2' }, {}).path).toEqual([['id']])
  })

  it('counts parameters and leaves out members that no table knows', () => {
    const body = {
      name: 'hunter2',
      hunter3: 1,
      syncConfig: 1,
      sync_config: { source: 'x', hunter4: 1 },
      custom_overlay: { accounts: null },
    }
    const kind = kindOf('registry.repos.create', 'hunter5=1&hunter6=2', { parent_id: ROOT_UID }, body)
    expect(kind).toMatchObject({ query: [], unknown: 2, members: ['name', 'sync_config.source', 'custom_overlay.accounts'] })
    expect(JSON.stringify(kind)).not.toContain('hunter')
    expect(kindOf('iam.groups.list', '')).not.toHaveProperty('members')
  })

  it('reads a bare list as the rows of its message', () => {
    const kind = kindOf('iam.role_bindings.create_batch', '', { parent: ROOT_UID }, [{ identity: 'a', role: 'b' }])
    expect(kind.members).toEqual(['role_bindings.identity', 'role_bindings.role'])
  })

  it('is small, whatever the request holds', () => {
    const query = Array.from({ length: 5000 }, (_, nth) => `uidp.ids=${child(nth)}`).join('&')
    expect(JSON.stringify(kindOf('iam.groups.list', query)).length).toBeLessThan(1000)
    for (const { id, request, params } of operations.filter(({ begin }) => begin)) {
      const all = Object.keys(params).map((name) => `${name}=${'9'.repeat(2000)}`)
      const body = request && Object.fromEntries(Object.keys(request.fields).map((name) => [name, 'x'.repeat(2000)]))
      expect(JSON.stringify(kindOf(id, all.join('&'), {}, body, 'shown')).length).toBeLessThan(8000)
    }
  })
})
