import { createHash } from 'node:crypto'
import type { Inventory } from '../migrate/clients.ts'
import { type DeclarationReport, type ExpectedDifferences, withCounts } from '../migrate/compare/expected.ts'
import type { Counted } from '../migrate/evidence/cutover.ts'
import {
  COLLAPSE,
  DISTINCT,
  HOUR,
  type Observation,
  type OperationTally,
  type RepeatCounts,
  repeatOf,
  WEIGHTS,
} from '../migrate/evidence/evidence.ts'
import { countCaller, isUntried, kindAmong, type WrongCallers } from '../migrate/evidence/kinds.ts'
import type { Entry } from '../migrate/records/record.ts'
import { type FleetReading, type PartState, reading, sharedTimeOf } from './exchange.ts'
import type { RestoredEvidence } from './report.ts'
import type { Claim, StoreChange, Sums } from './store/store.ts'

/** Evidence of different epochs never merges: other tables, or another v2, answer otherwise. */
interface Epoch {
  /** Grows with each epoch that a person begins; 0 before the first. */
  readonly nth: number
  /** Stands for the mapping tables and the v2 build. */
  readonly hash: string
}

/** The names in the store of what is counted in an epoch. */
export interface EvidenceNames {
  /** Tells the epoch from every other. */
  readonly epoch: string
  readonly evidence: string
  /** What was seen of kinds of requests. They are many, so that only the verdict reads them. */
  readonly kinds: string
  /** When v2 was known to be wrong for a caller, and when it was right for it again (`wrongField`). */
  readonly wrong: string
  /** The new observations of an hour since 1970. */
  pace(hour: number): string
  /** What declared differences explained. */
  readonly declared: string
  /** Calls, whatever answers them: a new v2 must not forget what clients call. */
  readonly traffic: string
}

export function evidenceNames({ nth, hash }: Epoch): EvidenceNames {
  const epoch = `${nth}-${hash}`
  return {
    epoch,
    evidence: `evidence:${epoch}`,
    kinds: `kinds:${epoch}`,
    wrong: `wrong:${epoch}`,
    pace: (hour) => `pace:${epoch}:${hour}`,
    declared: `declared:${epoch}`,
    traffic: `traffic:${nth}`,
  }
}

/** The field of a figure of an operation. */
export function fieldOf(figure: string, operation: string): string {
  return `${figure} ${operation}`
}

/**
 * Returns a function that returns what counters have grown by since its last call. What the first call finds was counted by earlier
 * processes: only a store that is new is told of it.
 */
function createGrowth(read: () => Sums, isNewStore: boolean): () => Sums {
  let known: Sums | undefined = isNewStore ? {} : undefined
  return () => {
    const before = known ?? read()
    known = read()
    const more = Object.entries(known).map(([field, count]) => [field, count - (before[field] ?? 0)] as const)
    return Object.fromEntries(more.filter(([, count]) => count > 0))
  }
}

/** Calls by operation, as the sums of a fleet hold them. */
export function trafficSums({ traffic, strangers, uncounted }: Pick<Inventory, 'traffic' | 'strangers' | 'uncounted'>): Sums {
  const fields = (what: string, calls: ReadonlyMap<string, number>) =>
    [...calls].map(([use, count]) => [fieldOf(what, use), count] as const)
  return Object.fromEntries([...fields('calls', traffic()), ...fields('strangers', strangers()), [UNCOUNTED, uncounted()]])
}

export function trafficIn(sums: Sums): Pick<Counted, 'traffic' | 'strangers' | 'uncounted'> {
  const ofKind = (what: string) => {
    const start = fieldOf(what, '')
    const found = Object.entries(sums).filter(([field]) => field.startsWith(start))
    return new Map(found.map(([field, count]) => [field.slice(start.length), count]))
  }
  return { traffic: ofKind('calls'), strangers: ofKind('strangers'), uncounted: sums[UNCOUNTED] ?? 0 }
}

/** The field of calls of clients beyond those that are told apart. */
export const UNCOUNTED = 'uncounted'

/** What declared differences explained, as the sums of a fleet hold it. */
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

