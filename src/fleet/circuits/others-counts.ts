import type { Circuit, Rate } from '../../migrate/evidence/circuit.ts'
import type { Sample } from '../../migrate/evidence/evidence.ts'
import type { CircuitTeller } from '../../migrate/modes/journal.ts'
import type { Sums } from '../../store/store-change.ts'
import type { Fleet } from '../fleet.ts'
import { type Part, reading } from '../part.ts'

/** Lets each replica count for its circuits what the others see of v2. */
export interface OthersCounts extends Part {
  /** Is told of each bad observation of this replica. */
  bad(): void
}

interface CountsParts {
  readonly circuit: Pick<Circuit, 'own'>
  readonly heard: CircuitTeller['heard']
  /** The version of the modes in force. */
  readonly version: () => number
  readonly fleet: Pick<Fleet, 'soon' | 'urgent'>
  /** Milliseconds of a monotonic clock. */
  readonly ticks: () => number
}

/** Milliseconds since the last bad observation of any replica in which all replicas exchange their counts at the shortest distance. */
const ALERT_MS = 10_000

/**
 * Milliseconds for which the counts of others wait when a bad observation ends a calm time. What the others saw in that time then counts
 * too. It is longer than the way of a count while all are alert: 100 ms to the store, 100 ms from it.
 */
const HELD_MS = 300

interface Held extends Sample {
  readonly operation: string
  readonly rate: Rate
}

/**
 * Shares the sums of what all replicas saw in the present version of the modes. What the others saw is the sum without what this replica
 * has handed over.
 */
export function createOthersCounts({ circuit, heard, version, fleet, ticks }: CountsParts): OthersCounts {
  let current = version()
  const observed = createObserved(circuit)
  /** What this replica has handed over, and what it has heard of the others, by field. */
  const handed = new Map<string, number>()
  let known: ReadonlyMap<string, number> | undefined
  let alertUntil = Number.NEGATIVE_INFINITY
  let heldUntil = Number.NEGATIVE_INFINITY
  let held: readonly Held[] = []
  const isAlert = () => ticks() < alertUntil
  const alert = () => {
    if (!isAlert()) heldUntil = ticks() + HELD_MS
    alertUntil = ticks() + ALERT_MS
  }
  const release = () => {
    if (ticks() < heldUntil) return
    for (const { operation, rate, n, bad } of held) heard(operation, rate, { n, bad })
    held = []
  }
  const take = (sums: Readonly<Record<string, number>>) => {
    const others = new Map(Object.entries(sums).map(([field, count]) => [field, count - (handed.get(field) ?? 0)]))
    const before = known
    known = others
    // What was seen before this process began has had its effect.
    if (!before) return
    const more = newIn(others, before)
    if (more.some(({ bad }) => bad > 0)) alert()
    held = [...held, ...more]
    release()
  }
  let sums = reading('sums', nameOf(current), take)
  const follow = () => {
    if (version() === current) return
    current = version()
    handed.clear()
    known = new Map()
    held = []
    sums = reading('sums', nameOf(current), take)
  }
  return {
    changes() {
      follow()
      release()
      if (isAlert()) fleet.soon()
      const own = observed.more()
      for (const [field, count] of Object.entries(own)) handed.set(field, (handed.get(field) ?? 0) + count)
      return Object.keys(own).length > 0 ? [{ kind: 'add', name: nameOf(current), sums: own }] : []
    },
    readings() {
      follow()
      return [sums]
    },
    bad() {
      const tell = isAlert() ? fleet.soon : fleet.urgent
      alert()
      tell()
    },
  }
}

function nameOf(version: number): string {
  return `seen:${version}`
}

/** Returns what has been added since, by operation and rate. Of a store that came back empty there is nothing new. */
function newIn(others: ReadonlyMap<string, number>, before: ReadonlyMap<string, number>): readonly Held[] {
  const found = new Map<string, Held>()
  for (const [field, count] of others) {
    const [operation = '', rate, kind] = field.split(' ') as [string, Rate, string]
    const more = Math.max(0, count - (before.get(field) ?? 0))
    const { n, bad } = found.get(`${operation} ${rate}`) ?? { n: 0, bad: 0 }
    if (more > 0) found.set(`${operation} ${rate}`, { operation, rate, n: n + more, bad: kind === 'bad' ? bad + more : bad })
  }
  return [...found.values()]
}

/** Tells what this replica observed since it was last asked, by `operation rate clean` and `operation rate bad`. */
function createObserved(circuit: Pick<Circuit, 'own'>): { readonly more: () => Sums } {
  let before: ReturnType<Circuit['own']> = new Map()
  return {
    more() {
      const now = circuit.own()
      const sums: Record<string, number> = {}
      for (const [operation, rates] of now) {
        for (const rate of RATES) {
          const { n, bad } = since(before.get(operation)?.[rate], rates[rate])
          if (n > bad) sums[`${operation} ${rate} clean`] = n - bad
          if (bad > 0) sums[`${operation} ${rate} bad`] = bad
        }
      }
      before = now
      return sums
    },
  }
}

const RATES: readonly Rate[] = ['errors', 'mismatches']

/** A circuit that was closed counts from the beginning. */
function since(before: Sample | undefined, now: Sample): Sample {
  return before && before.n <= now.n ? { n: now.n - before.n, bad: now.bad - before.bad } : now
}
