import { isDeepStrictEqual } from 'node:util'
import { isObject, type JsonObject } from '../../tables/json.ts'
import { covers } from '../../tables/operation.ts'
import { UNPAGED_PARAMETERS, WINDOW_PARAMETERS, type Window } from '../../tables/pages.ts'
import { compileCondition, isAnyGiven, spellings } from '../../tables/query.ts'
import { anything, DIFFERENCE_KINDS, describeSign, type IgnoreRule, type Proof, type Sign } from '../../tables/signs.ts'
import { ROWS } from '../../tables/turn.ts'
import { type Finding, pointerOf, rowSegment, type SeenAnswer, segmentsOf } from './compare.ts'
import type { AskedRequest, ComparisonOutcome, Movement, ShownByV1 } from './judge.ts'

/**
 * True if a finding only shows that v2 followed a window which v1 ignored: a row that lies in the window of one side alone, or a member
 * beside the rows. A row that both windows hold is expected on both sides.
 */
function isOfOtherWindow({ operation, request }: AskedRequest, { kind, at, where }: Finding): boolean {
  const windows = windowsOf(operation, request)
  if (!windows) return false
  const { v1, v2 } = windows
  if (!isRowOfList({ where })) return v1.skip !== v2.skip || v1.take !== v2.take
  const index = Number(segmentsOf(at).at(-1))
  return kind === 'missing' ? isInOneAlone(v1.skip + index, v1, v2) : isInOneAlone(v2.skip + index, v2, v1)
}

/** Returns the windows that the two services follow; undefined if v1 did not page the list by token, or both refuse the request. */
function windowsOf({ windowOf }: AskedRequest['operation'], { query }: AskedRequest['request']): Record<'v1' | 'v2', Window> | undefined {
  const known = new Map([...query].filter(([name]) => !UNPAGED_PARAMETERS.has(name)))
  try {
    return windowOf && { v1: windowOf(known), v2: windowOf(query) }
  } catch {
    return undefined
  }
}

function isInOneAlone(position: number, one: Window, other: Window): boolean {
  return holds(one, position) && !holds(other, position)
}

function holds({ skip, take = Number.POSITIVE_INFINITY }: Window, position: number): boolean {
  return position >= skip && position < skip + take
}

/** When a row says that it was created and last written, in milliseconds since 1970. */
export interface Stamps {
  readonly created?: number
  readonly updated?: number
  /** v2 showed several times of writing while it was asked again and again. */
  readonly rewritten?: true
}

/** Names of the times that a service sets, in v1, in its published dialect and in v2 (facts §19). */
const CREATED = ['created_at', 'createdAt', 'create_time', 'createTime'] as const
const UPDATED = ['updated_at', 'updatedAt', 'update_time', 'updateTime', 'last_updated', 'lastUpdated'] as const

/** Members that every write changes. */
export const UPDATE_STAMPS: ReadonlySet<string> = new Set(UPDATED)

function stampsOf(row: JsonObject): Stamps {
  const [created, updated] = [timeOf(row, CREATED), timeOf(row, UPDATED)]
  return { ...(created !== undefined && { created }), ...(updated !== undefined && { updated }) }
}

/** Returns the name under which a row shows when it was last written. */
function updateStampOf(row: JsonObject): string | undefined {
  return UPDATED.find((name) => typeof row[name] === 'string')
}

/** True if a resource has a member for the time of its last write, whether or not it was ever written. */
export function showsUpdate(row: JsonObject): boolean {
  return UPDATED.some((name) => Object.hasOwn(row, name))
}

function timeOf(row: JsonObject, names: readonly string[]): number | undefined {
  const text = names.map((name) => row[name]).find((value) => typeof value === 'string')
  const time = typeof text === 'string' ? Date.parse(text) : Number.NaN
  return Number.isNaN(time) ? undefined : time
}

/** Collects the stamps of every row of an answer of v2, by uid. v1 hides the stamps of many rows; v2 shows them. */
export function collectStamps(body: unknown, found: Map<string, Stamps>): void {
  const waiting: unknown[] = [body]
  while (waiting.length > 0) {
    const value = waiting.pop()
    if (isObject(value) && typeof value.uid === 'string') found.set(value.uid, stampsAfter(found.get(value.uid), stampsOf(value)))
    if (typeof value === 'object' && value !== null) waiting.push(...Object.values(value))
  }
}

