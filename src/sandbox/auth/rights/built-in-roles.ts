import { createHash } from 'node:crypto'
import { type Capability, v2Name } from './capabilities.ts'

/** A role that every organization can bind and none can edit. `capabilities` holds v2 enum names. */
type BuiltInRole = {
  readonly name: string
  readonly uid: string
  readonly description: string
  readonly capabilities: readonly string[]
}

/** `each('repo', 'create', 'list')` → `repo.create`, `repo.list`. It keeps the sets below as short as in the sources. */
const each = (prefix: string, ...verbs: readonly string[]): Capability[] => verbs.map((verb) => `${prefix}.${verb}` as Capability)

const consoleViewer: readonly Capability[] = [
  ...(['groups.list', 'group_invites.list', 'roles.list', 'role_bindings.list', 'account_associations.list'] as const),
  ...(['identity.list', 'identity_providers.list', 'subscriptions.list'] as const),
  ...(['record_signatures.list', 'sboms.list', 'vuln_reports.list', 'vuln_report.list', 'build_report.list', 'version.list'] as const),
  ...(['repo.list', 'manifest.list', 'tag.list', 'manifest.metadata.list', 'referrers.list', 'apk.list'] as const),
  ...each('registry', 'entitlements.list', 'settings.list', 'overlays.list', 'deployments.list'),
  ...each('libraries', 'entitlements.list', 'artifacts.list', 'cache.list', 'aws_marketplace.subscriptions.list'),
  ...each('libraries', 'request_groups.list', 'remote_registries.list'),
  ...each('libraries.policy', 'list', 'binding.list', 'block_event.list'),
  ...each('policies', 'policy.list', 'binding.list', 'decision.list', 'override.list'),
  ...(['advisories.list', 'packages.entitlements.list', 'actions.list'] as const),
  ...each('guardener', 'entitlement.list', 'scan.list', 'scan.get'),
  ...each('skills', 'entitlements.list', 'list'),
]

const viewer: readonly Capability[] = [
  ...consoleViewer,
  ...(['repo.blobs.get', 'apk.blobs.get', 'terms.list'] as const),
  ...each('guardener', 'dfc.convert', 'association.list', 'actions.migrate'),
]

const editor: readonly Capability[] = [
  ...viewer,
  ...each('repo', 'create', 'update', 'delete'),
  ...each('registry', 'overlays.edit'),
  ...each('subscriptions', 'create', 'update', 'delete'),
  ...each('libraries.request_groups', 'create', 'update', 'delete', 'items.update'),
]

const ecosystems = ['python', 'java', 'javascript', 'dotnet', 'go'] as const

const owner: readonly Capability[] = [
  ...editor,
  ...each('groups', 'create', 'update', 'delete'),
  ...each('group_invites', 'create', 'delete'),
  ...each('roles', 'create', 'update', 'delete'),
  ...each('role_bindings', 'create', 'update', 'delete'),
  ...each('account_associations', 'create', 'update', 'delete'),
  ...each('identity', 'create', 'update', 'delete'),
  ...each('identity_providers', 'create', 'update', 'delete', 'scim.manage'),
  ...each('manifest', 'create', 'update', 'delete'),
  ...each('tag', 'create', 'update', 'delete'),
  ...each('apk', 'create', 'delete'),
  ...(['vuln_report.create', 'vuln.create', 'repo.check_policies', 'terms.accept', 'mcp.tool.call'] as const),
  ...each('registry.entitlements.images', 'add', 'remove', 'swap'),
  ...each('libraries.entitlements', 'create', 'delete'),
  ...ecosystems.flatMap((name) => each(`libraries.${name}`, 'list', 'create')),
  ...each('libraries', 'cache.invalidate', 'aws_marketplace.subscriptions.create', 'aws_marketplace.subscriptions.update'),
  ...each('libraries', 'request_groups.submit', 'remote_registries.create', 'remote_registries.delete'),
  ...each('libraries.policy', 'create', 'update', 'delete', 'binding.create', 'binding.update', 'binding.delete'),
  ...each('policies.policy', 'create', 'update', 'delete'),
  ...each('policies.binding', 'create', 'update', 'delete'),
  ...each('policies.override', 'create', 'delete'),
  ...each('guardener', 'association.manage'),
  ...each('skills', 'publish', 'entitlements.create', 'entitlements.delete', 'harden.read', 'harden.write', 'harden.cancel'),
]

