import type { Steps } from '../../serve/bounds.ts'
import { hasFailed, isAccepted } from '../../serve/sides.ts'
import { isObject, type JsonObject } from '../../tables/json.ts'
import type { Operation, V1Request } from '../../tables/operation.ts'
import type { DifferenceKind } from '../../tables/signs.ts'
import {
  type Both,
  bodyOf,
  type Compare,
  type Finding,
  isRowSegment,
  MOST_FINDINGS,
  rowOf,
  type SeenAnswer,
  segmentsOf,
  whyUnread,
} from './compare.ts'
import {
  type Cause,
  causeOf,
  createdRows,
  type Events,
  type ExpectedDifferences,
  isRewritten,
  type Period,
  REASONS,
  type RowWrites,
  type Stamps,
  shiftedRows,
  showsUpdate,
  UPDATE_STAMPS,
} from './expected.ts'

/** The request that two answers belong to. */
export interface AskedRequest {
  readonly operation: Operation
  readonly request: V1Request
  /** What v1 shows the caller in other reads, as far as it was asked. */
  readonly shown?: ShownByV1
}

/** What v1 shows the caller of a resource in a list. `unknown`: v1 did not answer. undefined: it was not asked. */
export type ShownByV1 = (read: string, uid: string) => JsonObject | 'nothing' | 'unknown' | undefined

/** The outcome of one comparison. */
export type ComparisonOutcome =
  /** The answers are equal. */
  | 'match'
  /** Every difference is declared. */
  | 'expected'
  /** Every difference is declared or lies in a volatile member; at least one is volatile. */
  | 'noise'
  /** v1 changed between the two reads, so nothing is known. */
  | 'race'
  /** At least one difference has no explanation. */
  | 'mismatch'
  /** The answers differed, the difference was gone at the second asking, and nothing explains it. */
  | 'transient'
  /** v2 failed and v1 did not. */
  | 'error'
  /** The answers could not be compared: never a pass. */
  | 'inconclusive'

/** A difference and its explanation: a declared code, or noise. */
export interface Explained extends Finding {
  readonly code?: string
  readonly noise?: true
}

export interface Judgement {
  readonly outcome: ComparisonOutcome
  readonly findings: readonly Explained[]
  /** A sentence for the outcomes that need one: race, transient, error and inconclusive. */
  readonly reason?: string
  /** What both sides sent where v2 failed, unredacted. */
  readonly answers?: Both
}

/** Judges two answers to one request, both in v1 space. It is pure: `ExpectedDifferences` counts the judgements that are recorded. */
export type Judge = (asked: AskedRequest, v1: SeenAnswer, v2: SeenAnswer) => Steps<Judgement>

export function createJudge(compare: Compare, expected: ExpectedDifferences, noise: Noise): Judge {
  return function* (asked, v1, v2) {
    const failed = failureOf(v1, v2)
    if (failed) return failed
    const compared = yield* compare(asked.operation, v1, v2)
    if ('inconclusive' in compared) return unreadOf(v1, v2) ?? inconclusive(compared.inconclusive)
    const findings = yield* each(compared.findings, (finding) => explain(asked, finding, expected, noise))
    const outcome = outcomeOf(findings)
    if (!compared.isCut || outcome === 'mismatch') return { outcome, findings }
    return { outcome: 'inconclusive', findings, reason: `the answers differ in ${MOST_FINDINGS} places or more, so not all were compared` }
  }
}

/** Maps findings one by one. */
function* each<Found extends Finding, Result>(findings: readonly Found[], map: (finding: Found) => Result): Steps<readonly Result[]> {
  const results: Result[] = []
  for (const finding of findings) {
    results.push(map(finding))
    yield
  }
  return results
}

/** Returns the differences that nothing explains. */
export function unexplained(findings: readonly Explained[]): readonly Explained[] {
  return findings.filter(({ code, noise }) => code === undefined && !noise)
}

function explain(asked: AskedRequest, finding: Finding, expected: ExpectedDifferences, noise: Noise): Explained {
  const code = expected.codeOf(asked, finding)
  if (code !== undefined) return { ...finding, code }
  return noise.isNoise(asked.operation.id, finding) ? { ...finding, noise: true } : finding
}