function stampsAfter(before: Stamps | undefined, now: Stamps): Stamps {
  const isOther = before?.updated !== undefined && now.updated !== undefined && before.updated !== now.updated
  return { ...before, ...now, ...(isOther && { rewritten: true }) }
}

/** The time in which one request was asked of both sides, in milliseconds since 1970. */
export interface Period {
  readonly from: number
  readonly to: number
}

/** Milliseconds by which the clock of a service may differ from this machine's. */
const CLOCK_TOLERANCE_MS = 2000

/** True if a row was created or written in the period. */
function isWithin({ from, to }: Period, ...times: readonly (number | undefined)[]): boolean {
  return times.some((time) => time !== undefined && time >= from - CLOCK_TOLERANCE_MS && time <= to + CLOCK_TOLERANCE_MS)
}

/** Writes to the rows of a list, under way or begun while it was asked for, as far as the replicas know. */
export interface RowWrites {
  /** The number of writes to rows of this kind. */
  readonly count: number
  readonly creates: readonly RowCreate[]
  /** True if the path or the body of a write names this uid. */
  names(uid: string): boolean
}

export interface RowCreate {
  /** The uid below which the new rows are; undefined if that is not known. */
  readonly parent: string | undefined
  /** The most rows that it makes. */
  readonly most: number
}

export const NO_WRITES: RowWrites = { count: 0, creates: [], names: () => false }

/** What is known if nobody tells: there may have been any. */
export const ANY_WRITES: RowWrites = {
  count: Number.POSITIVE_INFINITY,
  creates: [{ parent: undefined, most: Number.POSITIVE_INFINITY }],
  names: () => true,
}

type Answers = Pick<Events, 'v1' | 'v2' | 'v2First' | 'movement' | 'writes'>

const WINDOWED = new Set(WINDOW_PARAMETERS.flatMap(spellings))

/**
 * Returns the rows that a window of a list gains or loses at its ends, because a further row came or went, in the window or before it.
 * A row that v1's own change explains stands at its end too: v1 may have changed only by some of the rows.
 * If nothing is known of v1 before, or if `isRepeated`, or if enough writes are known, a row may also have gone.
 */
export function shiftedRows(
  { request }: AskedRequest,
  findings: readonly Finding[],
  { v1, v2, v2First, movement, writes }: Answers,
  isRepeated: boolean,
): ReadonlySet<Finding> {
  if (!isAnyGiven(request.query, WINDOWED)) return new Set()
  const lost = findings.filter((finding) => finding.kind === 'missing' && isRowOfList(finding))
  const gained = findings.filter((finding) => finding.kind === 'extra' && isRowOfList(finding))
  if (isReplaced(lost, gained, lengthOf(v1)) && writes.count < lost.length + gained.length) return new Set()
  const isOpen = (row: Finding) => !movement.explains(row)
  const [openLost, openGained] = [lost.filter(isOpen), gained.filter(isOpen)]
  const came = [...pushedOut(lost, isOpen, gained, lengthOf(v1)), ...pushedIn(gained, openLost.length).filter(isOpen)]
  if (came.length > 0) return new Set(came)
  const mayHaveGone = v2First || isRepeated || writes.count >= THERE_AND_BACK
  const isFilled = lost.length >= gained.length && lost.length - gained.length <= writes.count
  const atStart = mayHaveGone && isFilled ? pushedIn(lost, openGained.length).filter(isOpen) : []
  return new Set([...pushedOut(gained, isOpen, lost, lengthOf(v2)), ...atStart])
}

/** Writes that move a window and move it back: a row went before it, and another one came. */
const THERE_AND_BACK = 2

/** Most rows that may come into a window that was empty. A v2 that overlooks the window usually shows more. */
const COME = 2

/** True if v2 shows none of v1's rows, but others. */
function isReplaced(lost: readonly Finding[], gained: readonly Finding[], length: number): boolean {
  return length === 0 ? gained.length > COME : lost.length >= length
}

