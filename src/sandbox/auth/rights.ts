import { createHash } from 'node:crypto'
import { permissionDenied } from '../status.ts'
import type { ExternalGroupRoleMapping, RoleBinding } from '../world/model.ts'
import { groupBy, isAtOrBelow, lineage, parentOf, type World } from '../world/store.ts'
import { type Capability, capabilities, capabilityByV1, v2Name } from './capabilities.ts'
import type { Caller, Session, SessionCaller } from './sts.ts'

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

/** Group uid → v2 names of the capabilities granted there and below. The key `EVERYWHERE` is above every root. */
type Grants = ReadonlyMap<string, ReadonlySet<string>>

const EVERYWHERE = ''

/** The effect of one binding: the capabilities of a role at a group. */
type Grant = { readonly group: string; readonly capabilities: readonly string[] }

/** Rebuilt only after a write of a binding, so a list of 100,000 rows builds it once. */
const bindingsByIdentity = (world: World): ReadonlyMap<string, readonly RoleBinding[]> =>
  world.store.roleBindings.derived('by identity', () => groupBy(world.store.roleBindings.values(), ({ identityUid }) => identityUid))

/** An identity below a group has no access outside that group, whatever its bindings (specification §2, semantics §2.1). */
const withinHome = (home: string, group: string): string | undefined => {
  if (home === '' || group === EVERYWHERE || isAtOrBelow(home, group)) return group
  return isAtOrBelow(group, home) ? home : undefined
}

/** A token with scopes carries only grants made at these scopes or inherited by them (semantics §2.6). */
const withinScopes = (scopes: readonly string[] | undefined, group: string): readonly string[] =>
  scopes === undefined ? [group] : scopes.filter((scope) => group === EVERYWHERE || isAtOrBelow(group, scope))

const placesOf = (caller: Caller, group: string): readonly string[] => {
  const place = withinHome(parentOf(caller.identityUid), group)
  return place === undefined ? [] : withinScopes(caller.scopes, place)
}

const allNames: readonly string[] = capabilities.map(({ v2 }) => v2)

const mappedBy = (world: World, { provider, groups }: Session): readonly ExternalGroupRoleMapping[] =>
  world.store.externalGroupRoleMappings.children(provider).filter(({ externalGroupId }) => groups.includes(externalGroupId))

const grantedTo = (world: World, caller: SessionCaller): readonly Grant[] => {
  if (caller.everything) return [{ group: EVERYWHERE, capabilities: allNames }]
  const grant = (group: string, roleUid: string): Grant => ({ group, capabilities: world.store.roles.get(roleUid)?.capabilities ?? [] })
  const bound = bindingsByIdentity(world).get(caller.identityUid) ?? []
  const mapped = caller.session ? mappedBy(world, caller.session) : []
  return [...bound.map((row) => grant(parentOf(row.uid), row.roleUid)), ...mapped.map((row) => grant(row.scope, row.roleUid))]
}

/**
 * Computes the grants of `caller` from the current bindings; restrictions of its token only narrow them. A changed role or a deleted
 * binding takes effect with the next request.
 */
export const grantsOf = (world: World, caller: SessionCaller): Grants => {
  const allowed = caller.capabilities && new Set(caller.capabilities.map((name) => capabilityByV1(name)?.v2))
  const grants = new Map<string, Set<string>>()
  for (const { group, capabilities: given } of grantedTo(world, caller)) {
    const held = allowed ? given.filter((name) => allowed.has(name)) : given
    for (const place of placesOf(caller, group)) grants.set(place, new Set([...(grants.get(place) ?? []), ...held]))
  }
  return grants
}

/** True if all of `needed` (v2 names) are granted at `uid`, each at `uid` or at any group above. */
export const holds = (grants: Grants, needed: readonly string[], uid: string): boolean => {
  const above = [EVERYWHERE, ...lineage(uid)].flatMap((at) => grants.get(at) ?? [])
  return needed.every((name) => above.some((held) => held.has(name)))
}

/** One capability, or several that are all required (semantics §2.2). */
export type Needed = Capability | readonly Capability[]

const namesOf = (needed: Needed): readonly string[] => (typeof needed === 'string' ? [needed] : needed).map(v2Name)

/** No group is above a user identity, so its owner may read it without a binding (ASSUMPTIONS.md, "Access"). */
const isOwnIdentity = (caller: Caller, needed: Needed, uid: string): boolean => needed === 'identity.list' && uid === caller.identityUid

/** True if the caller holds all of `needed` at `scopeUid`, through bindings there or at any group above. */
export const hasCapability = (world: World, caller: Caller, needed: Needed, scopeUid: string): boolean =>
  holds(grantsOf(world, caller), namesOf(needed), scopeUid) || isOwnIdentity(caller, needed, scopeUid)

/**
 * Throws PERMISSION_DENIED unless the caller holds all of `needed` at `scopeUid`. The check precedes any look-up, so a caller without
 * access cannot tell an existing uid from an unknown one (semantics §3.17).
 */
export const requireCapability = (world: World, caller: Caller, needed: Needed, scopeUid: string): void => {
  if (!hasCapability(world, caller, needed, scopeUid)) permissionDenied()
}

/** The groups where the caller holds all of `needed`. These groups and everything below them are visible. */
const placesWith = (grants: Grants, needed: readonly string[]): ReadonlySet<string> =>
  new Set([...grants.keys()].filter((group) => holds(grants, needed, group)))

/** True if the caller holds all of `needed` at any group. */
export const hasCapabilitySomewhere = (world: World, caller: Caller, needed: Needed): boolean =>
  placesWith(grantsOf(world, caller), namesOf(needed)).size > 0

/**
 * Returns a test for the rows of a list: true if the caller may see the row of that uid. It computes the groups once and remembers the
 * result for each parent, so 100,000 tags of one repo cost one look-up each.
 */
export const visible = (world: World, caller: Caller, needed: Needed): ((uid: string) => boolean) => {
  const places = placesWith(grantsOf(world, caller), namesOf(needed))
  const remembered = new Map([['', places.has('')]])
  const within = (group: string): boolean => {
    const known = remembered.get(group)
    if (known !== undefined) return known
    const answer = reached(group)
    remembered.set(group, answer)
    return answer
  }
  const reached = (uid: string): boolean => places.has(uid) || within(parentOf(uid))
  return (uid) => reached(uid) || isOwnIdentity(caller, needed, uid)
}

/** True for service staff, who hold `internal`. No customer role can carry it (semantics §2.4). */
export const isStaff = (world: World, caller: Caller): boolean => hasCapabilitySomewhere(world, caller, 'internal')