function outcomeOf(findings: readonly Explained[]): ComparisonOutcome {
  if (unexplained(findings).length > 0) return 'mismatch'
  if (findings.length === 0) return 'match'
  return findings.some(({ noise }) => noise) ? 'noise' : 'expected'
}

/** Judges answers that need no look at their bodies: v1 itself says nothing of v2, or v2 failed what v1 answered. */
function failureOf(v1: SeenAnswer, v2: SeenAnswer): Judgement | undefined {
  const stranger = strangeness(v1, v2)
  if (stranger !== undefined) return inconclusive(stranger)
  if (hasFailed(v1.status) || v1.status === 429) return inconclusive(`v1 itself ${whatDid(v1)}`)
  if (v1.status === 499 || (v2.status === 499 && !isAccepted(v1))) return inconclusive('the client went away')
  // The status is that of an answer that was broken off.
  if (v2.body.kind === 'too-large' && (isAccepted(v1) || hasFailed(v2.status)))
    return unreadOf(v1, v2) ?? inconclusive(whyUnread('v2', v2.body))
  if (!hasFailed(v2.status) && v2.status !== 429) return undefined
  return errorOf(`v2 ${whatDid(v2)} where v1 ${v1.did ?? `answered ${v1.status}`}`, v1, v2)
}

/** Judges an answer of v2 that cannot be read where v1's can. Several answers of v2 may be too large together, which says nothing of it. */
function unreadOf(v1: SeenAnswer, v2: SeenAnswer): Judgement | undefined {
  if (v2.body.kind === 'json' || v1.body.kind !== 'json' || !isAccepted(v1)) return undefined
  if (v2.body.kind === 'too-large' && v2.body.isSum) return undefined
  return errorOf(`v1 ${v1.did ?? `answered ${v1.status}`}, and ${whyUnread('v2', v2.body)}`, v1, v2)
}

function errorOf(reason: string, v1: SeenAnswer, v2: SeenAnswer): Judgement {
  return { outcome: 'error', findings: [], reason, answers: { v1: bodyOf(v1), v2: bodyOf(v2) } }
}

function whatDid({ did, status }: SeenAnswer): string {
  return did ?? `answered HTTP ${status}`
}

/**
 * Says why the answers may be answers to a stranger. Anyone could otherwise fill the evidence or open a circuit.
 * A success of v1 proves the caller, so that a refusal of v2 counts then.
 */
function strangeness(v1: SeenAnswer, v2: SeenAnswer): string | undefined {
  if (v1.status === UNAUTHENTICATED) return v2.status === UNAUTHENTICATED ? 'neither side knew the caller' : 'v1 did not know the caller'
  if (v2.status === UNAUTHENTICATED && !isAccepted(v1)) return 'v2 did not know the caller'
  // v2 may have refused too, had it been asked.
  return v1.status === FORBIDDEN && v2.unasked ? 'v1 refused the caller, and v2 was not asked' : undefined
}

const UNAUTHENTICATED = 401
const FORBIDDEN = 403

/** What v1 changed by itself between its own answers to one request. */
export type Movement = ReturnType<typeof createMovement>

/**
 * Indexes the changes from each answer of v1 to its next.
 * A changed value explains another value, and no absence. Only a row, member or status that came, went or changed its type explains that.
 * Rows without ids have no names, so that their list is one place.
 */
export function createMovement(changes: readonly Finding[]) {
  const values = new Set<string>()
  const presence = new Set<string>()
  const orders = new Set<string>()
  for (const change of changes) {
    const place = placeOf(change)
    if (change.kind === 'order') orders.add(place)
    else if (change.kind === 'value' || place !== change.path) values.add(place)
    else presence.add(place)
  }
  return {
    /** True if v1 was seen to change just what a finding is about, and not merely something beside it or below it. */
    explains(finding: Finding): boolean {
      const place = placeOf(finding)
      if (presence.size > 0 && upwards(place).some((above) => presence.has(above))) return true
      if (finding.kind === 'order') return orders.has(place) || values.has(place)
      return (finding.kind === 'value' || place !== finding.path) && values.has(place)
    },
    /** True if v1 was seen to change the value at a `path`. */
    changed: (path: string) => values.has(path),
  }
}

/** Returns the path of a finding, or of the outermost list without ids that contains it. */
function placeOf({ path }: Finding): string {
  const unnamed = path.indexOf('/[#')
  return unnamed < 0 ? path : path.slice(0, unnamed)
}

