import { createKeptUses, emptyUse, type KeptUse, type RequestKind } from '../../migrate/clients.ts'
import { isDifference } from '../../migrate/evidence/evidence.ts'
import type { Caller, Comparison, TrafficEntry } from '../../migrate/records/record.ts'

/** What one client did at one operation, and the store was not told yet. */
export interface PendingUse {
  readonly nth: number
  readonly caller: string
  readonly operation: string
  subject: string | undefined
  /** Calls by mode and protocol, which share a key of two lines. */
  readonly calls: Map<string, number>
  firstSeen: number
  lastSeen: number
  mismatches: number
  /** Requests that were looked at, by the shape of their kind. */
  readonly samples: Map<string, number>
  /** Kinds that the store was not told of. */
  readonly kinds: RequestKind[]
  /** Requests of further kinds. */
  otherSamples: number
  /** Findings by kind, declaration and place, which share a key of three lines. */
  readonly places: Map<string, number>
}

/** Melts entries together. Memory is bounded by the clients that are told apart, and by what `KeptUses` keeps. */
export interface PendingUses {
  /** `time`: that of all replicas, in milliseconds since 1970. */
  traffic(nth: number, entry: TrafficEntry, time: number): void
  compared(nth: number, comparison: Comparison): void
  /** Hands over the oldest ones. */
  take(most: number): readonly PendingUse[]
  waiting(): number
  /** Forgets which kinds were told: they are told again with their next request. */
  forget(): void
}

export function createPendingUses(): PendingUses {
  const pending = new Map<string, PendingUse>()
  let kept = new Map<string, KeptUse>()
  let keptUses = createKeptUses()
  const useOf = (nth: number, { caller, subject }: Caller, operation: string) => {
    const key = `${nth}\n${caller}\n${operation}`
    const use = pending.get(key) ?? newUse(nth, caller, operation)
    const known = kept.get(key) ?? emptyUse()
    pending.set(key, use)
    kept.set(key, known)
    use.subject = subject ?? use.subject
    return [use, known] as const
  }
  return {
    traffic(nth, { mode, protocol = '', calls, requests = [], ...entry }, time) {
      const [use, known] = useOf(nth, entry, entry.operation)
      use.firstSeen = Math.min(use.firstSeen, time)
      use.lastSeen = Math.max(use.lastSeen, time)
      add(use.calls, `${mode}\n${protocol}`, calls)
      for (const { samples, ...kind } of requests) {
        const before = known.kinds.length
        keptUses.addKind(known, kind, samples)
        if (known.kinds.length > before) use.kinds.push(kind)
        if (known.kinds.some(({ shape }) => shape === kind.shape)) add(use.samples, kind.shape, samples)
        else use.otherSamples += samples
      }
    },
    compared(nth, comparison) {
      const isMismatch = isDifference(comparison.outcome)
      if (!isMismatch && comparison.outcome !== 'expected') return
      const [use, known] = useOf(nth, comparison, comparison.operation)
      if (isMismatch) use.mismatches += 1
      keptUses.addDifferences(known, comparison)
      for (const { kind, where, code, count, noise } of comparison.totals) {
        const isKept = known.places.some((place) => place.kind === kind && place.where === where && place.code === code)
        if (isKept && !noise) add(use.places, `${kind}\n${code ?? ''}\n${where}`, count)
      }
    },
    take(most) {
      const taken = [...pending].slice(0, most)
      for (const [key] of taken) pending.delete(key)
      return taken.map(([, use]) => use)
    },
    waiting: () => pending.size,
    forget() {
      kept = new Map()
      keptUses = createKeptUses()
    },
  }
}

function newUse(nth: number, caller: string, operation: string): PendingUse {
  return {
    ...{ nth, caller, operation, subject: undefined, calls: new Map(), firstSeen: Number.POSITIVE_INFINITY, lastSeen: 0, mismatches: 0 },
    ...{ samples: new Map(), kinds: [], otherSamples: 0, places: new Map() },
  }
}

function add(counts: Map<string, number>, key: string, count: number): void {
  counts.set(key, (counts.get(key) ?? 0) + count)
}
