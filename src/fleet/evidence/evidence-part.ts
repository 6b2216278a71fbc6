import { COLLAPSE, type OperationTally, WEIGHTS } from '../../migrate/evidence/evidence.ts'
import type { Entry } from '../../migrate/records/record.ts'
import type { StoreChange, Sums } from '../../store/store-change.ts'
import type { Part } from '../part.ts'
import { sharedTimeOf } from '../store-clock.ts'
import { createCounters } from './counters.ts'
import { changesIfLost, evidenceChanges, type TimedObservation, tallyChanges } from './evidence-changes.ts'
import { type EvidenceNames, fieldOf } from './evidence-names.ts'
import { createTold } from './lately-told.ts'
import { mergedChanges } from './merged-changes.ts'
import type { RestoredEvidence } from './restored.ts'
import { createWaiting } from './waiting.ts'

/** Tells the store what this replica counts. */
export interface EvidencePart extends Part {
  /** Takes an entry that is recorded now. */
  entry(entry: Entry): void
  /** Takes what was counted without a record of its own. */
  tally(operation: string, tally: OperationTally): void
  /** What comes from now on belongs to another epoch. */
  begin(names: EvidenceNames): void
}

interface EvidenceSources {
  readonly replica: string
  readonly names: EvidenceNames
  /** Counters of this process, which only grow. */
  readonly counters: { readonly traffic: () => Sums; readonly declared: () => Sums }
  /** Given if the store is new, and ends with its process. */
  readonly restored?: Pick<RestoredEvidence, 'changes'> | undefined
  /** Age of the oldest comparison under way, in milliseconds. */
  readonly oldestMs: () => number | undefined
  /** Asks for an exchange. */
  readonly soon: () => void
  /** Milliseconds since 1970, by the clock of this replica, which entries go by, and by that of the store. */
  readonly now: () => number
  readonly time: () => number
  /** Maximum observations that wait for the store. */
  readonly most?: number
}

/** Maximum observations of one batch: the store does nothing else meanwhile. */
const MOST_AT_ONCE = 500

interface Waiting extends TimedObservation {
  readonly names: EvidenceNames
}

export function createEvidencePart(sources: EvidenceSources): EvidencePart {
  const { replica, counters, restored, soon, now, time } = sources
  let { names } = sources
  const waiting = createWaiting<Waiting>(sources.most)
  const told = createTold<Waiting>(now)
  const traffic = createCounters(counters.traffic, restored !== undefined)
  const declared = createCounters(counters.declared, restored !== undefined)
  let sums: readonly StoreChange[] = []
  let lostTold = 0

  const collect = (changes: readonly StoreChange[]) => {
    sums = mergedChanges([...sums, ...changes])
  }
  const count = () => {
    const { lost } = waiting.counts()
    const add = (name: string, grown: Sums): StoreChange => ({ kind: 'add', name, sums: grown })
    collect([add(names.traffic, traffic.grown()), add(names.declared, declared.grown())])
    if (lost > lostTold) collect([add(names.evidence, { [fieldOf('lost', replica)]: lost - lostTold })])
    lostTold = lost
  }
  const changesOf = (one: Waiting): readonly StoreChange[] => {
    if (time() - one.at < COLLAPSE.windowMs) return evidenceChanges(one, one.names)
    // Other replicas may have observed its pair meanwhile, and the store has forgotten that.
    if (WEIGHTS[one.outcome] === 'bad') return evidenceChanges(one, one.names, `${Math.floor(one.at / COLLAPSE.windowMs)}`)
    waiting.drop()
    return []
  }
  return {
    entry(entry) {
      if (entry.kind !== 'comparison') return
      const { operation, caller, shape, outcome, weight } = entry
      // Claims of two replicas are compared by their times.
      const at = sharedTimeOf(entry.at, { time, now })
      const one = { operation, caller, shape, outcome, ...(weight !== undefined && { weight }), at, names }
      waiting.add(one, WEIGHTS[outcome] === 'bad')
      soon()
    },
    tally(operation, tally) {
      collect(tallyChanges(operation, tally, time(), names))
      soon()
    },
    begin(next) {
      count()
      waiting.forgive()
      lostTold = 0
      names = next
    },
    changes() {
      const again = told.again().flatMap((one) => changesIfLost(one, one.names))
      const taken = waiting.take(MOST_AT_ONCE)
      told.add(taken)
      const fresh = [...(restored?.changes(names) ?? []), ...taken.flatMap(changesOf)]
      count()
      const handed = mergedChanges([...sums, ...again, ...fresh])
      sums = []
      return handed
    },
    readings: () => [],
    state: () => ({ ...waiting.counts(), oldestMs: sources.oldestMs() }),
    lost: told.lost,
  }
}
