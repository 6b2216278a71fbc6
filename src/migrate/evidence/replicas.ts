import type { ClientUses, Counted, RolloutOutlook } from './cutover.ts'
import { figuresOf, type OperationEvidence } from './evidence.ts'
import { type AskedUse, joinedKinds, joinedUse } from './kinds.ts'

/** What one proxy knows of a migration. */
export interface Replica {
  readonly evidence: readonly OperationEvidence[]
  /** v1 requests by operation id. */
  readonly traffic: Readonly<Record<string, number>>
  /** Requests by operation id whose credential no service accepted. */
  readonly strangers: Readonly<Record<string, number>>
  readonly clients: readonly ClientUses[]
  /** Calls of clients that are not told apart. */
  readonly uncounted: number
  /** Why each open circuit opened, by operation id. */
  readonly openCircuits: Readonly<Record<string, string>>
  readonly rollouts: readonly RolloutOutlook[]
}

/** What several proxies know together. */
export interface Replicas extends Pick<Counted, 'evidence' | 'traffic' | 'strangers'> {
  readonly clients: readonly ClientUses[]
  readonly openCircuits: ReadonlyMap<string, string>
  /** Every replica runs its own. */
  readonly rollouts: readonly RolloutOutlook[]
  /** Operations with clients that more than one replica saw, or may have seen. */
  readonly shared: readonly string[]
}

/**
 * Adds what several replicas counted.
 *
 * One replica counts identical requests of a client within ten minutes once. Two replicas that the same client reaches count them twice,
 * and nobody can tell from counts how often that was. So the clean observations of an operation are added only if no client of it reached
 * two replicas. Otherwise those of the replica with the most stand for all: the evidence then grows too slowly, but never too fast.
 * Observations against v2 are always added.
 */
export function joinReplicas(replicas: readonly Replica[]): Replicas {
  const operations = [...new Set(replicas.flatMap(({ evidence }) => evidence.map(({ operation }) => operation)))].sort()
  const shared = operations.filter((operation) => isShared(operation, replicas))
  return {
    evidence: operations.map((operation) => {
      const parts = replicas.flatMap(({ evidence }) => evidence.filter((one) => one.operation === operation))
      return joined(parts, shared.includes(operation))
    }),
    traffic: sums(replicas.map(({ traffic }) => Object.entries(traffic))),
    strangers: sums(replicas.map(({ strangers }) => Object.entries(strangers))),
    clients: joinedClients(replicas),
    openCircuits: new Map(replicas.flatMap((one) => Object.entries(one.openCircuits))),
    rollouts: replicas.flatMap(({ rollouts }) => rollouts),
    shared,
  }
}

function isShared(operation: string, replicas: readonly Replica[]): boolean {
  const seen = replicas.filter(({ evidence }) => evidence.some((one) => one.operation === operation))
  if (seen.length < 2) return false
  if (replicas.some(({ uncounted }) => uncounted > 0)) return true
  const callers = seen.flatMap(({ clients }) => clients.filter(({ operations }) => operations.some((one) => one.operation === operation)))
  return new Set(callers.map(({ caller }) => caller)).size < callers.length
}

type CountedFigure = 'comparisons' | 'races' | 'inconclusive' | 'mismatches' | 'transients' | 'errors' | 'bad'
type Clean = 'matches' | 'expected' | 'noise' | 'n'

function joined([first, ...others]: readonly OperationEvidence[], isShared: boolean): OperationEvidence {
  // At least one replica has seen the operation.
  const all = [first as OperationEvidence, ...others]
  const most = all.reduce((best, one) => (clean(one) > clean(best) ? one : best))
  const counted = isShared ? [most] : all
  const sum = (name: CountedFigure | Clean, of: readonly OperationEvidence[] = all) => of.reduce((total, one) => total + one[name], 0)
  const bad = sum('bad')
  const repeats = (name: 'n' | 'bad' | 'requests' | 'wrong') => all.reduce((total, one) => total + one.repeats[name], 0)
  const perDay = counted.reduce((total, one) => total + (one.perDay ?? 0), 0)
  return {
    operation: most.operation,
    comparisons: sum('comparisons'),
    ...figuresOf({
      n: counted.reduce((total, one) => total + clean(one), bad),
      bad,
      repeats: { n: repeats('n'), bad: repeats('bad'), requests: repeats('requests'), wrong: repeats('wrong') },
    }),
    ...{ matches: sum('matches', counted), expected: sum('expected', counted), noise: sum('noise', counted), races: sum('races') },
    ...{ mismatches: sum('mismatches'), transients: sum('transients'), errors: sum('errors'), inconclusive: sum('inconclusive') },
    // Distinct ones in all: at least as many as one replica saw. Clients that reach one replica each are all distinct.
    callers: isShared ? Math.max(...all.map(({ callers }) => callers)) : all.reduce((total, { callers }) => total + callers, 0),
    shapes: Math.max(...all.map(({ shapes }) => shapes)),
    kinds: joinedKinds(all, isShared),
    ...(perDay > 0 && { perDay }),
    // A proxy of an older version has neither.
    uncompared: Object.fromEntries(sums(all.map(({ uncompared }) => Object.entries(uncompared ?? {})))),
    booked: Object.fromEntries(sums(all.map(({ booked }) => Object.entries(booked ?? {})))),
    firstAt: Math.min(...all.map(({ firstAt }) => firstAt)),
    lastAt: Math.max(...all.map(({ lastAt }) => lastAt)),
  }
}

function clean({ n, bad }: OperationEvidence): number {
  return n - bad
}

function joinedClients(replicas: readonly Replica[]): readonly ClientUses[] {
  const known = new Map<string, { subject: string | undefined; name: string | undefined; readonly uses: Map<string, AskedUse> }>()
  for (const { caller, subject, name, operations } of replicas.flatMap(({ clients }) => clients)) {
    const client = known.get(caller) ?? { subject: undefined, name: undefined, uses: new Map<string, AskedUse>() }
    known.set(caller, client)
    client.subject ??= subject
    client.name ??= name
    for (const use of operations) client.uses.set(use.operation, joinedUse(client.uses.get(use.operation), use))
  }
  return [...known].map(([caller, { subject, name, uses }]) => ({
    caller,
    ...(subject !== undefined && { subject }),
    ...(name !== undefined && { name }),
    operations: [...uses.values()],
  }))
}

function sums(counts: readonly (readonly (readonly [string, number])[])[]): ReadonlyMap<string, number> {
  const total = new Map<string, number>()
  for (const [name, count] of counts.flat()) total.set(name, (total.get(name) ?? 0) + count)
  return total
}
