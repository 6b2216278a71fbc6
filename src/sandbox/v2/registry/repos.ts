import type { Route } from '../../http/route.ts'
import { equals } from '../../lists/filter.ts'
import { alreadyExists } from '../../status.ts'
import type { Repo } from '../../world/registry-model.ts'
import { parentOf } from '../../world/uid.ts'
import type { World } from '../../world/world.ts'
import { getRoute, listRoute } from '../reads.ts'
import type { Resource } from '../resource.ts'
import { createRoute, deleteRoute, updateRoute } from '../writes.ts'
import { repoMessage } from './repo-message.ts'
import { inheritedViolations, settleSync, sourceViolations } from './sync.ts'

const refuseTakenName = (row: Repo, world: World): void => {
  const siblings = world.store.repos.named(parentOf(row.uid), row.name)
  if (siblings.some(({ uid }) => uid !== row.uid)) alreadyExists('registry.Repo', row.name)
}

/** Deletes everything stored for a repo with it (semantics §3.10). */
const removeContents = ({ uid }: Repo, { store }: World): void => {
  for (const tag of store.tags.below(uid)) store.tags.delete(tag.uid)
  for (const image of imagesOf(store, uid)) store.images.delete(image.uid)
  store.readmes.delete(uid)
}

const imagesOf = (store: World['store'], repo: string) => store.images.values().filter((image) => image.uid.startsWith(`${repo}@`))

/** Repos (specification §2, §4; semantics §3.10). */
export const repos: Resource<Repo> = {
  type: 'registry.Repo',
  message: repoMessage,
  path: '/registry/v2/repos',
  plural: 'repos',
  table: (store) => store.repos,
  capabilities: { list: 'repo.list', create: 'repo.create', update: 'repo.update', delete: 'repo.delete' },
  parent: { type: 'iam.Group', table: (store) => store.groups },
  sortable: { name: ({ name }) => name },
  filters: (query) => equals(query, 'name', ({ name }) => name),
  checkCreate: (row, act) => {
    refuseTakenName(row, act.world)
    const source = sourceViolations(row, undefined, act)
    return source.length > 0 ? source : inheritedViolations(row, undefined, act, act.parent)
  },
  checkUpdate: (row, act) => {
    refuseTakenName(row, act.world)
    const source = sourceViolations(row, act.previous, act)
    return source.length > 0 ? source : inheritedViolations(row, act.previous, act, row.uid)
  },
  prepare: (row, { world }) => settleSync(row, undefined, world),
  revise: (row, { world, previous }) => settleSync(row, previous, world),
  cascade: removeContents,
}

export const repoRoutes: readonly Route[] = [listRoute(repos), getRoute(repos), createRoute(repos), updateRoute(repos), deleteRoute(repos)]
