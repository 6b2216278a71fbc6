import type { Steps } from '../../serve/bounds.ts'
import { isAccepted } from '../../serve/sides.ts'
import { nameIn } from '../../tables/compile.ts'
import { type Field, type Fields, type FieldType, instant, withoutZeros } from '../../tables/fields.ts'
import { isObject, type JsonObject } from '../../tables/json.ts'
import type { Operation } from '../../tables/operation.ts'
import type { DifferenceKind } from '../../tables/signs.ts'
import { ROWS } from '../../tables/turn.ts'
import type { Dialect } from '../../tables/uid.ts'

/** A place where v2's answer, in v1 space, differs from v1's. Its values are unredacted: `redact` them before they leave the process. */
export interface Finding {
  readonly kind: DifferenceKind
  /** JSON Pointer into the body as sent, or `header:<name>`. The index is v2's for a row that only v2 has, and v1's for every other row. */
  readonly at: string
  /** The same in table names, with `*` for indices and map keys. Totals, declarations and noise use it in either dialect. */
  readonly where: string
  /** The same with row ids in place of indices. It tells whether two findings concern the same row. */
  readonly path: string
  /** undefined if that side has no value. For `status`, the HTTP statuses; for `order`, the ids of the first rows that changed places. */
  readonly v1: unknown
  readonly v2: unknown
  /** What v2 shows, by table names: the object that lacks the member, or the whole answer of another status. */
  readonly shown?: JsonObject
  /** The place in both answers, so that records can show what is around it. Absent outside of the bodies. */
  readonly place?: JsonPath
}

/** A 64-bit number of seconds has at most 20 digits. */
const DURATION = /^(-?\d{1,20})(?:\.(\d+))?s$/

/** Returns a protobuf duration (`"3600s"`) as a text that is the same in every spelling. */
export function seconds(text: string): string | undefined {
  const [, whole, fraction = ''] = DURATION.exec(text) ?? []
  return whole === undefined ? undefined : `${BigInt(whole)}.${withoutZeros(fraction)}`
}

/** The result of comparing two values that are neither both objects nor both lists. */
type Verdict = 'same' | 'type' | 'value'

type JsonType = 'nothing' | 'null' | 'boolean' | 'number' | 'string' | 'list' | 'object'

/** null is a type of its own: a v1 client distinguishes it from `""`, `[]` and `{}` (facts §16.3). `nothing` is an empty body. */
function jsonType(value: unknown): JsonType {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  return typeof value as JsonType
}

/**
 * Compares two values by the rules of one kind of scalar. The JSON types must agree first: the text `"5"` and the number `5` differ in
 * type.
 * v1 promises strings for 64-bit integers (facts §16.5), and a client that adds 1 gets another result for a number.
 */
function compareScalars(of: Scalar | 'any', v1: unknown, v2: unknown): Verdict {
  if (v1 === v2) return 'same'
  if (jsonType(v1) !== jsonType(v2)) return 'type'
  return typeof v1 === 'string' && RULES[of]?.(v1, v2 as string) ? 'same' : 'value'
}

type Rule = (v1: string, v2: string) => boolean

const alike =
  (normal: (text: string) => unknown): Rule =>
  (v1, v2) => {
    const value = normal(v1)
    return value !== undefined && value === normal(v2)
  }

/** No 64-bit integer is longer; longer ones are compared as text. */
const INTEGER = /^-?\d{1,20}$/

/** Rules for texts that are equal in different spellings. Kinds that are not listed are equal if their texts are. */
const RULES: Partial<Record<Scalar | 'any', Rule>> = {
  time: alike(instant),
  duration: alike(seconds),
  long: alike((text) => (INTEGER.test(text) ? BigInt(text) : undefined)),
  // Each side has its own cursors (facts §20), but both must agree on whether there is a further page.
  cursor: (v1, v2) => (v1 === '') === (v2 === ''),
  any: alike(instant),
}

/** A place in a JSON answer during a walk: a chain from the inside out. A pointer is only built where a difference is found. */
export interface JsonPath {
  readonly up: JsonPath | undefined
  /** The member's name as sent, or the index. */
  readonly at: string
  /** The member's table name, or `*` for an index or a key of a user's map. */
  readonly where: string
  /** Like `at`, but a row of a list is `[its id]`, which does not change when other rows are added or removed. */
  readonly path: string
  readonly depth: number
  /** What each side has there; undefined if it has nothing. */
  readonly v1: unknown
  readonly v2: unknown
}

