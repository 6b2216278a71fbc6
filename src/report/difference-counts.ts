import type { Comparison } from '../migrate/records/record.ts'
import type { Difference } from './difference.ts'
import { type Sighting, sightingsOf } from './difference-of.ts'
import { createExamples, type Examples } from './examples.ts'
import { createSteps, type Steps } from './steps.ts'

/** The differences of every operation, counted one comparison at a time. */
export interface Differences {
  add(comparison: Comparison, at: number): void
  of(operation: string): { readonly differences: readonly Difference[]; readonly further: number }
}

/** Maximum differences of one operation that are told apart. */
const MOST = 200

/** Maximum callers of one difference that are told apart. */
const CALLERS = 1_000

interface Group extends Pick<Difference, 'key' | 'state' | 'kind' | 'where' | 'code'> {
  findings: number
  comparisons: number
  readonly callers: Set<string>
  readonly firstAt: number
  lastAt: number
}

interface Store {
  readonly steps: Steps<'comparisons'>
  readonly examples: Examples
}

export function createDifferences(): Differences {
  const operations = new Map<string, { readonly groups: Map<string, Group>; further: number }>()
  const store: Store = { steps: createSteps(), examples: createExamples() }
  return {
    add(comparison, at) {
      const known = operations.get(comparison.operation) ?? { groups: new Map<string, Group>(), further: 0 }
      operations.set(comparison.operation, known)
      for (const sighting of sightingsOf(comparison)) {
        const group = known.groups.get(sighting.key) ?? (known.groups.size < MOST ? newGroup(sighting, at) : undefined)
        if (!group) {
          known.further += 1
          continue
        }
        known.groups.set(sighting.key, group)
        count(group, sighting, comparison, at)
        keep(store, comparison.operation, sighting, at)
      }
    },
    of(operation) {
      const { groups, further } = operations.get(operation) ?? { groups: new Map<string, Group>(), further: 0 }
      return { differences: [...groups.values()].map((group) => differenceOf(operation, group, store)).sort(worstFirst), further }
    },
  }
}

function newGroup({ key, state, kind, where, code }: Sighting, at: number): Group {
  const label = { key, state, kind, where, ...(code !== undefined && { code }) }
  return { ...label, findings: 0, comparisons: 0, callers: new Set(), firstAt: at, lastAt: at }
}

function count(group: Group, { findings }: Sighting, { caller }: Comparison, at: number): void {
  group.findings += findings
  group.comparisons += 1
  group.lastAt = Math.max(group.lastAt, at)
  if (group.callers.size < CALLERS) group.callers.add(caller)
}

function keep({ steps, examples }: Store, operation: string, { key, example }: Sighting, at: number): void {
  steps.count(nameOf(operation, key), at, 'comparisons')
  if (example) examples.add(nameOf(operation, key), example)
}

function differenceOf(operation: string, { callers, ...group }: Group, { steps, examples }: Store): Difference {
  const name = nameOf(operation, group.key)
  return {
    ...group,
    callers: callers.size,
    steps: steps.of(name).map(({ at, counts }) => [at, counts.comparisons ?? 0] as const),
    examples: examples.of(name),
  }
}

function nameOf(operation: string, key: string): string {
  return `${operation}\n${key}`
}

const RANKS: readonly Difference['state'][] = ['unexplained', 'failed', 'transient', 'open', 'race', 'noise', 'declared']

function worstFirst(a: Difference, b: Difference): number {
  return RANKS.indexOf(a.state) - RANKS.indexOf(b.state) || b.comparisons - a.comparisons
}
