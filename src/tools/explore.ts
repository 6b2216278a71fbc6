import { ApiError, asApiError, type CodeName } from '../errors.ts'
import type { Fields, FieldType, Source } from '../tables/fields.ts'
import { isObject, type JsonObject } from '../tables/json.ts'
import type { Env, Mapping, Operation, V1Request } from '../tables/operation.ts'
import type { Message, Resource } from '../tables/resource.ts'
import { differencesOf, operationsOf, type Tables } from '../tables/tables.ts'
import { type Call, type Executor, type Outcome, run } from '../tables/turn.ts'

/** Returns a call as text. Two calls are the same if their texts are. */
function textOf({ method, path, query, body }: Call): string {
  return JSON.stringify([method, path, query, body])
}

function textsOf(calls: readonly Call[]): ReadonlySet<string> {
  return new Set(calls.map(textOf))
}

/**
 * A value that only an answer of v2 contains. In a placeholder answer it is a text that percent-encoding does not change.
 * It can therefore be found in the calls that a plan builds from the answer.
 */
export interface Marker {
  /** Number of the call whose answer contains it, from 1. */
  readonly call: number
  /** The row of a list answer that contains it; 0 for the answer itself. */
  readonly row: number
  /** Dotted path of the member. */
  readonly path: string
}

const MARKER = /CROSSWALK-(\d+)-(\d+)-([A-Za-z0-9_.]+)-END/g

export function markerText({ call, row, path }: Marker): string {
  return `CROSSWALK-${call}-${row}-${path}-END`
}

/** Returns the markers in a text, in order. */
export function markersIn(text: string): readonly Marker[] {
  return [...text.matchAll(MARKER)].map(markerOf)
}

/** Returns the text with every marker replaced by `write`. */
export function replaceMarkers(text: string, write: (marker: Marker) => string): string {
  return text.replace(MARKER, (...match) => write(markerOf(match)))
}

/** Returns a value as words between angle brackets: `<uid of call 1>`, or `<name>` for a value of the request itself. */
export function inWords({ call, row, path }: Marker): string {
  if (call !== OF_REQUEST) return `<${path} of call ${call}>`
  return `<${row === 0 ? path : path.replaceAll('_', ' ')}>`
}

/** The number that stands for the request in place of a call. */
const OF_REQUEST = 0

/** Returns the text that stands for a value of the request itself. */
export function requestMarker(name: string): string {
  return markerText({ call: OF_REQUEST, row: 0, path: name })
}

function markerOf([, call, row, path = '']: readonly string[]): Marker {
  return { call: Number(call), row: Number(row), path }
}

/** Imagined deviations of v2 from the ordinary case: success, one row in a list, no further page. */
interface Scenario {
  /** The call with this number fails with this code. */
  readonly failing?: readonly [call: number, code: CodeName]
  /** The list call with this number has a further page. */
  readonly paged?: number
  /** Rows in every list. */
  readonly rows?: number
  /** Values of members, by the text of their marker. */
  readonly values?: ReadonlyMap<string, string>
}

/** The calls that an operation makes in a scenario, in order, and its error if it ends with one. */
interface Trace {
  readonly calls: readonly Call[]
  readonly error: ApiError | undefined
}

/** The v1 request to explain. */
export interface ExplainedRequest {
  readonly operation: Operation
  readonly request: V1Request
  readonly env: Env
  readonly shapeOf: ShapeOf
}

/** Maximum calls of an operation; one that never ends stops here. */
const MOST_CALLS = 100

/** Runs a request against imagined answers. Nothing is sent. */
export function trace(subject: ExplainedRequest, scenario: Scenario = {}): Trace {
  const calls: Call[] = []
  const answer = (call: Call): Outcome => {
    calls.push(call)
    return outcomeOf(subject, call, calls.length, scenario)
  }
  return { calls, error: follow(subject, answer, () => calls.length < MOST_CALLS) }
}