/** Returns the place of two whole answers. Its JSON Pointer is the empty string. */
function rootOf(v1: unknown, v2: unknown): JsonPath {
  return { up: undefined, at: '', where: '', path: '', depth: 0, v1, v2 }
}

/** The API gives no answer that is nested deeper than this. */
const MAX_DEPTH = 100

/** Throws a RangeError for a value that is nested too deeply, before the stack overflows. */
function checkDepth(depth: number): void {
  if (depth > MAX_DEPTH) throw new RangeError(`it is nested deeper than ${MAX_DEPTH} levels`)
}

/** Any one index or map key. */
export const ANY = '*'

/** What both sides have at one place. */
export type Both = Pick<JsonPath, 'v1' | 'v2'>

/** Returns the place one level down. In `path`, only rows keep a closing bracket, because a map key may contain one too. */
function below(up: JsonPath, { v1, v2 }: Both, at: string, where = at, path = at.replaceAll(']', ')')): JsonPath {
  return { up, at, where, path, depth: up.depth + 1, v1, v2 }
}

/** Returns the segment of a row in `path`. */
export function rowSegment(id: string): string {
  return `[${id}]`
}

/** True for the segment of a row in `path`. */
export function isRowSegment(segment: string): boolean {
  return segment.endsWith(']')
}

/** Returns the JSON Pointer (RFC 6901) of a place in one of its three spellings. */
export function pointer(place: JsonPath, spelling: 'at' | 'where' | 'path'): string {
  const segments: string[] = []
  for (let here: JsonPath | undefined = place; here?.up; here = here.up) segments.unshift(here[spelling])
  return pointerOf(segments)
}

export function pointerOf(segments: readonly string[]): string {
  return segments.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
}

