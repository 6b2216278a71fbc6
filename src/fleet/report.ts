import type { ComparisonOutcome } from '../migrate/compare/judge.ts'
import type { Counted, FleetMember, FleetView } from '../migrate/evidence/cutover.ts'
import {
  COLLAPSE,
  type Evidence,
  evidenceOf,
  HOUR,
  HOURS,
  noOutcomes,
  type OperationEvidence,
  perDayOf,
  WEIGHTS,
} from '../migrate/evidence/evidence.ts'
import type { SeenKind } from '../migrate/evidence/kinds.ts'
import type { Migration } from '../migrate/migration.ts'
import type { Entry } from '../migrate/records/record.ts'
import { type EpochOrigin, epochHash } from '../migrate/records/record-file.ts'
import { createEpochs, type Epochs } from './epochs.ts'
import {
  createEvidencePart,
  declaredIn,
  declaredSums,
  type EvidenceNames,
  evidenceChanges,
  fieldOf,
  kindField,
  MORE_WRONG,
  tallyChanges,
  trafficIn,
  trafficSums,
  wrongField,
} from './evidence.ts'
import { type FleetClocks, type FleetReplica, NO_STORE, noRoom, type Settled } from './exchange.ts'
import { type Fleet, upstreamProblems } from './fleet.ts'
import type { StoreChange, StoreRead, Sums } from './store/store.ts'

/** New observations by operation, for an hour since 1970. */
type HourSums = readonly [hour: number, observations: Sums]

/** Returns the names that tell the pace at a time in milliseconds, with their hours. */
export function paceNames({ pace }: EvidenceNames, now: number): readonly (readonly [hour: number, name: string])[] {
  const last = Math.floor(now / HOUR)
  return Array.from({ length: HOURS }, (_, nth) => [last - nth, pace(last - nth)] as const)
}

/** Returns what the sums of a fleet say of each operation, as one process says it that has served all requests. */
export function evidenceFromSums(
  sums: Sums,
  hours: readonly HourSums[],
  seenKinds: Sums = {},
  wrong: Sums = {},
): readonly OperationEvidence[] {
  const operations = Object.keys(sums).flatMap((field) => (field.startsWith(FIRST_AT) ? [field.slice(FIRST_AT.length)] : []))
  const [uncompared, booked] = [membersIn(sums, 'uncompared'), membersIn(sums, 'booked')]
  const kinds = kindsIn(seenKinds, wrongCallersIn(wrong))
  const latest = Math.max(0, ...operations.map((operation) => sums[fieldOf('lastAt', operation)] ?? 0))
  return operations.sort().map((operation) => {
    const figure = (name: string) => sums[fieldOf(name, operation)] ?? 0
    const outcomes = noOutcomes()
    for (const outcome of Object.keys(outcomes) as ComparisonOutcome[]) outcomes[outcome] = figure(outcome)
    const repeats = { n: figure('repeats.n'), bad: figure('repeats.bad') }
    const firstObservedAt = sums[fieldOf('observedAt', operation)] ?? Number.POSITIVE_INFINITY
    const ofHours = hours.map(([hour, observed]) => [hour, observed[operation] ?? 0] as const)
    return evidenceOf(operation, {
      ...{ comparisons: figure('comparisons'), n: figure('n'), bad: figure('bad'), outcomes },
      repeats: { ...repeats, requests: figure('repeats.requests'), wrong: figure('repeats.wrong') },
      ...{ uncompared: uncompared.get(operation) ?? {}, booked: booked.get(operation) ?? {} },
      kinds: kinds.get(operation) ?? [],
      ...{ callers: figure('callers'), shapes: figure('shapes'), perDay: perDayOf(ofHours, firstObservedAt, latest) },
      // An operation that only was rehearsed has no last comparison.
      ...{ firstAt: figure('firstAt'), lastAt: figure('lastAt') || figure('firstAt') },
    })
  })
}

const FIRST_AT = fieldOf('firstAt', '')

const MEMBER = /^(?<counts>\w+)\.(?<what>\w+) (?<operation>.*)$/s

