import { describe, expect, test } from 'vitest'
import { startV1 } from './harness.ts'

const { send, organization } = startV1()

describe('envelope and errors', () => {
  test('a list without a match is an empty envelope, never an error', async () => {
    expect(await send('GET /registry/v1/repos?name=no-such-repo')).toEqual({ status: 200, body: { items: [] } })
    expect(await send('GET /registry/v1/repos?id=not-a-uid')).toEqual({ status: 200, body: { items: [] } })
    expect(await send(`GET /registry/v1/repos?uidp.descendants_of=${'f'.repeat(40)}`)).toEqual({ status: 200, body: { items: [] } })
  })

  test.each([
    ['GET /iam/v1/nothing', 404, { code: 5, message: 'Not Found', details: [] }],
    ['PATCH /iam/v1/groups', 501, { code: 12, message: 'Method Not Allowed', details: [] }],
    ['GET /registry/v1/vuln_reports', 404, { code: 5, message: 'Not Found', details: [] }],
  ])('%s', async (request, status, body) => expect(await send(request)).toEqual({ status, body }))

  test('errors carry v1 field names and no details', async () => {
    const missing = `${organization}/ffffffffffffffff`
    const created = await send(`POST /iam/v1/rolebindings/${organization}`, { identity: missing, role: missing })
    expect(created.status).toBe(400)
    expect(created.body).toMatchObject({ code: 3, details: [] })
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

  test('an update of what is not there is code 5 with 404', async () => {
    const missing = `${organization}/ffffffffffffffff`
    for (const collection of ['iam/v1/groups', 'iam/v1/roles', 'iam/v1/rolebindings', 'registry/v1/repos', 'registry/v1/tags']) {
      const answer = await send(`PUT /${collection}/${missing}`, { name: 'x' })
      expect(answer, collection).toMatchObject({ status: 404, body: { code: 5, details: [] } })
    }
  })

  test('a delete of what is not there succeeds', async () => {
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

  test('an id without the form of one is refused where it names a resource', async () => {
    const answer = await send('DELETE /iam/v1/groups')
    expect(answer).toEqual({ status: 400, body: { code: 3, message: 'Invalid argument: id: "" is not a valid uid', details: [] } })
  })
})

describe('what v1 accepts', () => {
  test('any content type is JSON, and an empty body is an empty message', async () => {
    const text = JSON.stringify({ name: 'typed-loosely' })
    const typed = await send(`POST /registry/v1/repos/${organization}`, undefined, { text, contentType: 'text/plain' })
    expect(typed).toMatchObject({ status: 200, body: { name: 'typed-loosely' } })
    const form = await send(`POST /registry/v1/repos/${organization}`, undefined, {
      text,
      contentType: 'application/x-www-form-urlencoded',
    })
    expect(form).toMatchObject({ status: 200, body: { id: typed.body.id } })
    const empty = await send(`POST /registry/v1/repos/${organization}`)
    expect(empty.body.message).toMatch(/^Invalid argument: name: /)
  })

  test('malformed JSON and wrong types are code 3', async () => {
    const broken = await send(`POST /registry/v1/repos/${organization}`, undefined, { text: '{"name":' })
    expect(broken).toMatchObject({ status: 400, body: { code: 3, details: [] } })
    const typed = await send(`POST /registry/v1/repos/${organization}`, { name: 5 })
    expect(typed).toMatchObject({ status: 400, body: { code: 3, details: [] } })
  })

  test('a form-encoded POST to a path that only has GET is that GET', async () => {
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
    ['limit=-1', 'Invalid argument: limit: must not be negative'],
    ['order_by=colour', /^Invalid argument: order_by: /],
  ])('refuses ?%s', async (query, message) => {
    const answer = await send(`GET /registry/v1/tags?${query}`)
    expect(answer).toMatchObject({ status: 400, body: { code: 3, details: [] } })
    expect(answer.body.message).toEqual(typeof message === 'string' ? message : expect.stringMatching(message))
  })

  test('unknown parameters are ignored, and so are parameters of v2', async () => {
    const all = await send('GET /registry/v1/repos')
    expect(await send('GET /registry/v1/repos?shape=round&skip=3&page_token=x')).toEqual(all)
  })

  test('ping needs no token', async () => {
    expect(await send('GET /ping/v1/ping', undefined, { token: '' })).toEqual({ status: 200, body: { response: 'pong' } })
  })
})
