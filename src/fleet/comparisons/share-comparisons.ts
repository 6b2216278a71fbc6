import type { Migration } from '../../migrate/migration.ts'
import type { Fleet } from '../fleet.ts'
import type { FleetClocks } from '../fleet-clocks.ts'
import { type ComparisonsPart, createComparisonsPart } from './comparisons-part.ts'

/** Shares the last comparisons with a difference with the fleet. `memory` of those of others are kept here. */
export function shareComparisons(
  { counting, follow }: Pick<Migration, 'counting' | 'follow'>,
  { id, store, soon, add }: Pick<Fleet, 'id' | 'store' | 'soon' | 'add'>,
  { now }: Pick<FleetClocks, 'now'>,
  memory: number,
): ComparisonsPart {
  const part = createComparisonsPart({ id, store, memory, soon, now })
  follow(part.know)
  counting.followOwn(part.entry)
  add(part)
  return part
}