/** Returns a path and all its ancestors. */
function upwards(path: string): readonly string[] {
  const paths = [path]
  for (let end = path.lastIndexOf('/'); end >= 0; end = path.lastIndexOf('/', end - 1)) {
    paths.push(path.slice(0, end))
    if (end === 0) break
  }
  return paths
}

interface NoiseSettings {
  /** Double reads in which a member must have changed by itself before it counts as noise. */
  readonly changes: number
  /** … and their share of the latest double reads of the operation, 0–1. */
  readonly share: number
}

const NOISE_SETTINGS: NoiseSettings = { changes: 3, share: 0.1 }

/** The same for a member that changes together with its row's time of writing. Only what nearly always moves is no write. */
const STAMPED: NoiseSettings = { changes: 10, share: 0.9 }

/** Latest double reads of an operation that are remembered. A member that stops changing is stable again after so many. */
const MEMORY = 50

/** A member whose value changes between two reads of v1 alone. */
export interface NoisyMember {
  readonly operation: string
  readonly where: string
  readonly kind: DifferenceKind
  readonly changes: number
  readonly asks: number
}

export type Noise = ReturnType<typeof createNoise>

/** The places that changed between two reads of v1, each once: alone, or together with a time of writing. */
export interface ChangedPlaces {
  readonly alone: readonly string[]
  readonly stamped: readonly string[]
}

/** Kinds of difference that can be noise. */
const LEARNABLE: ReadonlySet<DifferenceKind> = new Set<DifferenceKind>(['value', 'order'])

/** The double reads, by number, in which members changed: alone, or together with a time of writing. */
interface Learned {
  asks: number
  readonly alone: Map<string, readonly number[]>
  readonly stamped: Map<string, readonly number[]>
}

export function createNoise(settings: NoiseSettings = NOISE_SETTINGS) {
  const operations = new Map<string, Learned>()
  const listeners: ((operation: string, places: ChangedPlaces) => void)[] = []
  const heard = (operation: string, { alone, stamped }: ChangedPlaces): void => {
    const learned = operations.get(operation) ?? { asks: 0, alone: new Map(), stamped: new Map() }
    operations.set(operation, learned)
    learned.asks += 1
    remember(learned.alone, alone, learned.asks)
    remember(learned.stamped, stamped, learned.asks)
  }
  return {
    /** Learns from two reads of v1: `findings` are the differences of the second from the first (none if nothing changed). */
    learn(operation: string, findings: readonly Finding[]): void {
      const places = placesOf(findings)
      heard(operation, places)
      for (const listener of listeners) listener(operation, places)
    },
    /** Learns what another replica learnt from two reads. */
    heard,
    /** Tells a listener what `learn` learns. */
    onLearn: (listener: (typeof listeners)[number]) => void listeners.push(listener),
    /** True for a finding about a volatile member, if it is a change of value or order. A change of type or presence always counts. */
    isNoise(operation: string, finding: Finding): boolean {
      const learned = operations.get(operation)
      return learned !== undefined && LEARNABLE.has(finding.kind) && changesOf(learned, keyOf(finding), settings) > 0
    },
    members: (): readonly NoisyMember[] =>
      [...operations].flatMap(([operation, learned]) =>
        [...new Set([...learned.alone.keys(), ...learned.stamped.keys()])]
          .map((key) => ({ operation, ...fromKey(key), changes: changesOf(learned, key, settings), asks: Math.min(learned.asks, MEMORY) }))
          .filter(({ changes }) => changes > 0),
      ),
  }
}

/** Returns the number of changes that make a member volatile; 0 if it is stable. */
function changesOf({ asks, alone, stamped }: Learned, key: string, settings: NoiseSettings): number {
  const isEnough = (count: number, { changes, share }: NoiseSettings) => count >= changes && count >= share * Math.min(asks, MEMORY)
  const [byItself, together] = [alone.get(key)?.length ?? 0, stamped.get(key)?.length ?? 0]
  if (isEnough(byItself, settings)) return byItself
  return isEnough(together, STAMPED) ? together : 0
}

