import { createEvidencePart, evidenceNames, MOST_WAITING } from '../../src/fleet/evidence.ts'
import { evidenceFromSums, paceNames } from '../../src/fleet/report.ts'
import type { Batch, Store, Sums } from '../../src/fleet/store/store.ts'
import { createEvidence, createTallies, type Observation, type OperationEvidence, WEIGHTS } from '../../src/migrate/evidence/evidence.ts'
import type { SeenKind } from '../../src/migrate/evidence/kinds.ts'
import type { Comparison } from '../../src/migrate/records/record.ts'

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

/** One comparison of any replica, in the order of their times. */
export interface Compared extends Observation {
  readonly at: number
  /** It repeated what its replica had recorded, so that only a tally tells of it. */
  readonly isTally: boolean
}

type Counted = Pick<OperationEvidence, 'comparisons' | 'n' | 'bad' | 'matches' | 'mismatches' | 'races' | 'callers' | 'shapes'>

const WINDOW = 600_000

/** Counts the comparisons of one operation as the page of evidence defines the words, in the slowest way. */
export function countSlowly(all: readonly Compared[]): Counted & { readonly repeats: Readonly<Record<string, number>> } {
  const observed: Compared[] = []
  const outcomes: Compared[] = []
  const repeats: Compared[] = []
  const isNear = (known: readonly Compared[], one: Compared, isAlike: (other: Compared) => boolean) =>
    known.some((other) => samePair(one, other) && isAlike(other) && Math.abs(one.at - other.at) < WINDOW)
  for (const one of all) {
    const counts = WEIGHTS[one.outcome] !== 'nothing'
    if (!one.isTally && counts && !isNear(observed, one, () => true)) observed.push(one)
    else if (counts) repeats.push(one)
    if (!one.isTally && !isNear(outcomes, one, ({ outcome }) => outcome === one.outcome)) outcomes.push(one)
  }
  const isBad = ({ outcome }: Compared) => WEIGHTS[outcome] === 'bad'
  const count = (outcome: Compared['outcome']) => outcomes.filter((one) => one.outcome === outcome).length
  const weigh = (some: readonly Compared[]) => some.reduce((sum, { weight = 1 }) => sum + weight, 0)
  const seen = all.filter(({ outcome, isTally }) => !isTally && WEIGHTS[outcome] !== 'nothing')
  const bad = repeats.filter(isBad)
  return {
    ...{ comparisons: all.length, n: observed.length, bad: observed.filter(isBad).length },
    repeats: { n: repeats.length, bad: bad.length, requests: weigh(repeats), wrong: weigh(bad) },
    ...{ matches: count('match'), mismatches: count('mismatch'), races: count('race') },
    ...{ callers: new Set(seen.map(({ caller }) => caller)).size, shapes: new Set(seen.map(({ shape }) => shape)).size },
  }
}

/** Returns what was seen of each kind of request, in the slowest way. */
export function kindsSlowly(all: readonly Compared[]): readonly SeenKind[] {
  const told = all.filter(({ isTally, outcome }) => !isTally && WEIGHTS[outcome] !== 'nothing')
  const isClean = ({ outcome }: Compared) => WEIGHTS[outcome] === 'clean'
  const last = (name: 'sameAt' | 'wrongAt', some: readonly Compared[]) =>
    some.length > 0 && { [name]: Math.max(...some.map(({ at }) => at)) }
  const observed: Compared[] = []
  for (const one of told) if (!observed.some((other) => samePair(one, other) && Math.abs(one.at - other.at) < WINDOW)) observed.push(one)
  return [...new Set(told.map(({ shape }) => shape))].sort().map((shape) => {
    const its = told.filter((one) => one.shape === shape)
    const clean = its.filter(isClean)
    return {
      ...{ shape, same: observed.filter((one) => one.shape === shape && isClean(one)).length },
      callers: Math.min(2, new Set(clean.map(({ caller }) => caller)).size),
      ...last('sameAt', clean),
      ...last(
        'wrongAt',
        its.filter((one) => !isClean(one)),
      ),
    }
  })
}

/** Returns the kinds in the same order, without the callers for which v2 is wrong. */
export function sortedKinds({ kinds = [] }: Partial<Pick<OperationEvidence, 'kinds'>> = {}): readonly SeenKind[] {
  return [...kinds].sort((a, b) => (a.shape < b.shape ? -1 : 1)).map(({ wrongTo, ...kind }) => kind)
}

/** Returns each caller and kind whose last told comparison was a mismatch. */
export function wrongSlowly(all: readonly Compared[]): readonly string[] {
  const told = all.filter(({ isTally, outcome }) => !isTally && WEIGHTS[outcome] !== 'nothing')
  const last = new Map(told.map((one) => [`${one.shape} ${one.caller}`, one.outcome]))
  return [...last].flatMap(([key, outcome]) => (outcome === 'mismatch' ? [key] : [])).sort()
}

function samePair(a: Compared, b: Compared): boolean {
  return a.caller === b.caller && a.shape === b.shape
}
