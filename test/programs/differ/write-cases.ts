import type { Sandbox } from '../../../src/sandbox/start.ts'

type Row = Readonly<Record<string, string>>

let names = 0

export type Fresh = ReturnType<typeof freshAt>

/** Makes new resources at genuine v1, for one write alone. */
export function freshAt({ url, tokens, organization }: Sandbox) {
  const name = () => {
    names += 1
    return `write-${names}`
  }
  const post = async (path: string, body: unknown) => {
    const headers = { authorization: `Bearer ${tokens.owner}` }
    const answer = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`POST ${path}: ${text}`)
    return JSON.parse(text) as Row
  }
  const made = async (path: string, body: unknown) => String((await post(path, body))['id'])
  const role = (folder: string) => made(`/iam/v1/roles/${folder}`, { name: name(), capabilities: ['groups.list', 'repo.list'] })
  return {
    organization,
    /** A name that no other resource has. */
    name,
    /** Sends a write that must succeed. */
    post,
    folder: () => made(`/iam/v1/groups/${organization}`, { name: name(), description: 'words' }),
    role,
    identity: (folder: string) =>
      made(`/iam/v1/identities/${folder}`, { name: name(), claim_match: { issuer: 'https://a.example', subject: 's' } }),
    repo: (folder: string) => made(`/registry/v1/repos/${folder}`, { name: name(), description: 'words' }),
    provider: async () =>
      made(`/iam/v1/identityProviders/${organization}`, { name: name(), default_role: await role(organization), oidc: OIDC }),
  }
}

export const OIDC = {
  issuer: 'https://login.example',
  client_id: 'client',
  client_secret: 'a secret',
  additional_scopes: ['email', 'groups'],
  groups_claim: 'groups',
}

/** A write as a client sends it. */
export interface WriteRequest {
  readonly method: 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: unknown
}

/** Prepares resources of its own and returns the write. */
export type Prepare = (fresh: Fresh) => Promise<WriteRequest>

const digest = (letter: string) => `sha256:${letter.repeat(64)}`

const cloud = (name: string, account: string) => ({
  name,
  description: `of ${account}`,
  amazon: { account },
  google: { project_id: 'project', project_number: account.slice(1) },
  azure: { tenant_id: 'tenant', client_ids: { first: 'a', second: account } },
  github: { app_installations: { '7': { installations: [{ installation_id: '9007199254740993', name: account }] } } },
})

const overlay = (word: string) => ({
  contents: { packages: ['curl', word], runtime_repositories: ['https://x.example'], runtime_keyring: [{ name: 'k', content: word }] },
  environment: { A: word, B: 'b' },
  annotations: { note: word },
  accounts: {
    groups: [{ gid: 5, group_name: word, members: ['one', 'two'] }],
    users: [{ uid: 7, user_name: word, gid: 5, group_name: word, shell: '/bin/sh', home_dir: '/home' }],
    run_as: word,
  },
  certificates: { additional: [{ name: 'c', content: word }], providers: ['p'] },
})

const identity = (name: string, word: string) => ({
  name,
  description: `words of ${word}`,
  claim_match: {
    issuer: `https://${word}.example`,
    subject_pattern: word,
    audience: word,
    claims: { a: word, b: 'b' },
    claim_patterns: { c: word },
  },
})

const create =
  (path: string, body: (fresh: Fresh, folder: string) => unknown): Prepare =>
  async (fresh) => {
    const folder = await fresh.folder()
    return { method: 'POST', path: `${path}/${folder}`, body: await body(fresh, folder) }
  }

/** A write on a resource that `make` makes. */
const change =
  (
    method: 'PUT' | 'DELETE',
    path: string,
    make: (fresh: Fresh, folder: string) => Promise<string>,
    body?: (fresh: Fresh, folder: string) => unknown,
  ): Prepare =>
  async (fresh) => {
    const folder = await fresh.folder()
    const id = await make(fresh, folder)
    return { method, path: `${path}/${id}`, ...(body && { body: await body(fresh, folder) }) }
  }

const role = (fresh: Fresh, folder: string) => fresh.role(folder)
const group = async (_: Fresh, folder: string) => folder
const identified = (fresh: Fresh, folder: string) => fresh.identity(folder)
const repo = (fresh: Fresh, folder: string) => fresh.repo(folder)
const id = async (row: Promise<Readonly<Record<string, string>>>) => String((await row)['id'])