/** Returns the unescaped segments of a JSON Pointer. */
export function segmentsOf(text: string): readonly string[] {
  return text
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** Returns the id of the innermost row that contains a `path`; undefined outside of every row, and for rows without ids. */
export function rowIdOf(path: string): string | undefined {
  const id = segmentsOf(rowOf(path) ?? '')
    .at(-1)
    ?.slice(1, -1)
  return id?.startsWith('#') ? undefined : id?.replace(/~\d+$/, '')
}

/** Returns the pointer of the row that contains a `path`; undefined outside of every row. */
export function rowOf(path: string): string | undefined {
  const end = path.lastIndexOf(']')
  return end < 0 ? undefined : path.slice(0, end + 1)
}

/** Scalars that have their own rule of equality; `cursor` is a page token. */
type Scalar = 'text' | 'flag' | 'int' | 'number' | 'long' | 'time' | 'duration' | 'bytes' | 'choice' | 'cursor'

/** The form of an answer, so that its tables decide how it is compared (design §3). */
export type Form =
  /** No table describes it: compared as plain JSON. `isName` tells its names from data; without it, only those at the top are names. */
  | { readonly kind: 'any'; readonly isName?: IsName }
  /** Compared as one value, without looking inside. */
  | { readonly kind: 'whole' }
  | { readonly kind: 'scalar'; readonly of: Scalar }
  /** `key` is the member, as sent, that identifies a row. */
  | { readonly kind: 'object'; readonly members: ReadonlyMap<string, Member>; readonly key?: string }
  | { readonly kind: 'list' | 'map'; readonly of: Form }

/** True for the name of a member, and false for data: a key of a user's map. */
export type IsName = (name: string) => boolean

interface Member {
  /** The table name, which is the same in both dialects. */
  readonly name: string
  readonly form: Form
}

const ANY_FORM: Form = { kind: 'any' }

/** google.rpc.Status. Its details are v2's own and are compared as one value (facts §15). */
export const ERROR_FORM: Form = {
  kind: 'object',
  members: new Map<string, Member>([
    ['code', { name: 'code', form: { kind: 'scalar', of: 'int' } }],
    ['message', { name: 'message', form: { kind: 'scalar', of: 'text' } }],
    ['details', { name: 'details', form: { kind: 'whole' } }],
  ]),
}

/** Returns the form of an error beside answers of this form. A form that tells names itself is that of errors too. */
function errorForm(form: Form): Form {
  return form.kind === 'any' && form.isName ? form : ERROR_FORM
}

/** Returns the form of an operation's successful answer in one dialect: `any` for an operation without a table. */
export function answerForm(operation: Operation, dialect: Dialect, isName?: IsName): Form {
  const { answer, envelope } = operation
  if (!answer) return isName ? { kind: 'any', isName } : ANY_FORM
  const row = objectForm(answer.shown, dialect)
  const empty = operation.empty(dialect)
  if (!isObject(empty) || !Array.isArray(empty[ROWS])) return row
  const rest = envelope ? objectForm(envelope.shown, dialect).members : new Map<string, Member>()
  return { kind: 'object', members: new Map([[ROWS, { name: ROWS, form: { kind: 'list', of: row } }], ...rest]) }
}

type ObjectForm = Extract<Form, { kind: 'object' }>

function objectForm(fields: Fields, dialect: Dialect): ObjectForm {
  const shown = Object.entries(fields).filter(([, { access, only = dialect }]) => access !== 'writeOnly' && only === dialect)
  const members = shown.map(([name, field]) => [nameIn(dialect, name, field), { name, form: formOf(field, dialect) }] as const)
  const key = shown.find(([, { source, type }]) => type.kind === 'text' && typeof source === 'string' && IDS.has(source))
  return { kind: 'object', members: new Map(members), ...(key && { key: nameIn(dialect, ...key) }) }
}

/** v2's names for the id of a row: `uid`, and `id` in the advisory feed (facts §7, §17). */
const IDS = new Set(['uid', 'id'])

/** v2's name for a cursor. Only the side that made a cursor can read it (facts §20). */
const CURSOR = 'nextPageToken'

function formOf({ source, type }: Field, dialect: Dialect): Form {
  return source === CURSOR ? { kind: 'scalar', of: 'cursor' } : typeForm(type, dialect)
}

function typeForm(type: FieldType, dialect: Dialect): Form {
  if (type.kind === 'object') return objectForm(type.fields, dialect)
  if (type.kind === 'list' || type.kind === 'map') return { kind: type.kind, of: typeForm(type.of, dialect) }
  return { kind: 'scalar', of: type.kind }
}

/** Returns the form of a place in table names, where `*` is any row or map key; undefined if the tables have no such place. */
export function formAt(form: Form, [first, ...rest]: readonly string[]): Form | undefined {
  if (first === undefined) return form
  if (form.kind === 'list' || form.kind === 'map') return first === ANY ? formAt(form.of, rest) : undefined
  if (form.kind !== 'object') return undefined
  const inner = [...form.members.values()].find(({ name }) => name === first)
  return inner && formAt(inner.form, rest)
}

/** The body of an answer, as far as it can be compared. */
export type Captured =
  /** `text`: what it was read from, if it was text. */
  | { readonly kind: 'json'; readonly value: unknown; readonly text?: string }
  /** `isSum`: it is the sum of several answers of the side that was too large. */
  | { readonly kind: 'too-large'; readonly limit: number; readonly isSum?: true }
  | { readonly kind: 'not-json' }
  /** The connection broke before the end of the body. */
  | { readonly kind: 'broken' }
  /** It is not JSON and was never text. `because` completes "v1 returned …". */
  | { readonly kind: 'no-value'; readonly because: string }

/** Says why a body cannot be compared, and what to change. */
export function whyUnread(side: 'v1' | 'v2', body: Exclude<Captured, { readonly kind: 'json' }>): string {
  if (body.kind === 'not-json') return `${side} sent a body that is not JSON`
  if (body.kind === 'no-value') return `${side} returned ${body.because}`
  if (body.kind === 'broken') return `${side} broke off its answer`
  return `${side} sent more than diff.answerBytes (${body.limit} bytes), so it was not compared; raise that setting to compare it`
}

/**
 * Reads the text of a body. One of more than `limit` characters makes the comparison inconclusive, with that reason. A text that repeats the
 * one of `known` is the same value: it is neither parsed nor compared again. Only a first text is kept for that.
 */
export function capturedText(text: string, limit: number, known?: Captured): Captured {
  if (text.length > limit) return { kind: 'too-large', limit }
  if (known?.kind === 'json' && known.text === text) return known
  if (text.trim() === '') return { kind: 'json', value: undefined }
  try {
    return { kind: 'json', value: JSON.parse(text), ...(known === undefined && { text }) }
  } catch {
    return { kind: 'not-json' }
  }
}

/** Two rows that belong together, by index. A row without a partner has undefined on the other side. */
interface Pair {
  readonly v1: number | undefined
  readonly v2: number | undefined
  /** Identifies the pair: the row's id, or its position if it has no id. */
  readonly id: string
}

interface Alignment {
  readonly pairs: readonly Pair[]
  /** Ids of the first common rows whose order differs; undefined if the order agrees. */
  readonly order: { readonly v1: string; readonly v2: string } | undefined
}

type Rows = readonly unknown[]

/**
 * Pairs the rows of two lists. It pairs them by id if `key` names a member that every row has.
 * Otherwise it pairs equal rows, and then the remaining rows in their order. Repeated rows are paired one by one, so that a duplicate
 * shows.
 */
export function* align(v1: Rows, v2: Rows, key: string | undefined): Steps<Alignment> {
  const id = keyed(v1, v2, key)
  return inStep(v1, v2, id) ?? (yield* alignLabels(v1, v2, id))
}

type Id = (row: unknown) => string

const whole: Id = (row) => canonical(row)

/** A fast path for the usual case: the same rows in the same order. Rows without ids must be equal plain values. */
function inStep(v1: Rows, v2: Rows, id: Id | undefined): Alignment | undefined {
  if (v1.length !== v2.length) return undefined
  const pairs: Pair[] = []
  for (let at = 0; at < v1.length; at++) {
    const name = id?.(v1[at])
    if (id ? name !== id(v2[at]) : v1[at] !== v2[at]) return undefined
    pairs.push({ v1: at, v2: at, id: name ?? `#${at}` })
  }
  return { pairs, order: undefined }
}

function* alignLabels(v1: Rows, v2: Rows, id: Id | undefined): Steps<Alignment> {
  const left = yield* labels(v1, id ?? whole)
  const right = yield* labels(v2, id ?? whole)
  const at = new Map<string, number>()
  for (const [index, label] of right.entries()) {
    at.set(label, index)
    yield
  }
  const pairs: Pair[] = []
  const lost: number[] = []
  const common: string[] = []
  for (const [index, label] of left.entries()) {
    const partner = at.get(label)
    if (partner === undefined) lost.push(index)
    else {
      common.push(label)
      pairs.push({ v1: index, v2: partner, id: id ? label : `#${index}` })
    }
    yield
  }
  yield
  const known = new Set(common)
  yield
  const gained = Array.from(right.keys()).filter((index) => !known.has(right[index]!))
  yield
  const order = firstMoved(
    common,
    right.filter((label) => known.has(label)),
  )
  yield
  for (const pair of leftOver(lost, gained, id && { left, right })) pairs.push(pair)
  return {
    pairs,
    order: order && (id ? order : { v1: `#${left.indexOf(order.v1)}`, v2: `#${left.indexOf(order.v2)}` }),
  }
}

/** Leaves rows with ids without a partner. Rows without ids count as changed and are paired in their order. */
function leftOver(
  v1: readonly number[],
  v2: readonly number[],
  ids: { left: readonly string[]; right: readonly string[] } | undefined,
): Pair[] {
  if (ids) {
    return [
      ...v1.map((index) => ({ v1: index, v2: undefined, id: ids.left[index] ?? '' })),
      ...v2.map((index) => ({ v1: undefined, v2: index, id: ids.right[index] ?? '' })),
    ]
  }
  return Array.from({ length: Math.max(v1.length, v2.length) }, (_, nth) => ({ v1: v1[nth], v2: v2[nth], id: `#${v1[nth] ?? v2[nth]}` }))
}

/** Returns the function that reads a row's id, or undefined if a row has none. Without a table, the id is `id` or `uid`. */
function keyed(v1: Rows, v2: Rows, key: string | undefined): Id | undefined {
  const name = (key === undefined ? ['id', 'uid'] : [key]).find((member) =>
    [v1, v2].every((rows) => rows.every((row) => hasId(row, member))),
  )
  return name === undefined ? undefined : (row) => String((row as Record<string, unknown>)[name])
}

function hasId(row: unknown, member: string): boolean {
  return isObject(row) && Object.hasOwn(row, member) && typeof row[member] === 'string' && row[member] !== ''
}

/** Labels every row. Repeated names get different labels. */
function* labels(rows: Rows, name: Id): Steps<readonly string[]> {
  const seen = new Map<string, number>()
  const labels: string[] = []
  for (const row of rows) {
    const text = name(row)
    const nth = (seen.get(text) ?? 0) + 1
    seen.set(text, nth)
    labels.push(nth === 1 ? text : `${text}~${nth}`)
    yield
  }
  return labels
}

function firstMoved(v1: readonly string[], v2: readonly string[]): Alignment['order'] {
  const index = v1.findIndex((label, at) => label !== v2[at])
  return index < 0 ? undefined : { v1: v1[index] ?? '', v2: v2[index] ?? '' }
}

/**
 * Writes JSON text that does not depend on the order of members, which has no meaning (facts §16.8).
 * `depth` is the depth of the value in its answer. Throws a RangeError if the value is nested too deeply.
 */
export function canonical(value: unknown, depth = 0): string {
  checkDepth(depth)
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join()}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'nothing'
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name], depth + 1)}`).join()}}`
}

