import type { Comparison, Entry } from '../../migrate/records/record.ts'
import { type ComparisonQuery, createRing } from '../../migrate/records/record-file.ts'
import type { LogItem, Store } from '../../store/store.ts'
import { type Part, reading } from '../part.ts'
import { comparisonIn, textOfComparison } from './comparison-text.ts'

/** The last comparisons with a difference of all replicas, as far as they are shared. */
export interface ComparisonsPart extends Part {
  /** Takes an entry that is recorded here now. */
  entry(entry: Entry): void
  /** Takes an entry that is known here, now or from an earlier life. */
  know(entry: Entry): void
  /** Reads what other replicas have shared since the last call. Rejects as `Store.read` does. */
  read(): Promise<void>
  /** Is called for each comparison of another replica that was read. */
  onRead(listener: (comparison: Comparison) => void): void
  /** Returns the last ones of other replicas, newest first. */
  others(query: ComparisonQuery): readonly Comparison[]
}

interface ComparisonsSources {
  /** This replica. */
  readonly id: string
  readonly store: Pick<Store, 'read'>
  /** Comparisons of others that are kept here. */
  readonly memory: number
  /** Asks for an exchange. */
  readonly soon: () => void
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Comparisons that the store keeps, and those of one replica that wait while the store does not answer. */
export const KEPT_COMPARISONS = 1000

/** Maximum comparisons of a replica in a minute that differ in the same way, so that a frequent one leaves room for a rare one. */
export const MOST_ALIKE = 10

/** Own ones that are told again if the store loses them. */
const REPEATED = 100

const MINUTE = 60_000

const NAME = 'comparisons'

export function createComparisonsPart({ id, store, memory, soon, now }: ComparisonsSources): ComparisonsPart {
  const listeners: ((comparison: Comparison) => void)[] = []
  const ring = createRing<Comparison>(memory)
  const waiting: string[] = []
  const told: string[] = []
  const known = createKnownIds(4 * KEPT_COMPARISONS)
  const isRare = createRarity(now)
  const take = ({ replica, text }: LogItem) => {
    const comparison = comparisonIn(text)
    if (!comparison || replica === id || !known.isNew(comparison.id)) return
    ring.add(comparison)
    for (const listener of listeners) listener(comparison)
  }
  const log = reading('log', NAME, (items) => {
    for (const item of items) take(item)
  })
  return {
    entry(entry) {
      if (entry.kind !== 'comparison' || entry.outcome === 'match') return
      const text = isRare(entry) ? textOfComparison(entry) : undefined
      if (text === undefined) return
      waiting.push(text)
      if (waiting.length > KEPT_COMPARISONS) waiting.shift()
      soon()
    },
    know(entry) {
      if (entry.kind === 'comparison' && entry.outcome !== 'match') known.isNew(entry.id)
    },
    changes() {
      const handed = waiting.splice(0, REPEATED)
      told.push(...handed)
      told.splice(0, told.length - REPEATED)
      return handed.map((text) => ({ kind: 'log', name: NAME, text, items: KEPT_COMPARISONS }))
    },
    readings: () => [],
    lost() {
      waiting.unshift(...told.splice(0))
    },
    async read() {
      const [found] = await store.read([log.read])
      log.take(found)
    },
    onRead: (listener) => void listeners.push(listener),
    others: ({ operation, limit }) => ring.last(limit, (one) => operation === undefined || one.operation === operation),
  }
}

/** Remembers the last ids. */
function createKnownIds(most: number) {
  const ids = new Set<string>()
  return {
    /** Returns true if the id was not there, and remembers it. */
    isNew(id: string): boolean {
      if (ids.has(id)) return false
      ids.add(id)
      if (ids.size > most) ids.delete(ids.values().next().value ?? '')
      return true
    },
  }
}

/** Returns true for the first comparisons of a minute that differ in one way. */
function createRarity(now: () => number): (comparison: Comparison) => boolean {
  let minute = 0
  let alike = new Map<string, number>()
  return ({ operation, outcome, reason, totals: [first] }) => {
    const current = Math.floor(now() / MINUTE)
    if (current !== minute) alike = new Map()
    minute = current
    const way = [operation, outcome, first ? `${first.kind} ${first.where}` : reason].join('\n')
    const times = (alike.get(way) ?? 0) + 1
    alike.set(way, times)
    return times <= MOST_ALIKE
  }
}