const binding = async (fresh: Fresh, folder: string) => ({ identity: await fresh.identity(folder), role: await fresh.role(folder) })
const bound = async (fresh: Fresh, folder: string) => id(fresh.post(`/iam/v1/rolebindings/${folder}`, await binding(fresh, folder)))
const invite = async (fresh: Fresh, folder: string) => ({
  ttl: '3600s',
  role: await fresh.role(folder),
  email: 'a@b.example',
  single_use: true,
})
const mapping = async (fresh: Fresh, group: string) => ({
  external_group_id: group,
  role_uidp: await fresh.role(fresh.organization),
  scope: fresh.organization,
})
const mapped = async (fresh: Fresh, provider: string, group: string) =>
  id(fresh.post(`/iam/v1/externalGroupRoleMappings/${provider}`, await mapping(fresh, group)))
const provider = async (fresh: Fresh, word: string) => ({
  name: fresh.name(),
  description: `words of ${word}`,
  default_role: await fresh.role(fresh.organization),
  oidc: { ...OIDC, issuer: `https://${word}.example`, client_id: word, additional_scopes: [word, 'email'], pkce_enabled: true },
})
const associated = async (fresh: Fresh, folder: string) => {
  await fresh.post(`/iam/v1/account_associations/${folder}`, cloud(fresh.name(), '111111111111'))
  return folder
}
const tagged = async (fresh: Fresh, folder: string) => {
  return id(fresh.post(`/registry/v1/tags/${await fresh.repo(folder)}`, { name: 'latest', digest: digest('a'), bundles: ['base'] }))
}

/** A SCIM action on a provider. All but the first need a token, whose etag they name. */
const scim =
  (verb: string, body: object): Prepare =>
  async (fresh) => {
    const path = `/iam/v1/identityProviders/${await fresh.provider()}`
    if (verb === 'generateScimToken') return { method: 'POST', path: `${path}:${verb}`, body }
    const { etag } = await fresh.post(`${path}:generateScimToken`, { never_expires: true })
    return { method: 'POST', path: `${path}:${verb}`, body: verb === 'revokeScimToken' ? body : { ...body, etag } }
  }

const PROVIDERS = '/iam/v1/identityProviders'
const MAPPINGS = '/iam/v1/externalGroupRoleMappings'
const ASSOCIATIONS = '/iam/v1/account_associations'

