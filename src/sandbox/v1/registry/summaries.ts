import { requireCapability } from '../../auth/rights/authorize.ts'
import { readQuery } from '../../http/query.ts'
import { callerOf } from '../../http/route.ts'
import { readUidp, selectRows } from '../../lists/filter.ts'
import { uidParam } from '../../v2/reads.ts'
import type { Tag } from '../../world/registry-model.ts'
import { encode } from '../encode.ts'
import { repoCount } from '../messages/repos.ts'
import { tagsSummary } from '../messages/tags.ts'
import type { Operation } from '../operation.ts'
import { tagFilters } from './tag-filters.ts'

/** The row with the highest rank. Among equals, which are in uid order, the one with the smallest uid. */
const highest = <R>(rows: readonly R[], rank: (row: R) => number): R | undefined =>
  rows.reduce<R | undefined>((best, row) => (best === undefined || rank(row) > rank(best) ? row : best), undefined)

/** The tag named latest, otherwise the newest tag. */
const latestOf = (rows: readonly Tag[]): Tag | undefined =>
  rows.find(({ name }) => name === 'latest') ?? highest(rows, ({ updateTime }) => Date.parse(updateTime))

const MOVING = new Set(['latest', 'latest-dev'])

/** The longest other name of the image behind `latest`: its most precise version (facts §4.4). */
function versionOf(latest: Tag | undefined, rows: readonly Tag[]): string {
  const others = rows.filter(({ uid, name, digest }) => uid !== latest?.uid && digest === latest?.digest && !MOVING.has(name))
  return highest(others, ({ name }) => name.length)?.name ?? ''
}

function summaryOf(uid: string, rows: readonly Tag[]) {
  const latestTag = latestOf(rows)
  return {
    id: uid,
    tagCount: rows.length,
    lastUpdated: highest(rows, ({ updateTime }) => Date.parse(updateTime))?.updateTime,
    latestTag,
    latestVersion: versionOf(latestTag, rows),
  }
}

/** Two summaries of repos for a console (facts §4.4). */
export const summaryOperations: readonly Operation[] = [
  {
    method: 'GET',
    template: '/registry/v1/repotagssummary/{repo_id=**}',
    answer: (ask, world) => {
      const uid = uidParam(ask, 'repo_id')
      requireCapability(world, callerOf(ask), 'tag.list', uid)
      const childrenOf = readUidp(readQuery([['uidp.children_of', uid]]))
      const rows = selectRows(world.store.tags, childrenOf, tagFilters(ask.query))
      return encode(summaryOf(uid, rows), tagsSummary, world.options.v1Dialect)
    },
  },
  {
    method: 'GET',
    template: '/registry/v1/repocountbysource/{id=**}',
    answer: (ask, world) => {
      const uid = uidParam(ask, 'id')
      requireCapability(world, callerOf(ask), 'repo.list', uid)
      // Counts every repo of every organization, not only visible ones.
      const count = world.store.repos.values().filter(({ sync_config }) => sync_config?.source === uid).length
      return encode({ count }, repoCount, world.options.v1Dialect)
    },
  },
]