/** Adds the number of a double read to the places that changed, and forgets old ones. */
function remember(known: Map<string, readonly number[]>, changed: readonly string[], ask: number): void {
  for (const key of changed) known.set(key, [...(known.get(key) ?? []), ask])
  for (const [key, asks] of known) {
    const recent = asks.filter((one) => one > ask - MEMORY)
    if (recent.length === 0) known.delete(key)
    else known.set(key, recent)
  }
}

/**
 * A member changes by itself only if its row shows when it was written, and shows the same time again. One that changes together with that
 * time, or in an object without such a time, may have been written. So may the order of rows of which one has changed.
 */
function placesOf(findings: readonly Finding[]): ChangedPlaces {
  const written = new Set(findings.filter(({ where }) => UPDATE_STAMPS.has(segmentsOf(where).at(-1) ?? '')).map(({ path }) => rowOf(path)))
  const learnable = findings.filter(({ kind }) => LEARNABLE.has(kind))
  const above = new Set(findings.flatMap(({ path }) => upwards(path).slice(1)))
  const mayBeWritten = (one: Finding) => (one.kind === 'order' ? above.has(one.path) : written.has(rowOf(one.path)) || !showsWriting(one))
  return {
    alone: [...new Set(learnable.filter((one) => !mayBeWritten(one)).map(keyOf))],
    stamped: [...new Set(learnable.filter(mayBeWritten).map(keyOf))],
  }
}

/** True if the resource that contains the member shows when it was written last, or that it never was. */
function showsWriting({ place }: Finding): boolean {
  let here = place?.up
  while (here?.up && !(isObject(here.v1) && typeof here.v1.id === 'string') && !isRowSegment(here.path)) here = here.up
  return here !== undefined && isObject(here.v1) && showsUpdate(here.v1)
}

function keyOf({ kind, where }: Finding): string {
  return `${kind} ${where}`
}

function fromKey(key: string): { kind: DifferenceKind; where: string } {
  const space = key.indexOf(' ')
  return { kind: key.slice(0, space) as DifferenceKind, where: key.slice(space + 1) }
}

/** All answers to a request whose first two answers did not match. v1 is asked again around every further answer of v2. */
export interface Trial {
  /** v2 answered first. Otherwise v1 did. */
  readonly v2First: boolean
  /** In the order of asking: one for each answer of v2, and one more. */
  readonly v1: readonly SeenAnswer[]
  /** Two or more. */
  readonly v2: readonly SeenAnswer[]
  readonly period: Period
  /** Stamps of rows by uid, from v2's own answers. */
  readonly stamps: ReadonlyMap<string, Stamps>
  /** The caller wrote meanwhile. */
  readonly wrote: boolean
  /** What any caller wrote meanwhile. */
  readonly writes: RowWrites
  /** No further answer will be asked for. */
  readonly isLast: boolean
}

/** Settles a mismatch after the request was repeated. Returns undefined if both sides have to be asked once more. */
export type Settle = (asked: AskedRequest, trial: Trial) => Steps<Judgement | undefined>

/** One answer of v2, compared with v1. */
interface Round {
  readonly judgement: Judgement
  /** Findings in places where v1 said the same before and after v2. */
  readonly still: readonly Explained[]
  readonly causes: ReadonlyMap<Explained, Cause | undefined>
}

/**
 * Distinguishes a race from a fault of v2 (design §7). `CAUSES` says what can explain a finding. v1 must stand still in what is judged:
 * - v2 differs twice in a row without a cause, or in the same place up to the last answer: a mismatch.
 * - v2 agrees now, and every earlier finding has a cause: a race.
 * - v2 agrees now, and an earlier finding has none: a transient difference.
 * - v2 differs with a cause, or in another place than before: ask again. After the last answer it is a race.
 */