/** One request for every write that v2 serves, by operation. */
export const WRITES: Readonly<Record<string, Prepare>> = {
  'iam.groups.create': create('/iam/v1/groups', (fresh) => ({ name: fresh.name(), description: 'one' })),
  'iam.groups.update': change('PUT', '/iam/v1/groups', group, (fresh) => ({ name: fresh.name(), description: 'two' })),
  'iam.groups.delete': change('DELETE', '/iam/v1/groups', group),
  'iam.groups.request_access': async ({ organization }) => ({
    method: 'POST',
    path: `/iam/v1/groups/${organization}:requestGroupAccess`,
    body: {},
  }),
  'iam.identities.create': create('/iam/v1/identities', (fresh) => identity(fresh.name(), 'one')),
  'iam.identities.update': change('PUT', '/iam/v1/identities', identified, (fresh) => identity(fresh.name(), 'two')),
  'iam.identities.delete': change('DELETE', '/iam/v1/identities', identified),
  'iam.identity_metadata.update': async (fresh) => {
    return {
      method: 'PATCH',
      path: '/iam/v1/identities/metadata',
      body: { onboarding_questions: { product: fresh.name() }, updates_opt_in: true },
    }
  },
  'iam.roles.create': create('/iam/v1/roles', (fresh) => ({
    name: fresh.name(),
    description: 'one',
    capabilities: ['repo.list', 'tag.list', 'groups.list'],
  })),
  'iam.roles.update': change('PUT', '/iam/v1/roles', role, (fresh) => ({
    name: fresh.name(),
    description: 'two',
    capabilities: ['tag.list', 'identity.list'],
  })),
  'iam.roles.delete': change('DELETE', '/iam/v1/roles', role),
  'iam.role_bindings.create': create('/iam/v1/rolebindings', binding),
  'iam.role_bindings.create_batch': create('/iam/v1/rolebindings/batch', async (fresh, folder) => [
    await binding(fresh, folder),
    await binding(fresh, folder),
  ]),
  'iam.role_bindings.update': change('PUT', '/iam/v1/rolebindings', bound, binding),
  'iam.role_bindings.delete': change('DELETE', '/iam/v1/rolebindings', bound),
  'iam.identity_providers.create': async (fresh) => ({
    method: 'POST',
    path: `${PROVIDERS}/${fresh.organization}`,
    body: await provider(fresh, 'one'),
  }),
  'iam.identity_providers.update': change(
    'PUT',
    PROVIDERS,
    (fresh) => fresh.provider(),
    (fresh) => provider(fresh, 'two'),
  ),
  'iam.identity_providers.delete': change('DELETE', PROVIDERS, (fresh) => fresh.provider()),
  'iam.identity_providers.generate_scim_token': scim('generateScimToken', {}),
  'iam.identity_providers.regenerate_scim_token': scim('regenerateScimToken', { overlap: '60s' }),
  'iam.identity_providers.revoke_scim_token': scim('revokeScimToken', {}),
  'iam.identity_providers.set_scim_enabled': scim('setScimEnabled', { enabled: true }),
  'iam.account_associations.create': create(ASSOCIATIONS, (fresh) => cloud(fresh.name(), '123456789012')),
  'iam.account_associations.update': change('PUT', ASSOCIATIONS, associated, (fresh) => cloud(fresh.name(), '222222222222')),
  'iam.account_associations.delete': change('DELETE', ASSOCIATIONS, associated),
  'iam.account_associations.check': async (fresh) => {
    const folder = await associated(fresh, await fresh.folder())
    return { method: 'POST', path: `${ASSOCIATIONS}/${folder}:check`, body: { account_type: 'AMAZON' } }
  },
  'iam.group_invites.create': create('/iam/v1/group_invites', invite),
  'iam.group_invites.delete': change('DELETE', '/iam/v1/group_invites', async (fresh, folder) =>
    id(fresh.post(`/iam/v1/group_invites/${folder}`, await invite(fresh, folder))),
  ),
  'iam.external_group_role_mappings.create': async (fresh) => ({
    method: 'POST',
    path: `${MAPPINGS}/${await fresh.provider()}`,
    body: await mapping(fresh, 'staff'),
  }),
  'iam.external_group_role_mappings.delete': change('DELETE', MAPPINGS, async (fresh) => mapped(fresh, await fresh.provider(), 'staff')),
  'iam.external_group_role_mappings.batch_delete': async (fresh) => {
    const parent_id = await fresh.provider()
    const ids = [await mapped(fresh, parent_id, 'staff'), await mapped(fresh, parent_id, 'guests')]
    return { method: 'POST', path: `${MAPPINGS}:batchDelete`, body: { parent_id, ids } }
  },
  'iam.terms.accept': create('/iam/v1/terms', () => ({ document_ids: ['skills-tos.v1', 'sfdpa.v1'] })),
  'registry.repos.create': create('/registry/v1/repos', (fresh) => ({
    name: fresh.name(),
    description: 'one',
    custom_overlay: overlay('one'),
  })),
  'registry.repos.update': change('PUT', '/registry/v1/repos', repo, (fresh) => ({
    name: fresh.name(),
    description: 'two',
    custom_overlay: overlay('two'),
  })),
  'registry.repos.delete': change('DELETE', '/registry/v1/repos', repo),
  'registry.tags.create': async (fresh) => {
    const repo = await fresh.repo(await fresh.folder())
    return {
      method: 'POST',
      path: `/registry/v1/tags/${repo}`,
      body: { name: 'new', digest: digest('b'), deprecated: true, bundles: ['base', 'fips'] },
    }
  },
  'registry.tags.update': change('PUT', '/registry/v1/tags', tagged, () => ({
    name: 'latest',
    digest: digest('c'),
    deprecated: true,
    bundles: ['ai', 'fips'],
  })),
  'registry.tags.delete': change('DELETE', '/registry/v1/tags', tagged),
  'events.subscriptions.create': create('/events/v1/subscriptions', (fresh) => ({ sink: `https://localhost:9/${fresh.name()}` })),
  'events.subscriptions.delete': change('DELETE', '/events/v1/subscriptions', (fresh, folder) =>
    id(fresh.post(`/events/v1/subscriptions/${folder}`, { sink: `https://localhost:9/${fresh.name()}` })),
  ),
}