/** Returns the open rows at the end of a list that others push out; none if an open row lies elsewhere. */
function pushedOut(
  rows: readonly Finding[],
  isOpen: (row: Finding) => boolean,
  others: readonly Finding[],
  length: number,
): readonly Finding[] {
  const fromEnd = rows.toSorted((a, b) => indexOf(b) - indexOf(a))
  const end = fromEnd.filter((row, nth) => indexOf(row) === length - 1 - nth)
  const open = rows.filter(isOpen)
  const known = new Set(end)
  return end.length <= others.length && open.every((row) => known.has(row)) ? open : []
}

/** Returns the rows from the first one of a list on, unless more rows than that went. */
function pushedIn(rows: readonly Finding[], went: number): readonly Finding[] {
  if (went > rows.length) return []
  return rows.toSorted((a, b) => indexOf(a) - indexOf(b)).filter((row, nth) => indexOf(row) === nth)
}

/**
 * Returns the rows that v2 lacks because they were created after it answered. Nothing shows when, so that as many creates must be known.
 */
export function createdRows(findings: readonly Finding[], events: Omit<Events, 'shifted' | 'created'>): ReadonlySet<Finding> {
  const left = events.v2First ? events.writes.creates.map((create) => ({ ...create })) : []
  const isCreated = (finding: Finding) => {
    const [subject, row] = subjectOf(finding, events)
    const uid = String(row.id)
    if (subject !== 'lost row' || (stampsOf(row).created ?? events.stamps.get(uid)?.created) !== undefined) return false
    const create = left.find(({ parent, most }) => most > 0 && (parent === undefined || uid.startsWith(`${parent}/`)))
    if (create) create.most -= 1
    return create !== undefined
  }
  return new Set(left.length === 0 ? [] : findings.filter((finding) => !events.movement.explains(finding)).filter(isCreated))
}

/** True for a row of the list that was asked for, and not of a list within a row. */
function isRowOfList({ where }: Pick<Finding, 'where'>): boolean {
  return where === `/${ROWS}/*`
}

function indexOf({ at }: Finding): number {
  return Number(segmentsOf(at)[1])
}

function lengthOf({ body }: SeenAnswer): number {
  const rows = body.kind === 'json' && isObject(body.value) ? body.value[ROWS] : undefined
  return Array.isArray(rows) ? rows.length : 0
}

/** A resource that v1 must be asked for before a sign explains a finding. */
export interface WantedProof extends Pick<Proof, 'read' | 'uid' | 'filtered'> {}

/** Returns the test whether a sign explains a finding about the answers to a request, and what it wants v1 to be asked for. */
function compileSign(sign: Sign) {
  const places = sign.at.map(placePattern)
  const isAsked = sign.when && compileCondition(sign.when)
  const looks = LOOKS.flatMap((compile) => compile(sign) ?? [])
  const looksSo = (asked: AskedRequest, finding: Finding) =>
    sign.kinds.includes(finding.kind) &&
    places.some((place) => place(finding.where)) &&
    looks.every((look) => look(finding)) &&
    isAsked?.(asked) !== false &&
    (!sign.otherWindow || isOfOtherWindow(asked, finding))
  const { provenBy } = sign
  if (!provenBy) return { explains: looksSo, wants: () => undefined }
  const { read, shows, filtered } = provenBy
  const shownOf = ({ shown }: AskedRequest, finding: Finding) => {
    const uid = uidBeside(finding, provenBy.uid)
    return uid === undefined ? undefined : { uid, shown: shown?.(read, uid) }
  }
  return {
    explains: (asked: AskedRequest, finding: Finding) => looksSo(asked, finding) && isShown(shownOf(asked, finding)?.shown, shows),
    /** Returns what v1 has not been asked yet, if that alone decides. */
    wants(asked: AskedRequest, finding: Finding): WantedProof | undefined {
      const of = looksSo(asked, finding) ? shownOf(asked, finding) : undefined
      return of && of.shown === undefined ? { read, uid: of.uid, ...(filtered && { filtered }) } : undefined
    },
  }
}

