import { describe, expect, test } from 'vitest'
import { DIALECTS, startV1 } from '../harness.ts'

describe.each(DIALECTS)('groups, %s dialect', (dialect) => {
  test('show the whole resource', async () => {
    const { send, organization, world } = startV1(dialect)
    const [group] = (await send('GET /iam/v1/groups?name=platform')).body.items
    const row = world.store.groups.get(group.id)
    const common = {
      id: group.id,
      name: 'platform',
      description: 'Build and release',
      verified: false,
      kind: 'ORG_KIND_CUSTOMER',
      status: 'ORG_STATUS_READY',
    }
    const expected =
      dialect === 'published'
        ? { ...common, resourceLimits: {} }
        : { ...common, resource_limits: {}, created_at: row?.createTime, updated_at: row?.updateTime, group_id: organization }
    expect(group).toEqual(expected)
  })
})

describe('creating', () => {
  test('accepts as parent a uid, the beginning of one, or a name', async () => {
    const { send, organization } = startV1()
    for (const parent of [organization, organization.slice(0, 12), 'example.com']) {
      const made = await send(`POST /iam/v1/groups/${parent}`, { name: 'new', status: 'ORG_STATUS_SUSPENDED' })
      expect(made).toMatchObject({ status: 200, body: { name: 'new', group_id: organization, status: 'ORG_STATUS_READY' } })
    }
    expect((await send('POST /iam/v1/groups/elsewhere', { name: 'new' })).body).toMatchObject({ code: 5 })
  })

  test('makes an organization of the caller without a parent', async () => {
    const { send } = startV1()
    for (const path of ['/iam/v1/groups', '/iam/v1/groups/']) {
      const made = await send(`POST ${path}`, { name: 'mine' }, { token: 'demo-viewer' })
      expect(made).toMatchObject({ status: 200, body: { name: 'mine', verified: false } })
      expect(made.body).not.toHaveProperty('group_id')
      expect((await send(`DELETE /iam/v1/groups/${made.body.id}`, undefined, { token: 'demo-viewer' })).status).toBe(200)
    }
  })
})

describe('updating', () => {
  test('resets the description, but keeps verified and kind unless the body names them', async () => {
    const { send, organization } = startV1()
    const answer = await send(`PUT /iam/v1/groups/${organization}`, { name: 'example.com' })
    expect(answer).toMatchObject({ status: 200, body: { description: '', verified: true, kind: 'ORG_KIND_CUSTOMER' } })
  })

  test('lets only staff change verified', async () => {
    const { send, organization } = startV1()
    const taken = await send(`PUT /iam/v1/groups/${organization}`, { name: 'example.com' }, { token: 'demo-admin' })
    expect(taken.body.verified).toBe(false)
    const given = await send(`PUT /iam/v1/groups/${organization}`, { name: 'example.com', verified: true })
    expect(given).toMatchObject({ status: 403, body: { code: 7, details: [] } })
  })

  test('accepts a new kind of an organization', async () => {
    const { send, organization } = startV1()
    const answer = await send(`PUT /iam/v1/groups/${organization}`, { name: 'example.com', kind: 'ORG_KIND_DEV' })
    expect(answer.body.kind).toBe('ORG_KIND_DEV')
  })
})

describe('deleting', () => {
  test('is blocked by anything below, with the reason only in the message', async () => {
    const { send, organization } = startV1()
    const answer = await send(`DELETE /iam/v1/groups/${organization}`)
    expect(answer).toMatchObject({ status: 400, body: { code: 9, details: [] } })
    expect(answer.body.message).toMatch(/^Precondition failed: cannot delete group with child repos/)
  })
})

describe('operations on the token alone', () => {
  test('find the organization of the caller, or answer NOT_FOUND', async () => {
    const { send, organization } = startV1('published')
    expect((await send('GET /iam/v1/groups:lookupGroup')).body).toMatchObject({ group: { id: organization, resourceLimits: { idps: 1 } } })
    const stranger = await send('GET /iam/v1/groups:lookupGroup', undefined, { token: 'demo-admin' })
    expect(stranger).toMatchObject({ status: 404, body: { code: 5, details: [] } })
  })

  test('tell eligibility and refuse to ask for access twice', async () => {
    const { send, organization } = startV1()
    expect((await send('GET /iam/v1/groups:checkEligibility')).body).toEqual({ eligible: true })
    const ask = () => send(`POST /iam/v1/groups/${organization}:requestGroupAccess`, {}, { token: 'demo-outsider' })
    expect(await ask()).toEqual({ status: 200, body: {} })
    expect(await ask()).toMatchObject({ status: 429, body: { code: 8 } })
  })
})
