import { createEvidencePart, evidenceNames, MOST_WAITING } from '../../../src/fleet/evidence.ts'
import { evidenceFromSums, paceNames } from '../../../src/fleet/report.ts'
import type { Batch, Store, Sums } from '../../../src/fleet/store/store.ts'
import { createEvidence, createTallies, type Observation } from '../../../src/migrate/evidence/evidence.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'

export const NAMES = evidenceNames({ nth: 0, hash: 'tables' })

/** A replica that compares, and tells a store. */
export function evidenceReplica(id: string, store: Store, now: () => number, most = MOST_WAITING) {
  let missed = 0
  const gone = () => {
    missed += 1
  }
  const part = createEvidencePart({
    ...{ replica: id, names: NAMES, oldestMs: () => undefined, soon: () => {}, gone, now, time: now, most },
    counters: { traffic: () => ({}), declared: () => ({}) },
  })
  const evidence = createEvidence(now)
  const tallies = createTallies(evidence, { record: part.entry }, now)
  tallies.follow(part.tally)
  let batch: Batch = { replica: id, nth: 0, changes: [], reads: [], isUrgent: false }
  return {
    part,
    evidence,
    /** How often the store lost what nobody can tell it again. */
    missed: () => missed,
    /** Returns whether it is worth a record. */
    compared(observation: Observation): boolean {
      const counted = tallies.count(comparisonOf(observation, now()))
      if (counted) part.entry(counted)
      return counted !== undefined
    },
    /** Sends what is new, and then the same batch so many times more. */
    async exchange(again = 0, ...stores: readonly Store[]): Promise<void> {
      const readings = part.readings()
      batch = { ...batch, nth: batch.nth + 1, changes: part.changes(), reads: readings.map(({ read }) => read) }
      for (let times = 0; times <= again; times++) {
        for (const to of stores.length > 0 ? stores : [store]) {
          const found = await to.exchange(batch)
          for (const [nth, one] of readings.entries()) one.take(found[nth])
        }
      }
    },
  }
}

export type EvidenceReplica = ReturnType<typeof evidenceReplica>

/** What the store says. */
export async function evidenceIn(store: Store, now: number) {
  const hours = paceNames(NAMES, now)
  const found = await store.read(
    [NAMES.evidence, NAMES.kinds, NAMES.wrong, ...hours.map(([, name]) => name)].map((name) => ({ kind: 'sums', name })),
  )
  const [sums = {}, kinds = {}, wrong = {}, ...pace] = found.map((one) => one?.value as Sums | undefined)
  const ofHours = hours.map(([hour], nth) => [hour, pace[nth] ?? {}] as const)
  return evidenceFromSums(sums, ofHours, kinds, wrong)
}

let comparisons = 0

export function comparisonOf(observation: Observation, at: number): Comparison {
  const known = { kind: 'comparison', id: `${++comparisons}`, at: new Date(at).toISOString(), mode: 'diff-v1', check: 'read' } as const
  return { ...known, ...observation, totals: [], examples: [], v2: { status: 200 } }
}