/**
 * Runs a request to its end, or until `goOn` returns false. Each call is answered at once. Returns the error that the request ends with.
 */
export function follow(
  { operation, request, env }: Pick<ExplainedRequest, 'operation' | 'request' | 'env'>,
  answer: (call: Call) => Outcome,
  goOn: () => boolean,
): ApiError | undefined {
  const { begin } = operation
  if (!begin) return undefined
  let error: ApiError | undefined
  const sendCalls: Executor['sendCalls'] = (turn, receiver) => {
    if (goOn()) receiver.settled(turn.calls.map(answer))
  }
  const failed = (thrown: unknown) => {
    error = asApiError(thrown)
  }
  run(() => begin(request, env), { sendCalls, rows: () => true, ended() {}, failed })
  return error
}

function outcomeOf({ operation, shapeOf }: ExplainedRequest, call: Call, number: number, scenario: Scenario): Outcome {
  const [failingCall, code] = scenario.failing ?? []
  if (failingCall === number && code) return { ok: false, error: new ApiError(code, `call ${number} failed`) }
  const { plural, body } = shapeOf(operation, call)
  const known = (form: JsonObject) => withValues(form, scenario.values)
  if (plural === undefined) return { ok: true, body: known(body(number, 0)) }
  const rows = Array.from({ length: scenario.rows ?? 1 }, (_, at) => known(body(number, at + 1)))
  const nextPageToken = scenario.paged === number ? markerText({ call: number, row: 0, path: 'nextPageToken' }) : ''
  return { ok: true, body: { [plural]: rows, nextPageToken } }
}

/** Returns the form with known values in place of their markers. */
export function withValues(form: JsonObject, values: Scenario['values']): JsonObject {
  if (!values || values.size === 0) return form
  return JSON.parse(JSON.stringify(form), (_, value) => (typeof value === 'string' ? (values.get(value) ?? value) : value)) as JsonObject
}

/** The condition of a call: a member of an earlier answer is (or is not) this text. */
interface Guard {
  readonly member: Marker
  readonly value: string
  readonly equal: boolean
}

/** The result of a request if a guard does not hold. */
interface Refusal extends Guard {
  readonly error: ApiError
}

/** Returns the ordinary scenario. If the plan refuses what it reads, the scenario contains the value that the plan requires. */
export function ordinary(subject: ExplainedRequest): { readonly base: Scenario; readonly assumed?: Refusal } {
  const first = trace(subject)
  if (!first.error || first.calls.length === 0) return { base: {} }
  for (const [member, value] of candidates(subject, first)) {
    const base = { values: new Map([[markerText(member), value]]) }
    if (!trace(subject, base).error) return { base, assumed: { member, value, equal: true, error: first.error } }
  }
  return { base: {} }
}

/** Returns the calls that are omitted, with no other change, if an answer already contains a text of the request. */
function guardsOf(subject: ExplainedRequest, base: Scenario, course: Trace): ReadonlyMap<number, Guard> {
  const guards = new Map<number, Guard>()
  for (const [member, value] of candidates(subject, course)) {
    const values = new Map([...(base.values ?? []), [markerText(member), value]])
    const other = trace(subject, { ...base, values })
    const left = textsOf(other.calls)
    const onlyFewer = !other.error && other.calls.length < course.calls.length && isPartOf(left, textsOf(course.calls))
    if (!onlyFewer) continue
    course.calls.forEach((call, at) => {
      if (!left.has(textOf(call)) && !guards.has(at + 1)) guards.set(at + 1, { member, value, equal: false })
    })
  }
  return guards
}

/** Each text costs a run. Bodies that a plan compares with an answer are short. */
const MOST_TEXTS = 50

