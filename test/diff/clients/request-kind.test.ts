import { describe, expect, it } from 'vitest'
import { createKindOf } from '../../../src/migrate/clients.ts'
import { createRedactor, type Values } from '../../../src/migrate/compare/redact.ts'
import { parseQuery } from '../../../src/serve/request.ts'
import { child, operationOf, operations, ROOT_UID } from '../given.ts'

const kindOf = (id: string, query: string, params: Readonly<Record<string, string>> = {}, body?: unknown, values: Values = 'masked') =>
  createKindOf(createRedactor({ values, key: () => 'k' }))(operationOf(id), { params, query: parseQuery(query), body })

describe('the kind of a request', () => {
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
