import * as make from '../../expect.ts'
import { anything, inFolder, items, ok, refused, same, shows } from '../../expect.ts'
import * as shape from '../../shapes.ts'
import { type Case, map } from '../../target.ts'

const BINDINGS = '/iam/v1/rolebindings'
const MISSING = '0'.repeat(16)

/** facts §3.5 */
export const roleBindings: readonly Case[] = [
  inFolder(
    'role bindings: plain when written, hydrated when listed',
    ['iam.role_bindings.create', 'iam.role_bindings.list'],
    async (api, parent) => {
      const { id: identity } = await make.identity(api, parent)
      const { id: role } = await make.role(api, parent, { description: 'words' })
      const body = { identity, role, group: api.organization }
      const made = ok(api, await api.post(`${BINDINGS}/${parent}`, body), shape.binding(parent, identity, role))
      api.later((owner) => owner.delete(`${BINDINGS}/${made.id}`))
      const group = {
        id: parent,
        name: api.name(),
        description: '',
        resource_limits: map({}),
        verified: false,
        kind: anything,
        status: anything,
      }
      const listed = shape.listedBinding(parent, {
        id: made.id,
        identity,
        group,
        role: shape.nestedRole({ id: role, name: 'reader', description: 'words', capabilities: ['groups.list', 'repo.list'] }),
        claim_match_issuer: 'https://issuer.example',
        claim_match_subject: 'robot',
      })
      ok(api, await api.get(BINDINGS, { id: made.id }), { items: [listed] })
      ok(api, await api.get(BINDINGS, { 'uidp.children_of': parent }), { items: [listed] })
      // A list shows other resources in their current state.
      ok(api, await api.put(`/iam/v1/roles/${role}`, { name: 'renamed', capabilities: ['tag.list'] }), anything)
      ok(api, await api.put(`/iam/v1/groups/${parent}`, { name: api.name(), description: 'described' }), anything)
      const fresh = {
        ...listed,
        group: { ...group, description: 'described' },
        role: shape.nestedRole({ id: role, name: 'renamed', description: '', capabilities: ['tag.list'] }),
      }
      const now = items(await api.get(BINDINGS, { 'uidp.children_of': parent }))[0]
      ok(api, { status: 200, type: null, body: { group: now.group, role: now.role } }, { group: fresh.group, role: fresh.role })
    },
  ),
  inFolder('role bindings: a built-in role shows its capabilities', ['iam.role_bindings.list'], async (api, parent) => {
    const pull = await make.builtIn(api, 'registry.pull')
    const { id: identity } = await make.identity(api, parent, { claim_match: undefined, aws_identity: awsIdentity })
    await make.binding(api, parent, identity, pull.id)
    const role = shape.nestedRole({ id: pull.id, name: 'registry.pull', description: pull.description, capabilities: pull.capabilities })
    const answer = await api.get(BINDINGS, { 'uidp.descendants_of': parent })
    ok(api, answer, { items: [shape.listedBinding(parent, { role })] })
    same(pull.capabilities.includes('repo.list'), true, 'capabilities of registry.pull')
  }),
  shows('role bindings: everything that the organization holds', ['iam.role_bindings.list'], { reads: true }, async (api) => {
    same(items(await api.get(BINDINGS)).length > 0, true, 'rows')
    same(items(await api.get(BINDINGS, { 'uidp.children_of': api.organization })).length > 0, true, 'rows')
  }),
  inFolder('role bindings: a PUT changes identity and role', ['iam.role_bindings.update'], async (api, parent) => {
    const one = (await make.identity(api, parent, { name: 'one' })).id
    const two = (await make.identity(api, parent, { name: 'two' })).id
    const viewer = (await make.builtIn(api, 'viewer')).id
    const editor = (await make.builtIn(api, 'editor')).id
    const { id } = await make.binding(api, parent, one, viewer)
    const path = `${BINDINGS}/${id}`
    ok(api, await api.put(path, { identity: two, role: editor, group: 'ignored' }), shape.binding(parent, two, editor))
    ok(api, await api.otherwise.put(path, { identity: two, role: viewer }), shape.binding(parent, two, viewer))
    refused(await api.put(path, { identity: one }), 3)
    refused(await api.put(path, { role: editor }), 3)
    refused(await api.put(`${BINDINGS}/${parent}/${MISSING}`, { identity: one, role: viewer }), 5)
    refused(await api.as('viewer').put(path, { identity: one, role: viewer }), 7)
  }),
  inFolder('role bindings: a batch in the order of the request', ['iam.role_bindings.create_batch'], async (api, parent) => {
    const viewer = (await make.builtIn(api, 'viewer')).id
    const robots: string[] = []
    for (const name of ['a', 'b', 'c']) robots.push((await make.identity(api, parent, { name })).id)
    const path = `${BINDINGS}/batch/${parent}`
    const made = await api.post(
      path,
      robots.map((identity) => ({ identity, role: viewer, group: 'ignored' })),
    )
    ok(api, made, { role_bindings: robots.map((identity) => shape.binding(parent, identity, viewer)) })
    for (const row of api.member(made.body, 'role_bindings')) ok(api, await api.delete(`${BINDINGS}/${row.id}`), {})
    const half = [
      { identity: robots[0], role: viewer },
      { identity: `${parent}/${MISSING}`, role: viewer },
    ]
    refused(await api.post(path, half), 3)
    ok(api, await api.get(BINDINGS, { 'uidp.children_of': parent }), { items: [] })
    refused(await api.as('viewer').post(path, half), 7)
    refused(await api.inAnyWords.send({ method: 'POST', path, text: '{"roleBindings":[]}' }), 3)
  }),
  inFolder(
    'role bindings: refusals',
    ['iam.role_bindings.create', 'iam.role_bindings.delete'],
    { roles: ['viewer', 'outsider'] },
    async (api, parent) => {
      const { id: identity } = await make.identity(api, parent)
      const role = (await make.builtIn(api, 'viewer')).id
      const path = `${BINDINGS}/${parent}`
      refused(await api.post(path, { identity: `${parent}/${MISSING}`, role }), 3, /^Invalid argument: identity: /)
      refused(await api.post(path, { identity, role: `${parent}/${MISSING}` }), 3, /^Invalid argument: role: /)
      refused(await api.post(path, { role }), 3, /^Invalid argument: identity: /)
      refused(await api.post(path, {}), 3)
      await make.binding(api, parent, identity, role)
      refused(await api.post(path, { identity, role }), 6)
      for (const other of ['viewer', 'outsider'] as const) {
        refused(await api.as(other).post(path, { identity, role }), 7)
        refused(await api.as(other).delete(`${path}/${MISSING}`), 7)
      }
      refused(await api.as('nobody').delete(`${path}/${MISSING}`), 16)
      ok(api, await api.delete(`${path}/${MISSING}`), {})
    },
  ),
]

const awsIdentity = { aws_account: '123456789012', arn: 'arn:aws:sts::123456789012:assumed-role/r/s', user_id: 'AROA:s' }