type Report = (finding: Finding) => void

/**
 * Reports every difference of two JSON values at one place. A member that only v1 has is `missing`, and one that only v2 has is `extra`.
 * The value does not matter: v1 distinguishes absent (oneof members, optional scalars), null and unset (facts §16.3).
 */
function* compareValues(form: Form, place: JsonPath, report: Report): Steps<void> {
  const { v1, v2 } = place
  if (v1 === v2) return
  checkDepth(place.depth)
  const say = (kind: DifferenceKind) => report(finding(kind, place))
  if (form.kind === 'whole') {
    if (canonical(v1) !== canonical(v2)) say('value')
  } else if (Array.isArray(v1) && Array.isArray(v2)) {
    yield* compareLists(form.kind === 'list' ? form.of : anyBelow(form), v1, v2, place, report)
  } else if (isObject(v1) && isObject(v2)) {
    yield* compareMembers(form, v1, v2, place, report)
  } else {
    const verdict = compareScalars(form.kind === 'scalar' ? form.of : 'any', v1, v2)
    if (verdict !== 'same') say(verdict)
  }
}

function* compareMembers(form: Form, v1: JsonObject, v2: JsonObject, place: JsonPath, report: Report): Steps<void> {
  let shown: JsonObject | undefined
  for (const name of Object.keys(v1)) {
    const isShared = Object.hasOwn(v2, name)
    // Most members are equal. A place is only made where it may be needed.
    if (isShared && v1[name] === v2[name]) continue
    const [inner, memberForm] = member(form, name, place, { v1: v1[name], v2: isShared ? v2[name] : undefined })
    if (isShared) yield* compareValues(memberForm, inner, report)
    else {
      shown ??= inTableNames(form, v2)
      report({ ...finding('missing', inner), shown })
    }
    yield
  }
  for (const name of Object.keys(v2)) {
    if (Object.hasOwn(v1, name)) continue
    report(finding('extra', member(form, name, place, { v1: undefined, v2: v2[name] })[0]))
    yield
  }
}