export function createSettle(judge: Judge, compare: Compare, noise: Noise): Settle {
  return function* (asked, trial) {
    const latest = yield* judge(asked, trial.v1[trial.v2.length - 1]!, trial.v2.at(-1)!)
    if (latest.outcome === 'inconclusive' || latest.outcome === 'error') return latest
    const changes: Finding[] = []
    const around: Movement[] = []
    for (const [nth, after] of trial.v1.slice(1).entries()) {
      const one = yield* changesBetween(compare, asked.operation, trial.v1[nth]!, after)
      if (!one) return inconclusive('v1 could not be asked again')
      for (const change of one) changes.push(change)
      around.push(createMovement(one.filter((change) => !noise.isNoise(asked.operation.id, change))))
      yield
    }
    const events = { ...trial, movement: createMovement(changes) }
    const rounds: Round[] = []
    for (const [nth, v2] of trial.v2.entries()) {
      const answers = { v1: trial.v1[nth]!, v2, v2First: trial.v2First && nth === 0 }
      const judgement = yield* judge(asked, answers.v1, v2)
      const open = unexplained(judgement.findings)
      yield
      const shifted = shiftedRows(asked, open, { ...events, ...answers }, nth > 0)
      yield
      const created = createdRows(open, { ...events, ...answers })
      rounds.push(yield* roundOf(judgement, { ...events, ...answers, shifted, created }, around[nth]!))
    }
    return verdict(rounds, trial.isLast)
  }
}

function verdict(rounds: readonly Round[], isLast: boolean): Judgement | undefined {
  const [first, last, before] = [rounds[0]!, rounds.at(-1)!, rounds.at(-2)!]
  // Another comparison may have learnt meanwhile that it is noise.
  if (first.judgement.outcome !== 'mismatch') return first.judgement
  const proven = isLast ? [...new Set([...provenBy(last, before), ...alwaysThere(rounds)])] : provenBy(last, before)
  if (proven.length > 0) return blamed(last.judgement, proven)
  if (last.still.length > 0 && !isLast) return undefined
  const faulty = rounds.find((round) => round !== last && withoutCause(round).length > 0)
  if (faulty) {
    const judgement = blamed(faulty.judgement, withoutCause(faulty))
    return {
      ...judgement,
      outcome: 'transient',
      reason: 'v2 answered rightly when it was asked again, and nothing explains the difference',
    }
  }
  if (withoutCause(last).length > 0) return inconclusive('v1 did not stand still while both were asked')
  const causes = new Set([...first.causes.values()].filter((cause) => cause !== undefined))
  return { outcome: 'race', findings: first.judgement.findings, reason: [...causes].map((cause) => REASONS[cause]).join(', ') }
}

/** Returns the findings without a cause, if v2 was also wrong before: in the same place, or in another one without a cause. */
function provenBy(last: Round, before: Round): readonly Explained[] {
  const known = new Set(before.still.map(findingKey))
  const wasFaulty = before.still.some((finding) => before.causes.get(finding) === undefined)
  return last.still.filter((finding) => last.causes.get(finding) === undefined && (wasFaulty || known.has(findingKey(finding))))
}

/** Returns the findings in which v2 never agreed. An event could explain each of its answers, but hardly all of them. */
function alwaysThere(rounds: readonly Round[]): readonly Explained[] {
  const keys = rounds.map(({ still }) => new Set(still.map(findingKey)))
  return rounds.at(-1)!.still.filter((finding) => keys.every((known) => known.has(findingKey(finding))))
}

function* roundOf(judgement: Judgement, events: Events, around: Movement): Steps<Round> {
  const still: Explained[] = []
  const causes = new Map<Explained, Cause | undefined>()
  for (const finding of unexplained(judgement.findings)) {
    if (!around.explains(finding) && !isRewritten(finding, events, around)) still.push(finding)
    causes.set(finding, causeOf(finding, events))
    yield
  }
  return { judgement, still, causes }
}

function withoutCause({ causes }: Round): readonly Explained[] {
  return [...causes].filter(([, cause]) => cause === undefined).map(([finding]) => finding)
}

/** Returns a judgement without the findings that count against nobody. */
function blamed(judgement: Judgement, bad: readonly Explained[]): Judgement {
  const open = new Set(unexplained(judgement.findings))
  const blamed = new Set(bad)
  return { ...judgement, findings: judgement.findings.filter((finding) => blamed.has(finding) || !open.has(finding)) }
}

function findingKey({ kind, path }: Finding): string {
  return `${kind} ${path}`
}

/** Returns what changed between two answers of v1; undefined if that is unknown. */
function* changesBetween(compare: Compare, operation: Operation, before: SeenAnswer, after: SeenAnswer) {
  if (before.status >= 500 || after.status >= 500) return undefined
  const compared = yield* compare(operation, before, after)
  return 'findings' in compared ? compared.findings : undefined
}

export function inconclusive(reason: string): Judgement {
  return { outcome: 'inconclusive', findings: [], reason }
}