/** Returns counts with several members, by operation. */
function membersIn(sums: Sums, name: 'uncompared' | 'booked'): ReadonlyMap<string, Record<string, number>> {
  const found = new Map<string, Record<string, number>>()
  for (const [field, count] of Object.entries(sums)) {
    const { counts, what, operation = '' } = MEMBER.exec(field)?.groups ?? {}
    if (counts === name && what !== undefined) found.set(operation, { ...found.get(operation), [what]: count })
  }
  return found
}

const KIND = /^kind\.(?<figure>\w+) (?<operation>\S+) (?<shape>.*)$/s

const WRONG = /^wrong (?<operation>\S+) (?<caller>\S+) (?<kind>.*)$/s

/** Returns the callers for which v2 was not right again, by operation and kind. */
function wrongCallersIn(sums: Sums): ReadonlyMap<string, readonly string[]> {
  const found = new Map<string, readonly string[]>()
  for (const [field, at] of Object.entries(sums)) {
    const { operation, caller, kind } = WRONG.exec(field)?.groups ?? {}
    if (operation === undefined || caller === undefined || kind === undefined) continue
    const key = `${operation} ${kind}`
    const isMended = (sums[wrongField('same', operation, kind, caller)] ?? 0) > at
    if (!isMended) found.set(key, [...(found.get(key) ?? []), caller].sort())
  }
  return found
}

/** Returns what was seen of kinds of requests, by operation. */
function kindsIn(sums: Sums, wrong: ReadonlyMap<string, readonly string[]>): ReadonlyMap<string, readonly SeenKind[]> {
  const found = new Map<string, Map<string, Record<string, number>>>()
  for (const [field, count] of Object.entries(sums)) {
    const { figure, operation = '', shape = '' } = KIND.exec(field)?.groups ?? {}
    if (figure === undefined) continue
    const kinds = found.get(operation) ?? new Map<string, Record<string, number>>()
    found.set(operation, kinds.set(shape, { ...kinds.get(shape), [figure]: count }))
  }
  return new Map(
    Array.from(found, ([operation, kinds]) => [
      operation,
      Array.from(kinds, ([shape, { same = 0, rehearsed = 0, least, most, knownCallers = 0, ...times }]) => {
        const callers = least === undefined ? 0 : least === most ? 1 : 2
        const wrongTo = wrong.get(`${operation} ${shape}`)
        return {
          shape,
          same,
          ...(rehearsed > 0 && { rehearsed }),
          callers: Math.max(callers, knownCallers),
          ...times,
          ...(wrongTo && { wrongTo }),
        }
      }),
    ]),
  )
}

/** Milliseconds that the replicas have to hand over what they know. */
const SETTLE_MS = 3000

/** Batches that a replica may need for what waited while the store did not answer. */
const MOST_BATCHES = 50

/**
 * Returns what reads the store after every replica has handed over what it knew when it was asked:
 * `await snapshot(() => [{ kind: 'sums', name: 'traffic:0' }])`. It takes some seconds if a replica does not answer, and never rejects. `found`
 * has the order of the reads, and is undefined if the store does not answer. `epoch` is the hash of what this replica counts.
 */
function createSnapshots(
  fleet: Pick<Fleet, 'id' | 'settle' | 'replicas' | 'store' | 'state'>,
  epochs: Pick<Epochs, 'now' | 'lost'>,
  epoch: string,
) {
  const settled = async (): Promise<Settled> => {
    for (let left = MOST_BATCHES; ; left -= 1) {
      const known = await fleet.settle(SETTLE_MS)
      const isLate = fleet.replicas().some(({ isLive, waiting }) => isLive && waiting > 0)
      if (!isLate || known.problems.length === 0 || left === 0) return known
    }
  }
  return async (reads: () => readonly StoreRead[]) => {
    const { problems, busy } = await settled()
    // What this replica could not hand over is not in the store either.
    const isDown = fleet.state().problem !== undefined
    const found = isDown ? undefined : await fleet.store.read(reads()).catch(() => undefined)
    const replicas = fleet.replicas()
    const others = replicas.filter((one) => one.epoch !== epoch).map(({ id }) => otherEpoch(id))
    const unanswered = found || problems.length > 0 ? [] : [NO_STORE]
    const missing = [...problems, ...others, ...upstreamProblems(replicas), ...unanswered, ...[epochs.lost() ?? []].flat()]
    const view: FleetView = { self: fleet.id, problems: missing, busy, epoch: epochs.now(), replicas: replicas.map(memberOf) }
    return { view, found }
  }
}