/** Returns an object with the table names of its members. */
function inTableNames(form: Form, value: JsonObject): JsonObject {
  if (form.kind !== 'object') return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [form.members.get(name)?.name ?? name, member]))
}

/**
 * Returns the place and form of a member. A member that the table does not have keeps its name; below it, and in a user's map, names are
 * data.
 */
function member(form: Form, name: string, place: JsonPath, both: Both): readonly [JsonPath, Form] {
  if (form.kind === 'object') {
    const known = form.members.get(name)
    return [below(place, both, name, known?.name ?? name), known?.form ?? ANY_FORM]
  }
  const isNamed = form.kind === 'any' && form.isName ? form.isName(name) : place.up === undefined
  return [below(place, both, name, isNamed ? name : ANY), form.kind === 'map' ? form.of : anyBelow(form)]
}

/** Returns the form of what no table describes, below a place of this form. */
function anyBelow(form: Form): Form {
  return form.kind === 'any' ? form : ANY_FORM
}

/** Compares each row with its partner, whatever its position. A different order is one difference of its own. */
function* compareLists(form: Form, v1: readonly unknown[], v2: readonly unknown[], place: JsonPath, report: Report): Steps<void> {
  const { pairs, order } = yield* align(v1, v2, form.kind === 'object' ? form.key : undefined)
  for (const { v1: left, v2: right, id } of pairs) {
    const both = { v1: left === undefined ? undefined : v1[left], v2: right === undefined ? undefined : v2[right] }
    const row = below(place, both, String(left ?? right), ANY, rowSegment(id))
    if (left === undefined) report(finding('extra', row))
    else if (right === undefined) report(finding('missing', row))
    else yield* compareValues(form, row, report)
    yield
  }
  if (order) report(finding('order', place, order))
}

