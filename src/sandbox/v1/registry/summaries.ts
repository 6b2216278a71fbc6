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

/** The row that ranks highest; the first of equals, which in uid order is the one with the smallest uid. */
const highest = <R>(rows: readonly R[], rank: (row: R) => number): R | undefined =>
  rows.reduce<R | undefined>((best, row) => (best === undefined || rank(row) > rank(best) ? row : best), undefined)

/** The tag called latest, else the newest. */
const latestOf = (rows: readonly Tag[]): Tag | undefined =>
  rows.find(({ name }) => name === 'latest') ?? highest(rows, ({ updateTime }) => Date.parse(updateTime))

const MOVING = new Set(['latest', 'latest-dev'])

/** The longest other name of the image `latest` points to: its most precise version (facts §4.4). */
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

/** Two numbers a console shows about repos (facts §4.4). */
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
      // Every repo of every organization counts, not only those the caller may see.
      const count = world.store.repos.values().filter(({ sync_config }) => sync_config?.source === uid).length
      return encode({ count }, repoCount, world.options.v1Dialect)
    },
  },
]