/** Pairs every text of an answer with every text of the request's body and with the empty text. */
function candidates(subject: ExplainedRequest, { calls }: Trace): readonly (readonly [Marker, string])[] {
  const values = new Set(['', ...textsIn(subject.request.body).slice(0, MOST_TEXTS)])
  const members = calls.flatMap((call, at) => {
    const { plural, body } = subject.shapeOf(subject.operation, call)
    return call.method === 'GET' ? markersIn(JSON.stringify(body(at + 1, plural === undefined ? 0 : 1))) : []
  })
  return members.flatMap((member) => [...values].map((value) => [member, value] as const))
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return isObject(value) ? Object.values(value).flatMap(textsIn) : []
}

function isPartOf<T>(part: ReadonlySet<T>, whole: ReadonlySet<T>): boolean {
  return [...part].every((item) => whole.has(item))
}

/** One row of `crosswalk operations` and of the admin port's `/operations`. */
export interface OperationRow extends Pick<Operation, 'id' | 'method' | 'kind' | 'calls' | 'because'> {
  readonly path: string
  /** Codes of the differences that a client can see. */
  readonly differences: readonly string[]
}

/** Describes every operation of every domain, in table order. */
export function describeOperations(tables: Tables): readonly OperationRow[] {
  const codesOf = differencesOf(tables)
  return operationsOf(tables).map(({ id, method, template, kind, calls, because }) => {
    return { id, method, path: template, kind, calls, differences: codesOf(id), ...(because !== undefined && { because }) }
  })
}

/** The form of v2's answer to a call. Without rows it is not a list. */
interface Shape {
  readonly plural?: string | undefined
  /** The body of a single answer, or the rest of a list's; `row` 0 is the answer itself. */
  readonly body: (call: number, row: number) => JsonObject
}

type ShapeOf = ReturnType<typeof createShapes>

/** Finds the form of v2's answers: gathers the v2 collections that the tables know, and the form of their rows. */
export function createShapes(mappings: readonly Mapping[]) {
  const resources = new Map<string, Resource>()
  for (const { answer } of operationsOf({ mappings })) if (answer && isResource(answer)) resources.set(answer.v2, answer)
  return (operation: Operation, { method, path }: Call): Shape => {
    if (isSilent(operation, method)) return SILENT
    const own = [...resources.values()].find(({ v2 }) => path === v2 || path.startsWith(`${v2}/`))
    const fields = { ...operation.answer?.fields, ...own?.fields }
    const shape = { body: (call: number, row: number) => placeholder(fields, call, row) }
    if (own && method === 'GET' && path === own.v2) return { ...shape, plural: own.plural }
    return isOwnList(operation, own, path) ? { ...shape, plural: operation.rowsIn } : shape
  }
}

/** True for the list of an operation whose collection has variables, or whose rows are no resource. */
function isOwnList({ rowsIn, answer, calls }: Operation, own: Resource | undefined, path: string): boolean {
  const [, template = ''] = calls[0]?.split(' ') ?? []
  const isRow = own === undefined || (answer !== undefined && isResource(answer))
  return rowsIn !== undefined && isRow && fits(template, path)
}

/** True if the variables of a template can be filled so that it becomes the path; a value may have slashes. */
function fits(template: string, path: string): boolean {
  const parts = template.split(/\{[^{}]*\}/)
  const last = parts.at(-1) ?? ''
  const isWithin = parts.length === 1 ? path === template : path.startsWith(parts[0] ?? '') && path.endsWith(last)
  return isWithin && path.length >= parts.join('').length
}

/** A delete answers the empty message, and so does a write whose v1 answer has no member. */
function isSilent({ answer }: Operation, method: Call['method']): boolean {
  return method === 'DELETE' || (method !== 'GET' && answer !== undefined && Object.keys(answer.fields).length === 0)
}

const SILENT: Shape = { body: () => ({}) }

function isResource(message: Message): message is Resource {
  return 'plural' in message
}

