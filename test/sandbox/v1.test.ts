import { describe, expect, test } from 'vitest'
import { readQuery } from '../../src/sandbox/http/route.ts'
import { readWindow } from '../../src/sandbox/v1/operations.ts'
import { column, names, running, startV1 } from './stage.ts'

describe('lists', () => {
  const { send, world, organization } = startV1()
  const ids = async (request: string) => column((await send(request)).body.items, 'id')

  describe('full sets', () => {
    test('return every row in uid order, more than any page of v2 holds', async () => {
      const [python] = await ids('GET /registry/v1/repos?name=python')
      const found: string[] = await ids(`GET /registry/v1/tags?uidp.children_of=${python}`)
      expect(found.length).toBeGreaterThan(200)
      expect(found).toEqual([...found].sort())
      expect(found).toHaveLength(world.store.tags.children(python).length)
    })

    test('are cut to windows in the same order', async () => {
      const all: string[] = await ids(`GET /registry/v1/repos?uidp.children_of=${organization}`)
      const repos = `GET /registry/v1/repos?uidp.children_of=${organization}`
      expect(all).toHaveLength(world.store.repos.children(organization).length)
      expect(await ids(`${repos}&offset=2&limit=3`)).toEqual(all.slice(2, 5))
      expect(await ids(`${repos}&page=2&page_size=5`)).toEqual(all.slice(5, 10))
      expect(await ids(`${repos}&pageNumber=3&perPage=5`)).toEqual(all.slice(10))
      expect(await ids(`${repos}&page=2`)).toEqual([])
    })

    test('are sorted by order_by, ties by uid', async () => {
      const repos = `GET /registry/v1/repos?uidp.children_of=${organization}`
      const byName = names(await send(`${repos}&order_by=name`))
      expect(byName).toEqual([...byName].sort())
      expect(names(await send(`${repos}&orderBy=name%20desc`))).toEqual([...byName].reverse())
      const newest = (await send(`${repos}&order_by=create_time+desc`)).body.items
      expect(newest[0].name).toBe('redis')
      const [nginx] = await ids('GET /registry/v1/repos?name=nginx')
      const tags = (await send(`GET /registry/v1/tags?uidp.children_of=${nginx}&order_by=last_updated`)).body.items
      const times = column(tags, 'last_updated')
      expect(times).toEqual([...times].sort())
    })
  })

  describe('scope', () => {
    const platform = () => world.store.groups.named(organization, 'platform')[0]?.uid ?? ''
    const payments = () => world.store.groups.named(organization, 'payments')[0]?.uid ?? ''
    const staging = () => world.store.groups.named(payments(), 'payments-staging')[0]?.uid ?? ''

    test('takes descendants_of, children_of and ancestors_of as documented', async () => {
      const below = world.store.groups.below(organization).map(({ uid }) => uid)
      expect(await ids(`GET /iam/v1/groups?uidp.descendants_of=${organization}`)).toEqual(below)
      expect(names(await send(`GET /iam/v1/groups?uidp.childrenOf=${organization}`))).not.toContain('payments-staging')
      expect(await ids(`GET /iam/v1/groups?uidp.ancestors_of=${staging()}`)).toEqual([organization, payments(), staging()])
      expect(names(await send('GET /iam/v1/groups?uidp.in_root=true'))).toEqual(['example.com'])
    })

    test('accepts repeated ids and combines members with AND', async () => {
      expect(await ids(`GET /iam/v1/groups?uidp.ids=${organization}&uidp.ids=${platform()}`)).toHaveLength(2)
      expect(await ids(`GET /iam/v1/groups?uidp.ids=${organization}&uidp.children_of=${organization}`)).toEqual([])
    })

    test('accepts one id, ignores an empty one and keeps other filters', async () => {
      expect(await ids(`GET /iam/v1/groups?id=${platform()}`)).toEqual([platform()])
      expect(await ids('GET /iam/v1/groups?id=')).toEqual(await ids('GET /iam/v1/groups'))
      expect(await ids(`GET /iam/v1/groups?id=${platform()}&name=payments`)).toEqual([])
    })

    test('hides rows that the caller may not see', async () => {
      const outsider = { token: 'demo-outsider' }
      expect(names(await send('GET /iam/v1/groups', undefined, outsider))).toEqual(['acme.dev'])
      expect((await send(`GET /registry/v1/repos?uidp.descendants_of=${organization}`, undefined, outsider)).body).toEqual({ items: [] })
      expect((await send(`GET /iam/v1/groups?id=${organization}`, undefined, outsider)).body).toEqual({ items: [] })
    })
  })
})