function otherEpoch(id: string): string {
  return `Replica ${id} has other mapping tables or another v2 build (upstream.v2Build), so its evidence is not in this answer.`
}

function memberOf({ id, name, seenMs, isLive, version, waiting, dropped, lost }: FleetReplica): FleetMember {
  return { id, name, seenMs, isLive, version, waiting, dropped, lost }
}

/**
 * Returns a reader of what all replicas have counted. Without an answer of the store it is what this replica has counted, and `fleet.problems`
 * says so. `now` gives the milliseconds since 1970 of the store.
 */
function createFleetCounted(
  snapshot: ReturnType<typeof createSnapshots>,
  names: () => EvidenceNames,
  own: () => Counted,
  now: () => number,
) {
  return async (): Promise<Counted> => {
    let hours: readonly number[] = []
    const { view, found } = await snapshot(() => {
      const pace = paceNames(names(), now())
      hours = pace.map(([hour]) => hour)
      const { evidence, declared, traffic, kinds, wrong } = names()
      const all = [evidence, declared, traffic, kinds, wrong, ...pace.map(([, name]) => name)]
      return all.map((name): StoreRead => ({ kind: 'sums', name }))
    })
    if (!found) return { ...own(), fleet: view }
    const [sums = {}, declared = {}, traffic = {}, seenKinds = {}, wrong = {}, ...pace] = found.map((one) => one?.value as Sums | undefined)
    const ofHours = hours.map((hour, nth) => [hour, pace[nth] ?? {}] as const)
    const lost = [...lostSentences(sums, view.replicas), ...(wrong[MORE_WRONG] === undefined ? [] : [TOO_MANY_WRONG])]
    return {
      evidence: evidenceFromSums(sums, ofHours, seenKinds, wrong),
      ...trafficIn(traffic),
      declarations: declaredIn(declared, own().declarations),
      fleet: { ...view, problems: [...view.problems, ...lost] },
    }
  }
}

const TOO_MANY_WRONG = 'v2 was wrong for more callers than the replicas remember; fix it and begin a new epoch.'

const LOST = fieldOf('lost', '')

/** Tells of replicas that are gone. Those that live say it themselves. */
function lostSentences(sums: Sums, replicas: readonly FleetMember[]): readonly string[] {
  return Object.entries(sums).flatMap(([field, count]) => {
    const id = field.slice(LOST.length)
    if (!field.startsWith(LOST) || replicas.some((one) => one.id === id)) return []
    return [noRoom(id, count)]
  })
}

export type RestoredEvidence = ReturnType<typeof createRestored>

/** Tells a store that ends with its process what was read back from records. `now` gives milliseconds since 1970. */
export function createRestored(evidence: Pick<Evidence, 'all'>, now: () => number) {
  let recent: Entry[] | undefined = []
  return {
    /** Takes an entry that is read back. */
    entry(entry: Entry) {
      if (entry.kind === 'note' && entry.what === 'epoch') recent?.splice(0)
      if (entry.kind === 'comparison' && now() - Date.parse(entry.at) < COLLAPSE.windowMs) recent?.push(entry)
    },
    /** Returns what the store is to be told, at the first call. */
    changes(names: EvidenceNames): readonly StoreChange[] {
      const claimed = (recent ?? []).flatMap((entry) => claimsOf(entry, names))
      const counted = recent ? evidence.all().flatMap((one) => countsOf(one, names)) : []
      recent = undefined
      return [...counted, ...claimed]
    },
  }
}

/** A pair that was observed in the last ten minutes is no observation again. */
function claimsOf(entry: Entry, names: EvidenceNames): readonly StoreChange[] {
  if (entry.kind !== 'comparison') return []
  const { operation, caller, shape, outcome } = entry
  const changes = evidenceChanges({ operation, caller, shape, outcome, at: Date.parse(entry.at) }, names)
  return changes.flatMap((change) => (change.kind === 'claim' ? [{ ...change, first: {}, again: {} }] : []))
}