/** A comparison that was worth a record: an observation of this replica, or another outcome of its pair. */
export interface TimedObservation extends Observation {
  /** Milliseconds since 1970. */
  readonly at: number
  /** The kind to which it counts, if that is not its shape. */
  readonly countedKind?: string
}

/**
 * Returns what a comparison changes in the store. It claims its pair and its outcome for ten minutes, as `createCollapse` remembers them:
 * the observation of one replica is a repeat if another replica has observed its pair.
 *
 * One that comes `late`, after these ten minutes, keeps to a name of its own time.
 *
 * `evidenceChanges({ operation: 'iam.groups.list', caller: 'c', shape: 's', outcome: 'match', at: 0 }, names)` adds 1 to
 * `n iam.groups.list` of `evidence:0-…`, if nobody has observed the pair in the last ten minutes.
 */
export function evidenceChanges(one: TimedObservation, names: EvidenceNames, late?: string): readonly StoreChange[] {
  const { operation, caller, shape, outcome, at, rehearsed } = one
  const { evidence } = names
  const field = (figure: string) => fieldOf(figure, operation)
  const key = hashOf([names.epoch, operation, caller, shape, late].join('\n'))
  const claim: MakeClaim = (what, name, sums) => {
    return { kind: 'claim', key: `${key}${what}`, at, ms: COLLAPSE.windowMs, name, ...sums }
  }
  // No client asked for it, so that it counts for its kind alone. Its claim has its time: the same one, told again, counts once.
  if (rehearsed) {
    const first: StoreChange = { kind: 'least', name: evidence, sums: { [field('firstAt')]: at } }
    return [first, ...kindChanges(one, names.kinds, (what, ...counts) => claim(`${what} rehearsed ${at}`, ...counts))]
  }
  const counted: readonly StoreChange[] = [
    { kind: 'add', name: evidence, sums: { [field('comparisons')]: 1 } },
    claim(outcome, evidence, { first: { [field(outcome)]: 1 }, again: {} }),
    { kind: 'least', name: evidence, sums: { [field('firstAt')]: at } },
    { kind: 'most', name: evidence, sums: { [field('lastAt')]: at } },
  ]
  if (WEIGHTS[outcome] === 'nothing') return counted
  const observed: Sums = { [field('n')]: 1, ...(WEIGHTS[outcome] === 'bad' && { [field('bad')]: 1 }) }
  return [
    ...counted,
    claim('', evidence, { first: observed, again: repeatSums(operation, repeatOf(one)) }),
    claim('pace', names.pace(Math.floor(at / HOUR)), { first: { [operation]: 1 }, again: {} }),
    { kind: 'least', name: evidence, sums: { [field('observedAt')]: at } },
    { kind: 'join', name: evidence, field: field('callers'), member: caller, most: DISTINCT },
    { kind: 'join', name: evidence, field: field('shapes'), member: shape, most: DISTINCT },
    ...kindChanges(one, names.kinds, claim),
  ]
}

type KindFigure = 'same' | 'rehearsed' | 'sameAt' | 'wrongAt' | 'least' | 'most' | 'knownCallers'

/** The field of a figure of one kind of request. */
export function kindField(figure: KindFigure, operation: string, shape: string): string {
  return `kind.${figure} ${operation} ${shape}`
}

/**
 * Returns what a comparison changes of its kind. Of the callers, the least and the most of their numbers are kept: two that differ are two
 * callers, and a set of them would cost the store several commands for each kind.
 */
function kindChanges(one: TimedObservation, name: string, claim: MakeClaim): readonly StoreChange[] {
  const { operation, shape, caller, outcome, at, countedKind = shape } = one
  const field = (figure: KindFigure) => kindField(figure, operation, countedKind)
  if (WEIGHTS[outcome] === 'nothing') return []
  if (WEIGHTS[outcome] === 'bad') {
    // The pair is observed, so that a clean comparison of it within ten minutes is no observation.
    return [claim('kind', name, { first: {}, again: {} }), { kind: 'most', name, sums: { [field('wrongAt')]: at } }]
  }
  if (isUntried(one)) return [claim('kind', name, { first: {}, again: {} })]
  const number = callerNumber(caller)
  return [
    claim('kind', name, { first: { [field(one.rehearsed ? 'rehearsed' : 'same')]: 1 }, again: {} }),
    { kind: 'most', name, sums: { [field('sameAt')]: at, [field('most')]: number } },
    { kind: 'least', name, sums: { [field('least')]: number } },
  ]
}