/** Returns the uid in v1's object around a finding. */
function uidBeside({ place }: Finding, member: string): string | undefined {
  const around = place?.up?.v1
  const uid = isObject(around) ? around[member] : undefined
  return typeof uid === 'string' && uid !== '' ? uid : undefined
}

/** If v1 did not answer, nobody can tell. The comparison is then inconclusive. */
function isShown(shown: ReturnType<ShownByV1>, wanted: Proof['shows']): boolean {
  if (shown === 'unknown' || wanted === 'nothing' || !isObject(shown)) return shown === 'unknown' || shown === wanted
  return Object.entries(wanted).every(([name, value]) => isDeepStrictEqual(shown[name], value))
}

type Look = (finding: Finding) => boolean

/** Each returns the test of one member of a sign; undefined if the sign does not have it. */
const LOOKS: readonly ((sign: Sign) => Look | undefined)[] = [
  (sign) => (Object.hasOwn(sign, 'v1') ? ({ v1 }) => isDeepStrictEqual(v1, sign.v1) : undefined),
  (sign) => (Object.hasOwn(sign, 'v2') ? ({ v2 }) => isDeepStrictEqual(v2, sign.v2) : undefined),
  ({ pairs }) => pairs && (({ v1, v2 }) => pairs.some((pair) => isDeepStrictEqual([v1, v2], pair))),
  ({ v2Counts }) => v2Counts && isFewer,
  ({ v2Items }) => v2Items && (({ v2 }) => hasItems(v2, v2Items)),
  ({ v2Shows }) => v2Shows && (({ shown }) => shows(shown, v2Shows)),
]

/** v1 and v2 write 64-bit numbers as text (facts §16.5). */
function isFewer({ v1, v2 }: Finding): boolean {
  const [all, some] = [wholeNumber(v1), wholeNumber(v2)]
  return all !== undefined && some !== undefined && some > 0n && some < all
}

function wholeNumber(value: unknown): bigint | undefined {
  return /^\d{1,20}$/.test(String(value)) ? BigInt(String(value)) : undefined
}

function hasItems(list: unknown, wanted: NonNullable<Sign['v2Items']>): boolean {
  const members = Object.entries(wanted)
  const isWanted = (item: unknown) => isObject(item) && members.every(([name, values]) => values.includes(item[name]))
  return Array.isArray(list) && list.length > 0 && list.every(isWanted)
}

function shows(shown: Finding['shown'], wanted: NonNullable<Sign['v2Shows']>): boolean {
  if (!shown || Object.keys(shown).some((name) => !Object.hasOwn(wanted, name))) return false
  return Object.entries(wanted).every(
    ([name, value]) => value === anything || (Object.hasOwn(shown, name) && isDeepStrictEqual(shown[name], value)),
  )
}

/** Returns a test of whether a `where` matches a pattern of segments. */
function placePattern(pattern: string): (where: string) => boolean {
  if (!pattern.includes('*')) return (where) => where === pattern
  const wanted = segmentsOf(pattern)
  return (where) => fits(wanted, segmentsOf(where))
}

function fits([first, ...rest]: readonly string[], segments: readonly string[]): boolean {
  if (first === undefined) return segments.length === 0
  if (first === '**') return segments.some((_, at) => fits(rest, segments.slice(at))) || fits(rest, [])
  return segments.length > 0 && (first === '*' || first === segments[0]) && fits(rest, segments.slice(1))
}

/** Returns what a rule of `diff.ignore` declares. `name` tells it from the others. */
export function ignoredDifference(rule: IgnoreRule, name: string): DescribedDeclaration {
  const sign = signOf(rule)
  const { reason, until } = rule
  return {
    code: `ignored:${name}`,
    operations: [rule.operations].flat(),
    signs: [sign],
    ignored: { reason, until },
    seen: `Ignored until ${new Date(until).toISOString()}: ${describeSign(sign).replaceAll('`', '')}.`,
    because: reason,
  }
}

const OTHER_KINDS = DIFFERENCE_KINDS.filter((kind) => kind !== 'status')

