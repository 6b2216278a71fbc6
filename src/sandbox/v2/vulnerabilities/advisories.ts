import { requireCapability } from '../../auth/rights/authorize.ts'
import type { Route } from '../../http/route.ts'
import { notFound } from '../../status.ts'
import type { Advisory } from '../../world/advisory-model.ts'
import { getRoute, listRoute } from '../reads.ts'
import type { Act, Resource } from '../resource.ts'
import { advisoryFilters, readWish } from './advisory-filters.ts'
import { advisoryMessage } from './advisory-message.ts'

const readable = ({ world, caller }: Act, uid: string): void => {
  requireCapability(world, caller, 'advisories.list', uid)
  if (world.store.advisories.get(uid)?.deleteTime !== undefined) notFound('vulnerabilities.Advisory', uid)
}

/** Advisories are read-only in v2 (specification §1, §4; semantics §3.13). */
export const advisories: Resource<Advisory> = {
  type: 'vulnerabilities.Advisory',
  message: advisoryMessage,
  path: '/vulnerabilities/v2/advisories',
  plural: 'advisories',
  table: (store) => store.advisories,
  capabilities: { list: 'advisories.list' },
  parent: { type: 'iam.Group', table: (store) => store.groups },
  sortable: {
    advisory_id: ({ advisoryId }) => advisoryId,
    artifact_name: ({ artifactName }) => artifactName,
    aliases: (row) => row.aliases.join(','),
    deleted_at: ({ deleteTime }) => deleteTime ?? '',
  },
  filters: (query) => advisoryFilters(readWish(query)),
  readable,
}

/** Everything below `/vulnerabilities/v2`. */
export const vulnerabilityRoutes: readonly Route[] = [listRoute(advisories), getRoute(advisories)]