/** The values are those at the place, unless the kind has others. */
function finding(kind: DifferenceKind, place: JsonPath, { v1, v2 }: Both = place): Finding {
  return { kind, at: pointer(place, 'at'), where: pointer(place, 'where'), path: pointer(place, 'path'), v1, v2, place }
}

/** One side's answer to a v1 request, in v1 space. */
export interface SeenAnswer {
  readonly status: number
  /** Names in lower case; only `content-type` is compared. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Captured
  /** What the side did, if it did not answer over HTTP. It completes "v1 …". */
  readonly did?: string
  /** The tables gave this answer without a call, so no service checked the credential. */
  readonly unasked?: true
}

/** The result of comparing: every difference (none if the answers are equal), the first ones (`isCut`), or why there is no result. */
type Compared = { readonly findings: readonly Finding[]; readonly isCut?: true } | { readonly inconclusive: string }

export type Compare = (operation: Operation, v1: SeenAnswer, v2: SeenAnswer) => Steps<Compared>

export interface CompareSettings {
  readonly dialect: Dialect
  readonly isName?: IsName | undefined
}

/** Compares two answers to one request of an operation. Both must use this dialect. */
export function createCompare({ dialect, isName }: CompareSettings): Compare {
  const forms = new Map<Operation, Form>()
  return (operation, v1, v2) => {
    let form = forms.get(operation)
    if (!form) {
      form = answerForm(operation, dialect, isName)
      forms.set(operation, form)
    }
    return compareReplies(form, v1, v2)
  }
}

/**
 * Compares two answers under one form. Different statuses count as one difference, and the bodies are then not compared.
 * Errors are compared by code and message, and their details as one value.
 */
function* compareReplies(form: Form, v1: SeenAnswer, v2: SeenAnswer): Steps<Compared> {
  if (v1.status !== v2.status) return { findings: [otherStatus(form, v1, v2)] }
  for (const [side, { body }] of [['v1', v1] as const, ['v2', v2] as const]) {
    if (body.kind !== 'json') return { inconclusive: whyUnread(side, body) }
  }
  const findings = compareHeaders(v1, v2)
  const report = (found: Finding) => {
    if (findings.push(found) === MOST_FINDINGS) throw CUT
  }
  try {
    yield* compareValues(v1.status >= 400 ? errorForm(form) : form, rootOf(bodyOf(v1), bodyOf(v2)), report)
  } catch (error) {
    if (error === CUT) return { findings, isCut: true }
    if (error instanceof RangeError) return { inconclusive: `an answer cannot be walked: ${error.message}` }
    throw error
  }
  return { findings }
}

/** The comparison ends after this many differences, because finding them all can take seconds of the core. */
export const MOST_FINDINGS = 10_000
const CUT = new Error('enough differences were found')

/** True for two successes with one text and one media type. They match whatever the tables say, so that nothing is walked. */
export function areSame(v1: SeenAnswer, v2: SeenAnswer): boolean {
  const isShared = v1.body === v2.body && v1.body.kind === 'json' && v1.status === v2.status
  return isShared && isAccepted(v1) && v1.headers['content-type'] === v2.headers['content-type']
}

/** Returns the JSON of an answer; undefined if it has none. */
export function bodyOf({ body }: SeenAnswer): unknown {
  return body.kind === 'json' ? body.value : undefined
}

function otherStatus(form: Form, v1: SeenAnswer, v2: SeenAnswer): Finding {
  const body = bodyOf(v2)
  const found = finding('status', rootOf(bodyOf(v1), body), { v1: v1.status, v2: v2.status })
  return isObject(body) ? { ...found, shown: inTableNames(v2.status >= 400 ? errorForm(form) : form, body) } : found
}

/** Compares the media types where both sides have one. A v1 client reads no other header of an answer. */
function compareHeaders(v1: SeenAnswer, v2: SeenAnswer): Finding[] {
  const [left, right] = [mediaType(v1), mediaType(v2)]
  if (left === undefined || right === undefined || left === right) return []
  const at = 'header:content-type'
  return [{ kind: 'value', at, where: at, path: at, v1: left, v2: right }]
}

function mediaType({ headers }: SeenAnswer): string | undefined {
  return headers['content-type']?.split(';')[0]?.trim().toLowerCase()
}