function signOf({ at, kinds, when, ...rule }: IgnoreRule): Sign {
  return {
    at: [at],
    kinds: kinds ?? (at === '' ? ['status'] : OTHER_KINDS),
    ...(when && { when }),
    ...(Object.hasOwn(rule, 'v1') && { v1: rule.v1 }),
    ...(Object.hasOwn(rule, 'v2') && { v2: rule.v2 }),
  }
}

/** An event that makes two right answers differ. */
export type Cause = 'moved' | 'came and went' | 'shifted' | 'created before' | 'written before' | 'written' | 'wrote'

/** What a finding is about. */
type Subject =
  /** v2's list has a row with an id that v1's does not have. */
  | 'new row'
  /** v1's list has a row with an id that v2's does not have. */
  | 'lost row'
  | 'order'
  /** Another value, or another element of a list without ids. */
  | 'value'
  /** v2 did not know the caller, or says that the client left. No write makes it answer so. */
  | 'refusal'
  /** Everything else: a member that one side lacks or has in another type, a status, a row that v2 shows twice. */
  | 'presence'

/** The events that can explain each kind of finding. Nothing else makes it a race. docs/why/race.md shows the same table. */
const CAUSES: Readonly<Record<Subject, readonly Cause[]>> = {
  'new row': ['moved', 'came and went', 'shifted', 'wrote'],
  'lost row': ['moved', 'created before', 'shifted', 'wrote'],
  order: ['moved', 'wrote'],
  value: ['moved', 'written before', 'written', 'wrote'],
  refusal: ['moved'],
  presence: ['moved', 'written before', 'wrote'],
}

export const REASONS: Readonly<Record<Cause, string>> = {
  moved: 'v1 changed between the two answers',
  'came and went': 'a row came and went between the answers',
  shifted: 'the window moved because a row came or went',
  'created before': 'a row was created before v1 was asked',
  'written before': 'a row was written before v1 was asked',
  written: 'a row was written there and back',
  wrote: 'the caller wrote at the same time',
}

/** What is known of the events while one answer of v2 and one of v1 were asked for. */
export interface Events {
  readonly v1: SeenAnswer
  readonly v2: SeenAnswer
  /** v2 answered first, so that nothing is known of v1 before. */
  readonly v2First: boolean
  readonly movement: Movement
  /** Rows at the ends of a window that another row pushed in or out. */
  readonly shifted: ReadonlySet<Finding>
  /** Rows without times that a known create has made. */
  readonly created: ReadonlySet<Finding>
  readonly period: Period
  /** Stamps of rows by uid, as v2 shows them. */
  readonly stamps: ReadonlyMap<string, Stamps>
  /** The caller wrote meanwhile. */
  readonly wrote: boolean
  /** What any caller wrote meanwhile. */
  readonly writes: RowWrites
}

/** Returns the event that explains a finding; undefined if there is none. */
export function causeOf(finding: Finding, events: Events): Cause | undefined {
  const [subject, row] = subjectOf(finding, events)
  return CAUSES[subject].find((cause) => HAPPENED[cause](finding, events, row))
}

type Happened = (finding: Finding, events: Events, row: JsonObject) => boolean

const HAPPENED: Readonly<Record<Cause, Happened>> = {
  moved: (finding, { movement }) => movement.explains(finding),
  /** After v1 was asked, only a row that was created or written since can appear. Before, any row can have been deleted. */
  'came and went'(_, { v2First, period }, row) {
    const { created, updated } = stampsOf(row)
    return v2First || (created === undefined && updated === undefined) || isWithin(period, created, updated)
  },
  shifted: (finding, { shifted }) => shifted.has(finding),
  'created before'(finding, { v2First, period, stamps, created }, row) {
    return v2First && (created.has(finding) || isWithin(period, stampsOf(row).created, stamps.get(String(row.id))?.created))
  },
  'written before': (finding, events) => events.v2First && HAPPENED.written(finding, events, {}),
  written: (finding, events) => objectsAround(finding, events).some((around) => wasWritten(around, events)),
  wrote: (_, { wrote }) => wrote,
}