/** Callers and shapes are not among them: nobody knows which of them come again. */
function countsOf(one: OperationEvidence, names: EvidenceNames): readonly StoreChange[] {
  const { evidence } = names
  const { operation, comparisons, n, bad, firstAt, lastAt, uncompared, booked, kinds = [] } = one
  const { bound: _, ...repeats } = one.repeats
  const figures = {
    ...{ n, bad, match: one.matches, expected: one.expected, noise: one.noise, race: one.races, inconclusive: one.inconclusive },
    ...{ mismatch: one.mismatches, transient: one.transients, error: one.errors },
  }
  const seen = Object.entries(figures).filter(([, count]) => count > 0)
  const ofKinds = (...figures: readonly ('same' | 'rehearsed' | 'sameAt' | 'wrongAt')[]) =>
    Object.fromEntries(
      kinds.flatMap((one) =>
        figures.flatMap((figure) => {
          const count = one[figure] ?? 0
          return count > 0 ? [[kindField(figure, operation, one.shape), count]] : []
        }),
      ),
    )
  const callersOfKinds = Object.fromEntries(kinds.map(({ shape, callers }) => [kindField('knownCallers', operation, shape), callers]))
  const wrong = Object.fromEntries(
    kinds.flatMap(({ shape, wrongTo = [] }) => wrongTo.map((caller) => [wrongField('wrong', operation, shape, caller), lastAt])),
  )
  return [
    ...tallyChanges(operation, { comparisons, repeats, uncompared, booked }, firstAt, names),
    { kind: 'add', name: evidence, sums: Object.fromEntries(seen.map(([figure, count]) => [fieldOf(figure, operation), count])) },
    { kind: 'add', name: names.kinds, sums: ofKinds('same', 'rehearsed') },
    { kind: 'most', name: names.kinds, sums: { ...ofKinds('sameAt', 'wrongAt'), ...callersOfKinds } },
    { kind: 'most', name: names.wrong, sums: wrong },
    { kind: 'least', name: evidence, sums: { [fieldOf('observedAt', operation)]: firstAt } },
    { kind: 'most', name: evidence, sums: { [fieldOf('lastAt', operation)]: lastAt } },
  ]
}

/** What a fleet knows of the migration. */
export type FleetEvidence = ReturnType<typeof shareEvidence>

interface EvidenceOrigin extends EpochOrigin {
  /** The store is new. Otherwise it was told in their time of the records that are read back. */
  readonly isNewStore: boolean
  /** Reports a defect of Crosswalk. */
  readonly failed: (error: unknown) => void
}

/** Shares what a replica counts with its fleet. Call it before earlier records are read back. */
export function shareEvidence(
  { journal, counting, follow, report, note, beginEpoch }: Migration,
  fleet: Fleet,
  { now }: FleetClocks,
  { isNewStore, failed, ...origin }: EvidenceOrigin,
) {
  const { evidence, inventory, expected } = journal
  // What a process without a store saw was told to none. Its wrong answers must not be forgotten with it.
  let isMissed = false
  const hasEarlier = () => !isNewStore && isMissed && evidence.all().length > 0
  follow((entry) => {
    isMissed ||= entry.kind === 'comparison' && (entry.replica !== undefined || WEIGHTS[entry.outcome] === 'bad')
  })
  const epochs = createEpochs({ ...origin, store: fleet.store, now, note, hasEarlier, failed })
  const restored = isNewStore ? createRestored(evidence, now) : undefined
  if (restored) follow(restored.entry)
  const part = createEvidencePart({
    restored,
    ...{ replica: fleet.id, names: epochs.names(), now, time: fleet.time, soon: fleet.soon, oldestMs: counting.oldestMs },
    gone: epochs.miss,
    counters: { traffic: () => trafficSums(inventory), declared: () => declaredSums(expected) },
  })
  counting.followOwn(part.entry)
  counting.followTallies(part.tally)
  epochs.onBegin(() => {
    part.begin(epochs.names())
    beginEpoch()
  })
  fleet.add(epochs)
  fleet.add(part)
  const snapshot = createSnapshots(fleet, epochs, epochHash(origin))
  return { epochs, snapshot, counted: createFleetCounted(snapshot, epochs.names, report.counted, fleet.time) }
}