type MakeClaim = (what: string, name: string, sums: Pick<Claim, 'first' | 'again'>) => Claim

/** Returns a number of 48 bits that tells a caller from another, above 0. */
function callerNumber(caller: string): number {
  return createHash('sha256').update(caller).digest().readUIntBE(0, 6) + 1
}

/** Returns what counts a comparison that the store may have lost. If it has not, it knows its claims, and nothing changes. */
function changesIfLost(one: TimedObservation, names: EvidenceNames): readonly StoreChange[] {
  return evidenceChanges(one, names).flatMap((change) => {
    if (change.kind === 'add') return []
    return [change.kind === 'claim' ? { ...change, again: {} } : change]
  })
}

/** Returns what changes by counts without a record of their own, made at a time in milliseconds since 1970. */
export function tallyChanges(operation: string, tally: OperationTally, at: number, { evidence }: EvidenceNames): readonly StoreChange[] {
  const { comparisons = 0, repeats, uncompared = {}, booked = {} } = tally
  const fields = (prefix: string, counts: Sums) =>
    Object.fromEntries(Object.entries(counts).map(([what, count]) => [fieldOf(`${prefix}.${what}`, operation), count]))
  const counted: Sums = {
    ...(comparisons > 0 && { [fieldOf('comparisons', operation)]: comparisons }),
    ...(repeats && repeatSums(operation, repeats)),
    ...fields('uncompared', uncompared),
    ...fields('booked', booked),
  }
  return [
    { kind: 'add', name: evidence, sums: counted },
    { kind: 'least', name: evidence, sums: { [fieldOf('firstAt', operation)]: at } },
    { kind: 'most', name: evidence, sums: { [fieldOf('lastAt', operation)]: at } },
  ]
}

function repeatSums(operation: string, repeats: RepeatCounts): Sums {
  const counted = Object.entries(repeats).filter(([, count]) => count > 0)
  return Object.fromEntries(counted.map(([what, count]) => [fieldOf(`repeats.${what}`, operation), count]))
}

/** 128 bits: no two pairs of a fleet have one hash. */
export function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64url').slice(0, 22)
}

type Summing = Extract<StoreChange, { readonly sums: Sums }>

const COMBINED: Readonly<Record<Summing['kind'], (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  most: Math.max,
  least: Math.min,
}

/** Returns changes that do the same in fewer: those of the same sums become one, and what changes nothing is left out. */
export function mergedChanges(changes: readonly StoreChange[]): readonly StoreChange[] {
  const merged = new Map<string, Summing & { readonly sums: Record<string, number> }>()
  const others: StoreChange[] = []
  for (const change of changes) {
    if (!('sums' in change)) {
      others.push(change)
      continue
    }
    const key = `${change.kind} ${change.name}`
    const known = merged.get(key) ?? { ...change, sums: {} }
    merged.set(key, known)
    for (const [field, value] of Object.entries(change.sums)) {
      const before = known.sums[field]
      known.sums[field] = before === undefined ? value : COMBINED[change.kind](before, value)
    }
  }
  return [...[...merged.values()].filter(({ sums }) => Object.keys(sums).length > 0), ...others]
}

/** Maximum observations that wait. */
export const MOST_WAITING = 100_000