function subjectOf(finding: Finding, { v1, v2 }: Pick<Events, 'v1' | 'v2'>): readonly [Subject, JsonObject] {
  const { kind, path } = finding
  if (kind === 'order') return ['order', {}]
  if (kind === 'status') {
    if (finding.v1 === NOT_FOUND && finding.v2 === OK) return ['new row', bodyOf(v2)]
    if (finding.v1 === OK && finding.v2 === NOT_FOUND) return ['lost row', bodyOf(v1)]
    return [REFUSALS.has(finding.v2) ? 'refusal' : 'presence', {}]
  }
  if (kind === 'extra' && isRowOfList(finding) && isRow(finding.v2, path)) return ['new row', finding.v2]
  if (kind === 'missing' && isRowOfList(finding) && isRow(finding.v1, path)) return ['lost row', finding.v1]
  return [kind === 'value' || path.includes('/[#') ? 'value' : 'presence', {}]
}

const OK = 200
const NOT_FOUND = 404
const REFUSALS: ReadonlySet<unknown> = new Set([401, 499])

/** True if the path ends with the id of this row. It ends with another name if the row has no id, or is the second one with this id. */
function isRow(row: unknown, path: string): row is JsonObject {
  return isObject(row) && Object.values(row).some((value) => typeof value === 'string' && path.endsWith(pointerOf([rowSegment(value)])))
}

interface Around {
  readonly path: string
  readonly object: JsonObject
}

/**
 * True for a value in a row that was written just then, though v1 shows the same value again: it may have been written there and back. v1
 * shows when that was, or else v2 does.
 */
export function isRewritten(finding: Finding, events: Events, around: Movement): boolean {
  if (subjectOf(finding, events)[0] !== 'value') return false
  return objectsAround(finding, events).some(({ path, object }) => {
    const name = updateStampOf(object)
    if (name !== undefined) return around.changed(`${path}/${name}`)
    return Object.values(object).some((value) => typeof value === 'string' && events.stamps.get(value)?.rewritten)
  })
}

/** Returns the objects of v1's answer that contain a finding, from the outside in. */
function objectsAround({ at, path, kind }: Finding, { v1 }: Events): readonly Around[] {
  const names = segmentsOf(path)
  const found: Around[] = []
  let here: unknown = v1.body.kind === 'json' ? v1.body.value : undefined
  for (const [depth, segment] of segmentsOf(at).entries()) {
    if (isObject(here)) found.push({ path: pointerOf(names.slice(0, depth)), object: here })
    here = isObject(here) || Array.isArray(here) ? (here as JsonObject)[segment] : undefined
  }
  return kind === 'status' ? [] : found
}

/**
 * True if an object was written at the same time. If v1 shows when that was, v1 must have shown another time before. If nothing is known of
 * v1 before, the time must be in the period. Otherwise v2's stamps and the known writes tell, those of the object and of everything that it
 * refers to.
 */
function wasWritten({ path, object }: Around, { period, movement, v2First, stamps, writes }: Events): boolean {
  const name = updateStampOf(object)
  if (name !== undefined) return movement.changed(`${path}/${name}`) || (v2First && isWithin(period, stampsOf(object).updated))
  const isWritten = (uid: string) => isWithin(period, stamps.get(uid)?.created, stamps.get(uid)?.updated) || writes.names(uid)
  return Object.values(object).some((value) => typeof value === 'string' && isWritten(value))
}

function bodyOf({ body }: SeenAnswer): JsonObject {
  return body.kind === 'json' && isObject(body.value) ? body.value : {}
}

/** Why an operator ignores a difference, and until when. */
interface Ignored {
  readonly reason: string
  /** Milliseconds since 1970 from which it explains nothing. */
  readonly until: number
}

/** The part of a declared difference (mappings/differences.ts, or the setting diff.ignore) that comparing needs. */
export interface Declaration {
  readonly code: string
  /** Operation ids, or patterns with `*`. */
  readonly operations: readonly string[]
  /** Absent if the difference shows only in writes or in texts, where no comparison can find it. */
  readonly signs?: readonly Sign[]
  /** Absent if it is declared in the tables. */
  readonly ignored?: Ignored
}