describe('requests', () => {
  const { send, organization } = startV1()

  describe('envelope and errors', () => {
    test('answer a list without a match with an empty envelope, never an error', async () => {
      expect(await send('GET /registry/v1/repos?name=no-such-repo')).toEqual({ status: 200, body: { items: [] } })
      expect(await send('GET /registry/v1/repos?id=not-a-uid')).toEqual({ status: 200, body: { items: [] } })
      expect(await send(`GET /registry/v1/repos?uidp.descendants_of=${'f'.repeat(40)}`)).toEqual({ status: 200, body: { items: [] } })
    })

    test.each([
      ['GET /iam/v1/nothing', 404, { code: 5, message: 'Not Found', details: [] }],
      ['PATCH /iam/v1/groups', 501, { code: 12, message: 'Method Not Allowed', details: [] }],
      ['GET /registry/v1/vuln_reports', 404, { code: 5, message: 'Not Found', details: [] }],
    ])('%s', async (request, status, body) => expect(await send(request)).toEqual({ status, body }))

    test('use v1 field names and no details', async () => {
      const missing = `${organization}/ffffffffffffffff`
      const created = await send(`POST /iam/v1/rolebindings/${organization}`, { identity: missing, role: missing })
      expect(created).toMatchObject({ status: 400, body: { code: 3, details: [] } })
      expect(created.body.message).toMatch(/^Invalid argument: identity: .*; role: /)
    })

    test.each([
      ['without a token', '', 401, 16],
      ['with an unknown token', 'nobody', 401, 16],
      ['without the capability', 'demo-viewer', 403, 7],
    ])('%s', async (_, token, status, code) => {
      const answer = await send(`POST /iam/v1/groups/${organization}`, { name: 'x' }, { token })
      expect(answer).toMatchObject({ status, body: { code, details: [] } })
    })

    test('answer an update of a missing resource with 404 code 5', async () => {
      const missing = `${organization}/ffffffffffffffff`
      for (const collection of ['iam/v1/groups', 'iam/v1/roles', 'iam/v1/rolebindings', 'registry/v1/repos', 'registry/v1/tags']) {
        const answer = await send(`PUT /${collection}/${missing}`, { name: 'x' })
        expect(answer, collection).toMatchObject({ status: 404, body: { code: 5, details: [] } })
      }
    })

    test('let a delete of a missing resource succeed', async () => {
      const missing = `${organization}/ffffffffffffffff`
      for (const path of [
        'iam/v1/groups',
        'iam/v1/identities',
        'iam/v1/roles',
        'iam/v1/rolebindings',
        'iam/v1/group_invites',
        'iam/v1/identityProviders',
        'iam/v1/externalGroupRoleMappings',
        'iam/v1/account_associations',
        'registry/v1/repos',
        'registry/v1/tags',
      ]) {
        expect(await send(`DELETE /${path}/${missing}`), path).toEqual({ status: 200, body: {} })
      }
    })

    test('refuse an id of the wrong form if it names a resource', async () => {
      const answer = await send('DELETE /iam/v1/groups')
      expect(answer).toEqual({ status: 400, body: { code: 3, message: 'Invalid argument: id: "" is not a valid uid', details: [] } })
    })
  })

  describe('v1 requests', () => {
    test('are JSON with any content type; an empty body is an empty message', async () => {
      const text = JSON.stringify({ name: 'typed-loosely' })
      const typed = await send(`POST /registry/v1/repos/${organization}`, undefined, { text, contentType: 'text/plain' })
      expect(typed).toMatchObject({ status: 200, body: { name: 'typed-loosely' } })
      const form = await send(`POST /registry/v1/repos/${organization}`, undefined, {
        text,
        contentType: 'application/x-www-form-urlencoded',
      })
      expect(form).toMatchObject({ status: 200, body: { id: typed.body.id } })
      expect((await send(`POST /registry/v1/repos/${organization}`)).body.message).toMatch(/^Invalid argument: name: /)
    })

    test('with malformed JSON or wrong types are code 3', async () => {
      const broken = await send(`POST /registry/v1/repos/${organization}`, undefined, { text: '{"name":' })
      expect(broken).toMatchObject({ status: 400, body: { code: 3, details: [] } })
      const typed = await send(`POST /registry/v1/repos/${organization}`, { name: 5 })
      expect(typed).toMatchObject({ status: 400, body: { code: 3, details: [] } })
    })

    test('to a path with only GET, posted as a form, are that GET', async () => {
      const [repo] = (await send('GET /registry/v1/repos?name=static')).body.items
      const direct = await send(`GET /registry/v1/eoltags?uidp.children_of=${repo.id}&page_size=2`)
      const text = `uidp.children_of=${encodeURIComponent(repo.id)}&page_size=2`
      const form = await send('POST /registry/v1/eoltags', undefined, { text, contentType: 'application/x-www-form-urlencoded' })
      expect(form.body.items).toEqual(direct.body.items)
      expect(form.body.items).toHaveLength(2)
    })

    test.each([
      ['exclude_dates=maybe', 'parsing field "exclude_dates": strconv.ParseBool: parsing "maybe": invalid syntax'],
      ['updated_since=yesterday', /^parsing field "updated_since": /],
      ['name=a&name=b', 'too many values for field "name": a, b'],
      ['limit=-1', 'Invalid argument: limit: must be non-negative'],
      ['order_by=colour', /^Invalid argument: order_by: /],
    ])('are refused with ?%s', async (query, message) => {
      const answer = await send(`GET /registry/v1/tags?${query}`)
      expect(answer).toMatchObject({ status: 400, body: { code: 3, details: [] } })
      expect(answer.body.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
    })

    test('may hold unknown parameters and parameters of v2, which are ignored', async () => {
      const all = await send('GET /registry/v1/repos')
      expect(await send('GET /registry/v1/repos?shape=round&skip=3&page_token=x')).toEqual(all)
    })

    test('to ping need no token', async () => {
      expect(await send('GET /ping/v1/ping', undefined, { token: '' })).toEqual({ status: 200, body: { response: 'pong' } })
    })
  })
})

describe('served', () => {
  const { sandbox, call, get, post } = running({ v1Dialect: 'published' })

  test('serves v1 and v2 on one port over one store', async () => {
    const { id } = (await post(`/iam/v1/groups/${sandbox().organization}`, { name: 'both' })).json
    expect((await get(`/iam/v2/groups/${id}`)).json).toMatchObject({ uid: id, name: 'both' })
  })

  test('takes an escaped slash as a slash', async () => {
    const { id } = (await get('/registry/v1/repos?name=static')).json.items[0]
    expect((await get(`/registry/v1/repotagssummary/${encodeURIComponent(id)}`)).json).toMatchObject({ id, latestTag: { name: 'latest' } })
  })

  test('accepts a delete with a JSON content type and no body', async () => {
    const { id } = (await post(`/registry/v1/repos/${sandbox().organization}`, { name: 'gone' })).json
    const deleted = await call('DELETE', `/registry/v1/repos/${id}`, { headers: { 'content-type': 'application/json' } })
    expect([deleted.status, deleted.json]).toEqual([200, {}])
  })

  test('refuses a request without a token', async () => {
    const { status, headers, json } = await call('GET', '/iam/v1/groups', { token: null })
    expect(status).toBe(401)
    expect(headers.get('www-authenticate')).toBeTruthy()
    expect(json).toMatchObject({ code: 16, details: [] })
  })
})

describe('readWindow (specification §9.5)', () => {
  const windowFor = (text: string) => readWindow(readQuery([...new URLSearchParams(text)]))
  const all = { from: 0, to: Number.POSITIVE_INFINITY }

  test.each([
    ['', all],
    ['offset=3', { from: 3, to: Number.POSITIVE_INFINITY }],
    ['offset=3&limit=4', { from: 3, to: 7 }],
    ['limit=4', { from: 0, to: 4 }],
    ['limit=0', all],
    ['page=2&page_size=10', { from: 10, to: 20 }],
    ['page=2&pageSize=10', { from: 10, to: 20 }],
    ['page=2', { from: 50, to: 100 }],
    ['page_size=10', { from: 0, to: 10 }],
    ['page=0&page_size=0', all],
    ['page=2&page_size=0', { from: 50, to: 100 }],
    ['pageNumber=3&perPage=5', { from: 10, to: 15 }],
  ])('cuts ?%s', (text, expected) => expect(windowFor(text)).toEqual(expected))

  test.each([
    ['offset=-1', 'Invalid argument: offset: must be non-negative'],
    ['page=1&page_size=-1', 'Invalid argument: page_size: must be non-negative'],
    ['offset=1&page=1', 'Invalid argument: page: cannot be combined with offset and limit'],
    ['page=1&per_page=5', 'Invalid argument: per_page: cannot be combined with page and page_size'],
    ['limit=x', 'parsing field "limit": strconv.ParseInt: parsing "x": invalid syntax'],
    ['limit=1&limit=2', 'too many values for field "limit": 1, 2'],
  ])('refuses %s', (text, message) => expect(() => windowFor(text)).toThrow(message))
})