/** Returns a v2 form in which every text is a marker. Every object has a uid. */
function placeholder(fields: Fields, call: number, row: number): JsonObject {
  const form: Record<string, unknown> = { uid: markerText({ call, row, path: 'uid' }) }
  fill(form, fields, '', call, row)
  return form
}

function fill(form: Record<string, unknown>, fields: Fields, prefix: string, call: number, row: number): void {
  for (const { source, type: shown, convert } of Object.values(fields)) {
    // A function reads the value of v2, which is most likely a text.
    const type: FieldType = convert ? { kind: 'text' } : shown
    for (const path of pathsOf(source)) {
      const inner = type.kind === 'object' ? type.fields : undefined
      if (path === '' && inner) fill(form, inner, prefix, call, row)
      else if (path !== '') put(form, path.split('.'), (held) => imagined(type, held, prefix + path, call, row))
    }
  }
}

/** Returns the paths in v2 that a source names, best first. */
export function pathsOf(source: Source | undefined): readonly string[] {
  if (source === undefined) return []
  if (typeof source === 'string') return [source]
  return 'firstOf' in source ? source.firstOf.flatMap(pathsOf) : [source.parentOf]
}

/** Returns the type of the rows of a list or of the values of a map, and any other type itself. */
export function innerOf(type: FieldType): FieldType {
  return type.kind === 'list' || type.kind === 'map' ? type.of : type
}

/** Returns what the translation loses of the members of a message, and why. */
export function lossesIn(fields: Fields, above: string): readonly (readonly [member: string, because: string])[] {
  return Object.entries(fields).flatMap(([name, { lossy, type }]) => {
    const inner = innerOf(type)
    const below = inner.kind === 'object' ? lossesIn(inner.fields, `${above}${name}.`) : []
    return lossy === undefined ? below : [[above + name, lossy] as const, ...below]
  })
}

function put(form: Record<string, unknown>, path: readonly string[], value: (held: unknown) => unknown): void {
  const [member = '', ...rest] = path
  if (rest.length === 0) {
    form[member] = value(form[member])
    return
  }
  const below = { ...(form[member] as JsonObject | undefined) }
  put(below, rest, value)
  form[member] = below
}

function imagined(type: FieldType, held: unknown, path: string, call: number, row: number): unknown {
  switch (type.kind) {
    case 'text':
      return markerText({ call, row, path })
    case 'object': {
      const below = { ...(held as JsonObject | undefined) }
      fill(below, type.fields, `${path}.`, call, row)
      return below
    }
    case 'list':
      return []
    case 'choice':
      return type.of.zero[1]
    default:
      return undefined
  }
}

/** Calls that are made only on a certain result of another call. */
interface Branch {
  /** Completes "when it …". */
  readonly when: string
  readonly calls: readonly Call[]
}

/** One call in the ordinary course of a request. */
export interface PlannedCall {
  readonly number: number
  readonly call: Call
  /** Made for every row of an earlier list (`row`), or once with the values of all rows (`page`); its markers stand for one row. */
  readonly each: 'row' | 'page' | undefined
  readonly guard: Guard | undefined
  /** The calls after it are made only if it succeeds. */
  readonly decisive: boolean
  readonly branches: readonly Branch[]
}

/** The calls that a request makes to v2. `error` is its result although v2 refuses nothing. */
export interface Course {
  readonly calls: readonly PlannedCall[]
  readonly error: ApiError | undefined
  /** The result of the request if an answer does not contain a required value. */
  readonly otherwise?: Refusal
}

/** Failures that plans are known to handle. */
const FAILURES: readonly CodeName[] = ['ALREADY_EXISTS', 'NOT_FOUND', 'PERMISSION_DENIED']

/**
 * Finds the calls of a plan by running it against imagined answers: the ordinary course, and what changes if one thing differs.
 * Every plan can thus be explained without describing itself.
 */
