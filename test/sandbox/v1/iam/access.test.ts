import { describe, expect, test } from 'vitest'
import { builtInRoleUid } from '../../../../src/sandbox/auth/rights.ts'
import { userUid } from '../../../../src/sandbox/data/data.ts'
import { DIALECTS, names, startV1 } from '../harness.ts'

const viewer = builtInRoleUid('viewer')

describe('roles', () => {
  test('have capabilities as dotted strings both ways, possibly none', async () => {
    const { send, organization } = startV1('published')
    const made = await send(`POST /iam/v1/roles/${organization}`, { name: 'mine', capabilities: ['groups.list', 'repo.list'] })
    expect(made).toEqual({
      status: 200,
      body: { id: made.body.id, name: 'mine', description: '', capabilities: ['groups.list', 'repo.list'] },
    })
    const emptied = await send(`PUT /iam/v1/roles/${made.body.id}`, { name: 'mine' })
    expect(emptied.body.capabilities).toEqual([])
    const unknown = await send(`POST /iam/v1/roles/${organization}`, { name: 'mine', capabilities: ['fly'] })
    expect(unknown.body.message).toBe('Invalid argument: capabilities: unknown capability "fly"')
  })

  test('are listed by name, by parent and, if built in, in root', async () => {
    const { send, organization } = startV1()
    expect(names(await send(`GET /iam/v1/roles?parent=${organization}`))).toEqual(['tag-writer'])
    const builtIn = await send('GET /iam/v1/roles?parent=%2F')
    expect(names(builtIn)).toContain('viewer')
    expect(names(builtIn)).toEqual(names(await send('GET /iam/v1/roles?uidp.in_root=true')))
    const [role] = (await send('GET /iam/v1/roles?name=viewer')).body.items
    expect(role.id).toBe(viewer)
    expect(role.capabilities).toContain('groups.list')
    expect(role).not.toHaveProperty('group_id')
  })

  test('cannot be deleted if bound, nor changed if built in', async () => {
    const { send, world } = startV1()
    const bound = world.store.roles.values().find(({ name }) => name === 'tag-writer')
    expect(await send(`DELETE /iam/v1/roles/${bound?.uid}`)).toMatchObject({ status: 400, body: { code: 9, details: [] } })
    expect((await send(`DELETE /iam/v1/roles/${viewer}`)).status).toBe(403)
  })
})

describe.each(DIALECTS)('role bindings, %s dialect', (dialect) => {
  const spelled = (binding: Record<string, unknown>, time: string, organization: string) =>
    dialect === 'published' ? binding : { ...binding, created_at: time, group_id: organization }

  test('are plain ids in the answers of writes', async () => {
    const { send, organization, world } = startV1(dialect)
    const identity = userUid('outsider')
    const made = await send(`POST /iam/v1/rolebindings/${organization}`, { identity, role: viewer, group: 'ignored' })
    const plain = { id: made.body.id, identity, role: viewer, group: organization }
    expect(made).toEqual({ status: 200, body: spelled(plain, world.clock.now().toISOString(), organization) })
    const editor = builtInRoleUid('editor')
    expect((await send(`PUT /iam/v1/rolebindings/${plain.id}`, { identity, role: editor })).body).toMatchObject({
      id: plain.id,
      role: editor,
    })
    expect(await send(`DELETE /iam/v1/rolebindings/${plain.id}`)).toEqual({ status: 200, body: {} })
  })

  test('are listed with whole groups and roles', async () => {
    const { send, organization, world } = startV1(dialect)
    const { items } = (await send('GET /iam/v1/rolebindings')).body
    const bot = world.store.identities.values().find(({ name }) => name === 'ci-bot')
    const shown = items.find((item: { identity: string }) => item.identity === bot?.uid)
    const group = { id: organization, name: 'example.com', verified: true, kind: 'ORG_KIND_CUSTOMER' }
    const role = { id: viewer, name: 'viewer', capabilities: expect.arrayContaining(['groups.list']) }
    const claims =
      dialect === 'published'
        ? { claimMatchIssuer: bot?.claimMatch?.issuer, claimMatchSubject: bot?.claimMatch?.subject, emailUnverified: '' }
        : { claim_match_issuer: bot?.claimMatch?.issuer, claim_match_subject: bot?.claimMatch?.subject, email_unverified: '' }
    expect(shown).toMatchObject({ group, role, email: '', ...claims })
    expect(items.some((item: { email: string }) => item.email === 'alice@example.com')).toBe(true)
  })

  test('are created in a batch: a bare list, all or nothing, answered in order', async () => {
    const { send, organization, world } = startV1(dialect)
    const path = `POST /iam/v1/rolebindings/batch/${organization}`
    const before = world.store.roleBindings.size()
    const wanted = ['outsider', 'admin'] as const
    const broken = await send(path, [
      { identity: userUid('outsider'), role: viewer },
      { identity: 'nobody', role: viewer },
    ])
    expect(broken).toMatchObject({ status: 400, body: { code: 3 } })
    expect(world.store.roleBindings.size()).toBe(before)
    const made = await send(
      path,
      wanted.map((user) => ({ identity: userUid(user), role: viewer })),
    )
    const rows = made.body[dialect === 'published' ? 'roleBindings' : 'role_bindings']
    expect(rows.map((row: { identity: string }) => row.identity)).toEqual(wanted.map((user) => userUid(user)))
    expect((await send(path, { identity: 'x' })).status).toBe(400)
  })
})

describe('invites', () => {
  test.each(DIALECTS)('show the code on create, but not in lists, %s dialect', async (dialect) => {
    const { send, organization, world } = startV1(dialect)
    const made = await send(`POST /iam/v1/group_invites/${organization}`, {
      role: viewer,
      ttl: '3600s',
      single_use: true,
      email: 'x@example.com',
    })
    const expiration = new Date(world.clock.now().getTime() + 3_600_000).toISOString()
    expect(made).toMatchObject({
      status: 200,
      body: { expiration, role: { id: viewer, name: 'viewer' }, code: expect.stringMatching(/./) },
    })
    expect(made.body).not.toHaveProperty('email')
    const [listed] = (await send(`GET /iam/v1/group_invites?id=${made.body.id}`)).body.items
    expect(listed).toMatchObject({ id: made.body.id, email: 'x@example.com', [dialect === 'published' ? 'singleUse' : 'single_use']: true })
    expect(listed).not.toHaveProperty('code')
    expect(await send(`DELETE /iam/v1/group_invites/${made.body.id}`)).toEqual({ status: 200, body: {} })
  })

  test('are listed newest first, by group and key; the default lifetime is a week', async () => {
    const { send, organization, world } = startV1()
    const made = await send(`POST /iam/v1/group_invites/${organization}`, { role: viewer })
    expect(made.body.expiration).toBe(new Date(world.clock.now().getTime() + 604_800_000).toISOString())
    const { items } = (await send(`GET /iam/v1/group_invites?group=${organization}`)).body
    expect(items).toHaveLength(3)
    expect(items[0].id).toBe(made.body.id)
    expect((await send(`GET /iam/v1/group_invites?key_id=${made.body.key_id}`)).body.items).toEqual([items[0]])
    expect((await send(`POST /iam/v1/group_invites/${organization}`, { role: 'x' })).body.message).toMatch(/^Invalid argument: role: /)
  })
})