/** Observations that the store does not have yet. Memory is bounded, and only clean ones make room. */
export function createWaiting<T extends { readonly at: number }>(most: number = MOST_WAITING) {
  let clean: T[] = []
  let bad: T[] = []
  let [dropped, lost] = [0, 0]
  /** Makes room for one more. Returns false if there is none. */
  const trim = (isBad: boolean): boolean => {
    if (clean.length + bad.length < most) return true
    const hasClean = isBad && clean.pop() !== undefined
    if (hasClean || !isBad) dropped += 1
    else lost += 1
    return hasClean
  }
  return {
    add(observation: T, isBad: boolean) {
      if (trim(isBad)) (isBad ? bad : clean).push(observation)
    },
    /** Hands over the oldest ones. */
    take(count: number): readonly T[] {
      const taken: T[] = []
      let [nthClean, nthBad] = [0, 0]
      while (taken.length < count) {
        const [a, b] = [clean[nthClean], bad[nthBad]]
        const next = a && (!b || a.at <= b.at) ? a : b
        if (!next) break
        if (next === a) nthClean += 1
        else nthBad += 1
        taken.push(next)
      }
      clean = clean.slice(nthClean)
      bad = bad.slice(nthBad)
      return taken
    },
    /** Counts a clean one as dropped that will not be handed over. */
    drop() {
      dropped += 1
    },
    counts: (): Pick<PartState, 'waiting' | 'dropped' | 'lost'> => ({ waiting: clean.length + bad.length, dropped, lost }),
    /** Begins to count anew what has found no room. */
    forgive() {
      dropped = 0
      lost = 0
    },
  }
}

/** Milliseconds for which observations are kept that the store has, and the maximum of them. */
const KEPT_MS = 10_000
const MOST = 5000

