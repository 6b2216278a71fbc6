import * as make from '../../expect.ts'
import { anything, inFolder, items, ok, refused, refusedHere, same, shows, uid } from '../../expect.ts'
import * as shape from '../../shapes.ts'
import type { Answer, Case } from '../../target.ts'

/** Identities and access that a genuine v1 and a proxied one show differently, each with its code (mappings/differences.ts). */
export const differingIam: readonly Case[] = [
  inFolder(
    'a role needs a capability',
    ['iam.roles.create', 'iam.roles.update'],
    { difference: 'role-capabilities-required' },
    async (api, parent) => {
      const made = await api.post(`/iam/v1/roles/${parent}`, { name: 'bare' })
      refusedHere(api, made, shape.role(parent, { name: 'bare', capabilities: [] }), 3, /^Invalid argument: capabilities: /)
      if (made.body.id) ok(api, await api.delete(`/iam/v1/roles/${made.body.id}`), {})
      const { id } = await make.role(api, parent)
      const emptied = await api.put(`/iam/v1/roles/${id}`, { name: 'reader' })
      refusedHere(api, emptied, shape.role(parent, { capabilities: [] }), 3, /^Invalid argument: capabilities: /)
      const left = (await api.get('/iam/v1/roles', { id })).body.items[0].capabilities
      same(left, api.here<string[]>({ genuine: [], proxied: ['groups.list', 'repo.list'] }), 'capabilities')
    },
  ),
  shows(
    'cloud providers that were named at sign-up',
    ['iam.identity_metadata.update'],
    { difference: 'sign-up-providers-gone' },
    async (api) => {
      const path = '/iam/v1/identities/metadata'
      const answer = await api.patch(path, { onboarding_questions: { providers: ['aws'] } })
      refusedHere(api, answer, anything, 3, 'Invalid argument: onboarding_questions.providers: is not kept by v2')
      same((await api.patch(path, { onboarding_questions: { providers: [] } })).status, 200, 'none')
    },
  ),
  inFolder(
    'a number of no known enum value',
    [
      'iam.groups.create',
      'iam.groups.update',
      'iam.identity_providers.create',
      'iam.identity_providers.update',
      'registry.repos.create',
      'registry.repos.update',
    ],
    { difference: 'enum-number-unknown' },
    async (api, parent) => {
      const check = (answer: Answer, field: RegExp) => {
        refusedHere(api, answer, anything, 3, field)
        return answer.body.id
      }
      const group = check(await api.post(`/iam/v1/groups/${parent}`, { name: 'below', kind: 999 }), /^Invalid argument: kind: /)
      check(await api.put(`/iam/v1/groups/${parent}`, { name: api.name(), kind: 999 }), /^Invalid argument: kind: /)
      const role = (await make.builtIn(api, 'viewer')).id
      const { id } = await make.provider(api, role)
      const path = '/iam/v1/identityProviders'
      const provider = { name: api.name(), default_role: role, oidc: { ...make.oidc, correlation_rule: 999 } }
      const wrongRule = /^Invalid argument: oidc\.correlation_rule: /
      const another = check(await api.post(`${path}/${api.organization}`, { ...provider, name: api.name('two') }), wrongRule)
      check(await api.put(`${path}/${id}`, provider), wrongRule)
      const wrongTier = /^Invalid argument: catalog_tier: /
      const repo = check(await api.post(`/registry/v1/repos/${parent}`, { name: 'one', catalog_tier: 1 }), wrongTier)
      const known = (await make.repo(api, parent, { name: 'two' })).id
      check(await api.put(`/registry/v1/repos/${known}`, { name: 'two', catalog_tier: 1 }), wrongTier)
      const made = [repo && `/registry/v1/repos/${repo}`, another && `${path}/${another}`, group && `/iam/v1/groups/${group}`]
      for (const left of made) if (left) await api.unrecorded.delete(left)
    },
  ),
  shows(
    'an account association needs a name',
    ['iam.account_associations.create', 'iam.account_associations.update'],
    { difference: 'association-name-required' },
    async (api) => {
      const group = (await make.folder(api)).id
      const path = `/iam/v1/account_associations/${group}`
      const amazon = { account: '123456789012' }
      const made = await api.post(path, { amazon })
      refusedHere(api, made, shape.association(group, { name: '', amazon }), 3, /^Invalid argument: name: /)
      await make.association(api, (await make.folder(api, 'other', group)).id)
      const written = await api.put(
        `/iam/v1/account_associations/${items(await api.get('/iam/v1/groups', { 'uidp.children_of': group }))[0].id}`,
        { amazon },
      )
      refusedHere(api, written, anything, 3, /^Invalid argument: name: /)
      ok(api, await api.delete(path), {})
    },
  ),
  shows(
    'an identity provider needs a default role',
    ['iam.identity_providers.create', 'iam.identity_providers.update'],
    { difference: 'provider-default-role-required' },
    async (api) => {
      const path = `/iam/v1/identityProviders/${api.organization}`
      const made = await api.post(path, { name: api.name(), oidc: make.oidc })
      refusedHere(api, made, shape.provider(api.organization, '', { name: api.name() }), 3, /^Invalid argument: default_role: /)
      if (made.body.id) ok(api, await api.delete(`/iam/v1/identityProviders/${made.body.id}`), {})
      const { id } = await make.provider(api, (await make.builtIn(api, 'viewer')).id)
      const written = await api.put(`/iam/v1/identityProviders/${id}`, { name: api.name(), oidc: make.oidc })
      refusedHere(api, written, shape.provider(api.organization, '', { name: api.name() }), 3, /^Invalid argument: default_role: /)
    },
  ),
  inFolder('an invite needs a ttl', ['iam.group_invites.create'], { difference: 'invite-ttl-required' }, async (api, parent) => {
    const made = await api.post(`/iam/v1/group_invites/${parent}`, { role: (await make.builtIn(api, 'viewer')).id })
    refusedHere(api, made, anything, 3, /^Invalid argument: ttl: /)
    if (made.body.id) ok(api, await api.delete(`/iam/v1/group_invites/${made.body.id}`), {})
  }),
  inFolder(
    'a batch of role bindings holds 1 to 25',
    ['iam.role_bindings.create_batch'],
    { difference: 'batch-size' },
    async (api, parent) => {
      const roles: string[] = []
      for (let at = 0; at < 26; at++) roles.push((await make.role(api.unrecorded, parent, { name: `role-${at}` })).id)
      const { id: identity } = await make.identity(api, parent)
      const path = `/iam/v1/rolebindings/batch/${parent}`
      for (const size of [26, 0]) {
        const made = await api.post(
          path,
          roles.slice(0, size).map((role) => ({ identity, role })),
        )
        if (api.side === 'genuine') same(api.member(made.body, 'role_bindings')?.length, size, 'bindings')
        else refused(made, 3, /^Invalid argument: role_bindings: /)
      }
      for (const row of items(await api.unrecorded.get('/iam/v1/rolebindings', { 'uidp.children_of': parent }))) {
        await api.unrecorded.delete(`/iam/v1/rolebindings/${row.id}`)
      }
    },
  ),
  shows(
    'a batch of mappings to delete names at least one',
    ['iam.external_group_role_mappings.batch_delete'],
    { difference: 'batch-delete-needs-ids' },
    async (api) => {
      const { id } = await make.provider(api, (await make.builtIn(api, 'viewer')).id)
      const answer = await api.post('/iam/v1/externalGroupRoleMappings:batchDelete', { parent_id: id })
      refusedHere(api, answer, { parent_id: id, items: [] }, 3, /^Invalid argument: ids: /)
    },
  ),
  inFolder(
    'bindings of a caller who may read nothing else',
    ['iam.role_bindings.list'],
    { difference: 'binding-parts-withheld', roles: ['outsider'] },
    async (api, parent) => {
      const { id: role } = await make.role(api, parent, { capabilities: ['role_bindings.list'] })
      for (const identity of await make.holders(api.as('outsider').unrecorded, 'owner'))
        await make.binding(api.unrecorded, parent, identity, role)
      const { id: robot } = await make.identity(api, parent)
      await make.binding(api, parent, robot, role)
      const rows = items(await api.as('outsider').get('/iam/v1/rolebindings', { 'uidp.children_of': parent }))
      const row = rows.find(({ identity }) => identity === robot)
      const names = (member: unknown) => Object.keys(member as object).sort()
      const told = ['description', 'id', 'name']
      const untold = { group: ['kind', 'resource_limits', 'status', 'verified'], role: ['capabilities'] }
      for (const part of ['group', 'role'] as const) {
        same(row[part].name === (part === 'role' ? 'reader' : api.name()), true, `name of the ${part}`)
        const all = [
          ...told,
          ...untold[part].map((name) => (api.dialect === 'published' && name === 'resource_limits' ? 'resourceLimits' : name)),
        ]
        same(names(row[part]), api.here({ genuine: all.sort(), proxied: told }), `members of the ${part}`)
      }
      same(api.member(row, 'email_unverified') === undefined, api.here({ genuine: false, proxied: true }), 'an email that nobody told')
    },
  ),
  inFolder(
    'a lookup of an identity that the caller may not read',
    ['iam.identities.lookup'],
    { difference: 'lookup-unreadable', roles: ['outsider'] },
    async (api, parent) => {
      const keys = { issuer: 'https://keys.example', subject: api.name(), issuer_keys: make.publicKeys }
      const { id } = await make.identity(api, parent, { claim_match: undefined, static: keys })
      const found = await api.as('outsider').get('/iam/v1/identities/lookup', { issuer: keys.issuer, subject: keys.subject })
      const bare = { id }
      if (api.side === 'genuine') ok(api, found, shape.identity(parent, { id, static: anything }))
      else ok(api, found, shape.lookedUp(bare, parent))
      // v2 invents a uid for an unregistered identity. Only callers who may read it learn that it does not exist.
      const nobody = await api.get('/iam/v1/identities/lookup', { issuer: 'https://nowhere.example', subject: 'nobody' })
      if (api.side === 'genuine') refused(nobody, 5)
      else ok(api, nobody, { ...bare, id: uid })
    },
  ),
]
