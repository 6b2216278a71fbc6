import { describe, expect, test } from 'vitest'
import { startV1 } from './harness.ts'

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
    const empty = await send(`POST /registry/v1/repos/${organization}`)
    expect(empty.body.message).toMatch(/^Invalid argument: name: /)
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