/** What the store was told in the last seconds. A store that dies may lose a second of that. `now` gives milliseconds. */
function createReported<T>(now: () => number) {
  let told: readonly { readonly one: T; readonly at: number; readonly batch: number }[] = []
  let batch = 0
  /** The newest batch of which something is kept no longer. */
  let forgotten = 0
  let isLost = false
  return {
    /** Takes the observations of the next batch. */
    add(observations: readonly T[]) {
      const at = now()
      batch += 1
      const all = [...told, ...observations.map((one) => ({ one, at, batch }))]
      told = all.filter((one) => at - one.at < KEPT_MS).slice(-MOST)
      forgotten = all[all.length - told.length - 1]?.batch ?? forgotten
    },
    /** The store has lost so many of the last batches before this one. Returns false if not all that they told is kept. */
    lost(batches: number) {
      isLost = true
      return forgotten < batch - batches
    },
    /** Returns what the store is to be told once more. */
    again(): readonly T[] {
      if (!isLost) return []
      isLost = false
      return told.map(({ one }) => one)
    },
  }
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
  /** The store has lost observations that nobody can tell it again. */
  readonly gone: () => void
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

/** Returns a function that says to which kind a request counts: the first ones of each operation are told apart. */
function createKindBudget(): (one: Pick<Observation, 'operation' | 'shape'>) => string {
  const known = new Map<string, Set<string>>()
  return (one) => {
    const kinds = known.get(one.operation) ?? new Set<string>()
    known.set(one.operation, kinds)
    const kind = kindAmong(kinds, one)
    kinds.add(kind)
    return kind
  }
}

/** The field that says when v2 was wrong for a caller, or when it was right again. */
export function wrongField(what: 'wrong' | 'same', operation: string, kind: string, caller: string): string {
  return `${what} ${operation} ${caller} ${kind}`
}

/** The field that says when there was no room for another caller. */
export const MORE_WRONG = 'more'

/** Maximum callers and kinds of an epoch for which a fleet knows that v2 was wrong. */
const MOST_WRONG = 1000

/** Tells for whom v2 is wrong. A replica tells of answers that were the same only if some replica has told of a wrong one. */
function createWrongPart({ wrong: name }: EvidenceNames) {
  const kinds = new Map<string, WrongCallers>()
  /** Fields that the store has, and own ones with their times. */
  let known: ReadonlySet<string> = new Set()
  const own = new Map<string, number>()
  const most = (field: string, at: number): StoreChange => ({ kind: 'most', name, sums: { [field]: at } })
  return {
    counted(one: TimedObservation): readonly StoreChange[] {
      const { operation, caller, shape, countedKind = shape, outcome, at } = one
      const weight = WEIGHTS[outcome]
      if (weight === 'nothing' || (weight === 'clean' && isUntried(one))) return []
      const key = `${operation} ${countedKind}`
      const callers = kinds.get(key) ?? new Map<string, boolean>()
      kinds.set(key, callers)
      const field = wrongField('wrong', operation, countedKind, caller)
      const isWrong = countCaller(callers, one, weight)
      const isTold = known.has(field) || own.has(field)
      if (!isWrong) return isTold && weight === 'clean' ? [most(wrongField('same', operation, countedKind, caller), at)] : []
      if (!isTold && Math.max(known.size, own.size) >= MOST_WRONG) return [most(MORE_WRONG, at)]
      own.set(field, at)
      return [most(field, at)]
    },
    reading: reading('sums', name, (sums) => {
      known = new Set(Object.keys(sums).filter((field) => field.startsWith('wrong ')))
    }),
    /** Returns what was told, to be told once more. */
    again: (): readonly StoreChange[] => [...own].map(([field, at]) => most(field, at)),
  }
}

/** Tells the store what this replica counts. */
export function createEvidencePart(sources: EvidenceSources) {
  const { replica, counters, restored, soon, now, time } = sources
  let { names } = sources
  const waiting = createWaiting<Waiting>(sources.most)
  const told = createReported<Waiting>(now)
  const traffic = createGrowth(counters.traffic, restored !== undefined)
  const declared = createGrowth(counters.declared, restored !== undefined)
  let sums: readonly StoreChange[] = []
  let lostReported = 0
  let kinds = createKindBudget()
  let wrong = createWrongPart(names)

  const collect = (changes: readonly StoreChange[]) => {
    sums = mergedChanges([...sums, ...changes])
  }
  const count = () => {
    const { lost } = waiting.counts()
    const add = (name: string, grown: Sums): StoreChange => ({ kind: 'add', name, sums: grown })
    collect([add(names.traffic, traffic()), add(names.declared, declared())])
    if (lost > lostReported) collect([add(names.evidence, { [fieldOf('lost', replica)]: lost - lostReported })])
    lostReported = lost
  }
  const changesOf = (one: Waiting): readonly StoreChange[] => {
    if (time() - one.at < COLLAPSE.windowMs) return evidenceChanges(one, one.names)
    // Other replicas may have observed its pair meanwhile, and the store has forgotten that.
    if (WEIGHTS[one.outcome] === 'bad') return evidenceChanges(one, one.names, `${Math.floor(one.at / COLLAPSE.windowMs)}`)
    waiting.drop()
    return []
  }
  return {
    /** Takes an entry that is recorded now. */
    entry(entry: Entry) {
      if (entry.kind !== 'comparison' && entry.kind !== 'rehearsal') return
      const { operation, caller, shape, outcome } = entry
      const how: Pick<Observation, 'weight' | 'check' | 'mode' | 'rehearsed'> =
        entry.kind === 'rehearsal'
          ? { rehearsed: true }
          : { check: entry.check, mode: entry.mode, ...(entry.weight !== undefined && { weight: entry.weight }) }
      // Claims of two replicas are compared by their times.
      const at = sharedTimeOf(entry.at, { time, now })
      const countedKind = kinds(entry)
      const one = { operation, caller, shape, outcome, ...how, at, names, countedKind }
      waiting.add(one, WEIGHTS[outcome] === 'bad')
      collect(wrong.counted(one))
      soon()
    },
    /** Takes what was counted without a record of its own. */
    tally(operation: string, tally: OperationTally) {
      collect(tallyChanges(operation, tally, time(), names))
      soon()
    },
    /** What comes from now on belongs to another epoch. */
    begin(next: EvidenceNames) {
      count()
      waiting.forgive()
      lostReported = 0
      kinds = createKindBudget()
      wrong = createWrongPart(next)
      names = next
    },
    changes(): readonly StoreChange[] {
      const again = told.again().flatMap((one) => changesIfLost(one, one.names))
      const taken = waiting.take(MOST_AT_ONCE)
      told.add(taken)
      const fresh = [...(restored?.changes(names) ?? []), ...taken.flatMap(changesOf)]
      count()
      const handed = mergedChanges([...sums, ...again, ...fresh])
      sums = []
      return handed
    },
    readings: (): readonly FleetReading[] => [wrong.reading],
    state: (): PartState => ({ ...waiting.counts(), oldestMs: sources.oldestMs() }),
    lost(batches: number) {
      collect(wrong.again())
      if (!told.lost(batches)) sources.gone()
    },
  }
}