const registryPull: readonly Capability[] = [
  ...(['groups.list', 'record_signatures.list', 'sboms.list', 'vuln_reports.list', 'repo.blobs.get'] as const),
  ...(['repo.list', 'manifest.list', 'tag.list', 'manifest.metadata.list', 'referrers.list'] as const),
]

const pullTokenCreator: readonly Capability[] = ['groups.list', 'roles.list', 'role_bindings.create', 'identity.create']
const apkPull: readonly Capability[] = ['groups.list', 'apk.list', 'apk.blobs.get']

const guardenerUser: readonly Capability[] = [
  ...registryPull,
  'terms.list',
  ...each('guardener', 'dfc.convert', 'association.list', 'actions.migrate', 'scan.list', 'scan.get'),
]

/** Role name → its capabilities (semantics §2.4). */
const sets: Readonly<Record<string, readonly Capability[]>> = {
  console_viewer: consoleViewer,
  viewer,
  editor,
  owner,
  limited_owner: [...viewer, 'identity.create', 'role_bindings.create'],
  'registry.pull': registryPull,
  'registry.push': [
    ...registryPull,
    'groups.create',
    ...['repo', 'manifest', 'tag'].flatMap((name) => each(name, 'create', 'update', 'delete')),
  ],
  'registry.editor': [...registryPull, ...each('repo', 'create', 'update', 'delete'), ...each('registry.overlays', 'list', 'edit')],
  'registry.pull_token_creator': [...new Set([...registryPull, 'apk.list', 'apk.blobs.get', ...pullTokenCreator] as const)],
  'apk.pull': apkPull,
  'apk.push': [...apkPull, ...each('apk', 'create', 'delete')],
  ...Object.fromEntries(ecosystems.flatMap((name) => Object.entries(librarySets(name)))),
  'guardener.user': guardenerUser,
  'guardener.admin': [...guardenerUser, 'terms.accept', 'guardener.association.manage'],
  'advisories.viewer': each('advisories', 'list'),
  'advisories.creator': each('advisories', 'create', 'update', 'list'),
  'advisories.approver': each('advisories', 'create', 'update', 'list', 'approve'),
  'advisories.admin': each('advisories', 'create', 'update', 'list', 'approve', 'delete'),
  'actions.viewer': ['actions.list'],
  'skills.publisher': ['terms.list', ...each('skills', 'publish', 'entitlements.list', 'harden.read', 'harden.write', 'harden.cancel')],
  'mcp.tool_user': ['mcp.tool.call'],
}

function librarySets(ecosystem: string): Record<string, Capability[]> {
  const pull = ['libraries.entitlements.list', ...each(`libraries.${ecosystem}`, 'list')] as Capability[]
  return {
    [`libraries.${ecosystem}.pull`]: pull,
    [`libraries.${ecosystem}.push`]: [...pull, ...each(`libraries.${ecosystem}`, 'create')],
    [`libraries.${ecosystem}.pull_token_creator`]: [...pullTokenCreator, ...pull],
  }
}

/** The only uid in the public documentation. The others are derived from the name (semantics §1). */
const knownUids: Readonly<Record<string, string>> = { viewer: '63921b2c44617e3f2603851537be0123af4a57d7' }

const uidOf = (name: string): string => knownUids[name] ?? createHash('sha1').update(`role:${name}`).digest('hex')

/** `viewer` → "Viewer Role (built-in)", `registry.pull_token_creator` → "Registry Pull Token Creator Role (built-in)". */
const descriptionOf = (name: string): string => {
  const words = name.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  return `${words.join(' ')} Role (built-in)`
}

/** Every built-in role, in the order of the sources. */
export const builtInRoles: readonly BuiltInRole[] = Object.entries(sets).map(([name, capabilities]) => ({
  name,
  uid: uidOf(name),
  description: descriptionOf(name),
  capabilities: capabilities.map(v2Name),
}))

/** The uid of the built-in role of that name. Throws on any other name. */
export const builtInRoleUid = (name: string): string => {
  const role = builtInRoles.find((one) => one.name === name)
  if (role === undefined) throw new Error(`no built-in role is named ${name}`)
  return role.uid
}
