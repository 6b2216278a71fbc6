import type { Inventory } from '../../migrate/clients.ts'
import { type DeclarationReport, type ExpectedDifferences, withCounts } from '../../migrate/compare/expected.ts'
import type { CountedTraffic } from '../../migrate/migration.ts'
import type { Sums } from '../../store/store-change.ts'
import { fieldOf } from './evidence-names.ts'

/** Finds what counters have grown by. */
export interface Counters {
  /** Returns the growth since the last call. What the first call finds was counted in earlier lives: only a store that is new is told of it. */
  grown(): Sums
}

export function createCounters(read: () => Sums, isNewStore = false): Counters {
  let known: Sums | undefined = isNewStore ? {} : undefined
  return {
    grown() {
      const before = known ?? read()
      known = read()
      const more = Object.entries(known).map(([field, count]) => [field, count - (before[field] ?? 0)] as const)
      return Object.fromEntries(more.filter(([, count]) => count > 0))
    },
  }
}

/** Calls by operation, as the sums of a fleet hold them. */
export function trafficSums({ traffic, strangers, uncounted }: Pick<Inventory, 'traffic' | 'strangers' | 'uncounted'>): Sums {
  const fields = (what: string, calls: ReadonlyMap<string, number>) =>
    [...calls].map(([use, count]) => [fieldOf(what, use), count] as const)
  return Object.fromEntries([...fields('calls', traffic()), ...fields('strangers', strangers()), [UNCOUNTED, uncounted()]])
}

export function trafficIn(sums: Sums): CountedTraffic {
  const ofKind = (what: string) => {
    const start = fieldOf(what, '')
    const found = Object.entries(sums).filter(([field]) => field.startsWith(start))
    return Object.fromEntries(found.map(([field, count]) => [field.slice(start.length), count]))
  }
  return { traffic: ofKind('calls'), strangers: ofKind('strangers'), uncounted: sums[UNCOUNTED] ?? 0 }
}

/** The field of calls of clients beyond those that are told apart. */
export const UNCOUNTED = 'uncounted'

/** What declared differences explained, likewise. */
export function declaredSums({ report }: Pick<ExpectedDifferences, 'report'>): Sums {
  const rows = report().flatMap(({ code, findings, comparisons }) => [
    [fieldOf('findings', code), findings] as const,
    [fieldOf('comparisons', code), comparisons] as const,
  ])
  return Object.fromEntries(rows)
}

/** Returns the rows of one replica with the counts of all. */
export function declaredIn(sums: Sums, rows: readonly DeclarationReport[]): readonly DeclarationReport[] {
  const count = (what: string, code: string) => sums[fieldOf(what, code)] ?? 0
  return rows.map((row) => withCounts(row, { findings: count('findings', row.code), comparisons: count('comparisons', row.code) }))
}
