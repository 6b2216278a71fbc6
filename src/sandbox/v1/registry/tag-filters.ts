import type { Filter } from '../../filter.ts'
import { type Query, readQuery } from '../../http/query.ts'
import type { Tag } from '../../model.ts'
import { tags } from '../../v2/registry/tags.ts'

/** v1 leaves out what it is told to exclude; the service's own filters leave out what they are not told to include (facts §4.2). */
const inverted = [
  ['exclude_referrers', 'include_referrers'],
  ['exclude_dates', 'include_dates'],
  ['exclude_epochs', 'include_epochs'],
] as const

type Exclusion = (typeof inverted)[number][0]

const passedOn = new Set(['name', 'digest', 'updated_since', 'updatedSince'])

/** The filters of a list of tags, with `always` excluded whatever the query says. */
export function tagFilters(query: Query, always?: Exclusion): readonly Filter<Tag>[] {
  const same = query.pairs.filter(([key]) => passedOn.has(key))
  const included = inverted.map(([exclude, include]) => [include, String(exclude !== always && !query.flag(exclude))] as const)
  return tags.filters?.(readQuery([...same, ...included])) ?? []
}
