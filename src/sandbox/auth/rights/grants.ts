import type { Caller } from '../../caller.ts'
import type { ExternalGroupRoleMapping, RoleBinding } from '../../world/iam-model.ts'
import { isAtOrBelow, lineage, parentOf } from '../../world/uid.ts'
import type { World } from '../../world/world.ts'
import type { Session, SessionCaller } from '../provider-login.ts'
import { capabilities, capabilityByV1 } from './capabilities.ts'

/** Group uid → v2 names of the capabilities granted there and below. The key `EVERYWHERE` is above every root. */
export type Grants = ReadonlyMap<string, ReadonlySet<string>>

const EVERYWHERE = ''

/** The effect of one binding: the capabilities of a role at a group. */
type Grant = { readonly group: string; readonly capabilities: readonly string[] }

/** Rebuilt only after a write of a binding, so a list of 100,000 rows builds it once. */
const bindingsByIdentity = (world: World): ReadonlyMap<string, readonly RoleBinding[]> =>
  world.store.roleBindings.derived('by identity', () => {
    const found = new Map<string, RoleBinding[]>()
    for (const row of world.store.roleBindings.values()) {
      const rows = found.get(row.identityUid)
      if (rows) rows.push(row)
      else found.set(row.identityUid, [row])
    }
    return found
  })

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
