import { type Needed, visible } from '../auth/rights/authorize.ts'
import type { Caller } from '../caller.ts'
import type { Repo } from '../world/registry-model.ts'
import { rootOf } from '../world/uid.ts'
import type { World } from '../world/world.ts'

/** Finds a repo by uid, `name`, `organization/name` or `cgr.dev/organization/name` among those where the caller holds `needed`. */
export const repoNamed = (world: World, caller: Caller, needed: Needed, text: string): Repo | undefined => {
  const inReach = visible(world, caller, needed)
  const parts = text.replace(/^cgr\.dev\//, '').split('/')
  const [name, organization] = [parts.at(-1), parts.length > 1 ? parts[0] : undefined]
  const isIn = (uid: string): boolean => organization === undefined || world.store.groups.get(rootOf(uid))?.name === organization
  return world.store.repos.values().find((row) => inReach(row.uid) && (row.uid === text || (row.name === name && isIn(row.uid))))
}