export function explore(subject: ExplainedRequest): Course {
  const { base, assumed } = ordinary(subject)
  const course = trace(subject, base)
  const twice = textsOf(trace(subject, { ...base, rows: 2 }).calls)
  const guards = guardsOf(subject, base, course)
  const calls = course.calls.map((call, at): PlannedCall => {
    const number = at + 1
    const each = eachOf(call, twice)
    // A loop over the rows needs no guard, because it makes no call without rows.
    const guard = each === 'row' ? undefined : (guards.get(number) ?? (assumed && number > assumed.member.call ? assumed : undefined))
    return { number, call, each, guard, ...reactions(subject, base, course, number) }
  })
  return { calls, error: course.error, ...(assumed && { otherwise: assumed }) }
}

/** Returns how often a call is made, from the texts of the calls that are made for two rows. */
function eachOf(call: Call, twice: ReadonlySet<string>): PlannedCall['each'] {
  const [own, second] = [textOf(call), ofSecondRow(textOf(call))]
  if (own === second) return undefined
  if (twice.has(second)) return 'row'
  const both = call.query.flatMap(([name, value]) => [...new Set([value, ofSecondRow(value)])].map((one) => [name, one] as const))
  return twice.has(textOf({ ...call, query: both })) ? 'page' : undefined
}

function ofSecondRow(text: string): string {
  return text.replace(/(CROSSWALK-\d+)-1-/g, '$1-2-')
}

/** Returns how the plan reacts if one call ends differently. */
function reactions(subject: ExplainedRequest, base: Scenario, course: Trace, number: number): Pick<PlannedCall, 'decisive' | 'branches'> {
  const usual = textsOf(course.calls)
  const further = (scenario: Scenario) => trace(subject, { ...base, ...scenario }).calls.slice(number)
  const next = course.calls[number]
  const failures = FAILURES.map((code) => ({ code, calls: further({ failing: [number, code] }) }))
  const decisive = next !== undefined && !failures.some(({ calls }) => textsOf(calls).has(textOf(next)))
  const fresh = (calls: readonly Call[]) => calls.filter((call) => !usual.has(textOf(call)))
  const branches: Branch[] = failures.map(({ code, calls }) => ({ when: `answers ${code}`, calls: fresh(calls) }))
  const nextPage = rest(fresh(further({ paged: number })), fresh(further({ paged: number, rows: 2 })))
  const nothingFound = further({ rows: 0 }).filter((call) => call.method !== 'GET')
  branches.push({ when: 'has a nextPageToken, and again for each page', calls: nextPage })
  branches.push({ when: 'finds nothing', calls: isList(subject, course, number) ? fresh(nothingFound) : [] })
  return { decisive, branches: merged(branches.filter(({ calls }) => calls.length > 0)) }
}

/**
 * Returns the call for the next page. What is left of a window depends on the rows so far: with one imagined row more it is one less. Such a
 * value becomes words.
 */
function rest([call]: readonly Call[], others: readonly Call[]): readonly Call[] {
  if (!call) return []
  const other = others.find(({ path }) => path === call.path)
  const query = call.query.map(([name, value], at) => {
    const isLess = Number(other?.query[at]?.[1]) === Number(value) - 1
    return [name, isLess ? markerText({ call: OF_REQUEST, row: 1, path: `what_is_left_of_${Number(value) + 1}` }) : value] as const
  })
  return [{ ...call, query }]
}

function isList({ operation, shapeOf }: ExplainedRequest, { calls }: Trace, number: number): boolean {
  const call = calls[number - 1]
  return call !== undefined && shapeOf(operation, call).plural !== undefined
}

/** Merges branches with the same calls. */
function merged(branches: readonly Branch[]): readonly Branch[] {
  const byCalls = new Map<string, Branch>()
  for (const branch of branches) {
    const key = branch.calls.map(textOf).join()
    const known = byCalls.get(key)
    byCalls.set(key, known ? { ...known, when: `${known.when} or ${branch.when}` } : branch)
  }
  return [...byCalls.values()]
}
