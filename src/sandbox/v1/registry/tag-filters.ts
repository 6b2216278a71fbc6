import { snakeCase } from '../../http/case.ts'
import { type Query, readQuery } from '../../http/query.ts'
import type { Filter } from '../../lists/filter.ts'
import { tags } from '../../v2/registry/tags.ts'
import type { Tag } from '../../world/registry-model.ts'

/** v1 omits what a parameter excludes; the service's own filters omit what no parameter includes (facts §4.2). */
const inverted = [
  ['exclude_referrers', 'include_referrers'],
  ['exclude_dates', 'include_dates'],
  ['exclude_epochs', 'include_epochs'],
] as const

/** The filters of a read of tags that accepts the parameters `known` beside the three exclusions. v1 ignores all others. */
export function tagFilters(query: Query, ...known: readonly ('name' | 'digest' | 'updated_since')[]): readonly Filter<Tag>[] {
  const names: readonly string[] = known
  const same = query.pairs.filter(([key]) => names.includes(snakeCase(key)))
  const included = inverted.map(([exclude, include]) => [include, String(!query.flag(exclude))] as const)
  return tags.filters?.(readQuery([...same, ...included])) ?? []
}