/** A declared difference with its texts: what a client sees, and why. */
export interface DescribedDeclaration extends Declaration {
  readonly seen: string
  readonly because: string
}

/** `matched` explained a finding. `stale` has not explained any. `invisible` has no signs, so it cannot. `expired` no longer does. */
type DeclarationState = 'matched' | 'stale' | 'invisible' | 'expired'

export interface DeclarationReport {
  readonly code: string
  readonly state: DeclarationState
  /** Number of findings that it explained. */
  readonly findings: number
  /** Comparisons of its operations so far. With none, a stale code may only lack traffic. */
  readonly comparisons: number
  readonly ignored?: Ignored
}

export type ExpectedDifferences = ReturnType<typeof createExpected>

/**
 * Compiles the declared differences. The first declaration that fits a finding gives its code. `now` gives milliseconds since 1970: what is
 * ignored until a date explains nothing from then on.
 */
export function createExpected(declarations: readonly Declaration[], now: () => number) {
  type Compiled = ReturnType<typeof compile>
  let all = declarations.map(compile)
  const byOperation = new Map<string, readonly Compiled[]>()
  /** Returns those of one operation. They are gathered once, because every comparison counts for them. */
  const covering = (operation: string) => {
    const found = byOperation.get(operation) ?? all.filter((one) => one.operations.some((pattern) => covers(pattern, operation)))
    byOperation.set(operation, found)
    return found
  }
  const isOver = ({ ignored }: Compiled) => ignored !== undefined && now() >= ignored.until
  const explains = (one: Compiled, asked: AskedRequest, finding: Finding) =>
    !isOver(one) && one.tests.some((test) => test.explains(asked, finding))
  return {
    /** Takes other declarations from now on. What is counted of a code stays. */
    declare(others: readonly Declaration[]): void {
      const before = new Map(all.map((one) => [one.code, one]))
      all = others.map(compile).map((one) => {
        const { findings, comparisons } = before.get(one.code) ?? one
        return { ...one, findings, comparisons }
      })
      byOperation.clear()
    },
    /** Returns the code of the declaration that explains a finding about the answers to this request. */
    codeOf: (asked: AskedRequest, finding: Finding) => covering(asked.operation.id).find((one) => explains(one, asked, finding))?.code,
    /** Returns what v1 must be asked for before it is known whether a declaration explains a finding. */
    wants: (asked: AskedRequest, finding: Finding): readonly WantedProof[] =>
      covering(asked.operation.id).flatMap((one) => (isOver(one) ? [] : one.tests.flatMap((test) => test.wants(asked, finding) ?? []))),
    /**
     * Counts a recorded comparison and the codes that explained its findings. A code that occurs twice explained two findings. Without a result,
     * no declared difference could have shown.
     */
    count(operation: string, outcome: ComparisonOutcome, codes: readonly string[]): void {
      if (outcome === 'inconclusive' || outcome === 'error') return
      for (const one of covering(operation)) one.comparisons += 1
      for (const code of codes) for (const one of all) if (one.code === code) one.findings += 1
    },
    report: (): readonly DeclarationReport[] =>
      all.map((one) => {
        const { code, findings, comparisons, ignored } = one
        return { code, state: isOver(one) ? 'expired' : stateOf(one), findings, comparisons, ...(ignored && { ignored }) }
      }),
  }
}

/** Returns a row with the counts of several processes. */
export function withCounts(row: DeclarationReport, counts: Pick<DeclarationReport, 'findings' | 'comparisons'>): DeclarationReport {
  const isCounted = row.state === 'matched' || row.state === 'stale'
  return { ...row, ...counts, ...(isCounted && { state: stateOf({ visible: true, ...counts }) }) }
}

function stateOf({ visible, findings }: { readonly visible: boolean; readonly findings: number }): DeclarationState {
  if (!visible) return 'invisible'
  return findings > 0 ? 'matched' : 'stale'
}

function compile({ code, operations, signs = [], ignored }: Declaration) {
  return {
    code,
    operations,
    tests: signs.map(compileSign),
    visible: signs.length > 0,
    ignored,
    findings: 0,
    comparisons: 0,
  }
}
