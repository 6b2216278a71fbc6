/**
 * The tools: what is answered without serving. Each is a file, and a command, a page of the site or a test uses it.
 *
 * 1. `explain.ts`, `explore.ts` and `explain-grpc.ts` show what a request becomes; nothing is sent.
 * 2. `guide.ts` tells a client what to change to call v2 itself; `openapi.ts` writes v1's contract.
 * 3. `contract.ts` reads contracts of others; `check-tables.ts` holds tables against them; `draft.ts` writes first tables.
 * 4. `replay/` counts what recorded traffic would cost and meet, or sends it to both sides.
 * 5. `play-case.ts` plays a recorded mismatch as a test.
 *
 * Nothing here is loaded at the start of `serve`, except what the admin port shows of operations.
 */
import { type ApiError, CODES } from '../errors.ts'
import { unknownParameters } from '../serve/answer.ts'
import { queryText } from '../serve/upstream/exchange.ts'
import { shellQuoted } from '../tables/check.ts'
import type { Field, Fields } from '../tables/fields.ts'
import { isObject, type JsonObject } from '../tables/json.ts'
import type { Env, Operation, OperationKind, V1Request } from '../tables/operation.ts'
import { differencesOf, type Tables } from '../tables/tables.ts'
import type { Call } from '../tables/turn.ts'
import { camelCase } from '../tables/uid.ts'
import {
  type Branch,
  type Course,
  createShapes,
  explore,
  inWords,
  type Marker,
  markersIn,
  markerText,
  type PlannedCall,
  replaceMarkers,
} from './explore.ts'

/** Writes a value of an earlier answer: as a shell variable, or as words in a comment. */
export type WriteMarker = (marker: Marker) => string

/** A request that curl can send: a call to v2, or a request of v1. */
type CurledRequest = Pick<Call, 'path' | 'query'> & { readonly method: string; readonly body?: unknown }

/** Returns a request as one curl command. The token comes from `$TOKEN`; `options` are short options of curl, such as `-sS`. */
export function curl(base: string, call: CurledRequest, options: string, write: WriteMarker): string {
  const method = call.method === 'GET' ? '' : ` -X ${call.method}`
  const body = call.body === undefined ? '' : ` -H 'Content-Type: application/json' -d ${bodyText(call.body, write)}`
  return `curl ${options}${method} -H "Authorization: Bearer $TOKEN"${body} "${urlText(base, call, write)}"`
}

/** `!` is the only character of an encoded URL that an interactive shell still expands between double quotes. */
function urlText(base: string, call: CurledRequest, write: WriteMarker): string {
  const query = queryText(call)
  return replaceMarkers(`${base}${call.path}${query && `?${query}`}`.replaceAll('!', '%21'), write)
}

function bodyText(body: unknown, write: WriteMarker): string {
  return replaceMarkers(shellQuoted(JSON.stringify(body)), (marker) => {
    const text = write(marker)
    return text.startsWith('$') ? `'"${text}"'` : text
  })
}

/** Returns the name of the shell variable for a value: `group_uid_1`. */
export function variableOf({ call, path }: Marker): string {
  return `${path.replaceAll('.', '_')}_${call}`
}

/** Returns the name of the shell variable for the whole answer of a call. */
export function answerOf(call: number): string {
  return `answer_${call}`
}

/** The shell command that picks from the values of a list. */
export type PickedValues = string

export const FIRST: PickedValues = 'head -n 1'

/** Each different value, in a line of its own. */
export const EVERY: PickedValues = 'sort -u'

/** Picks all different values for a parameter that may be repeated: `a&uidp.ids=b` where its first `uidp.ids=` is written already. */
export function joined(parameter: string): PickedValues {
  return `${EVERY} | paste -sd '&' - | sed 's/&/&${parameter}=/g'`
}

/** Returns the shell command that prints one value of a captured answer, still JSON-escaped, or the values that `pick` takes of a list. */
export function extract(marker: Marker, pick: PickedValues): string {
  return `printf '%s' "$${answerOf(marker.call)}" | tr -d '\\n' | grep -oE '${pattern(marker)}' | sed -E 's/.*: *"//; s/"$//' | ${pick}`
}

const TEXT = String.raw`"([^"\\]|\\.)*"`

/**
 * Returns the pattern of a member's name. A row's uid stands first in an object of an array; a nested object's uid follows that object's
 * name.
 */
function pattern({ row, path }: Marker): string {
  const [member = '', inner] = path.split('.')
  if (inner !== undefined) return `"${member}": *\\{[^{}]*"${inner}": *${TEXT}`
  return row > 0 && member === 'uid' ? `[[,] *\\{ *"uid": *${TEXT}` : `"${member}": *${TEXT}`
}

/** Writes the calls of a request as lines for a shell. A call under a condition that a shell cannot check is a comment. */
export function shellLines(base: string, { calls }: Course): readonly string[] {
  const commands = calls.flatMap((planned, at) => {
    const later = calls.slice(at + 1)
    const joint = planned.decisive && later.length > 0 ? ' &&' : ''
    const wanted = wantedFrom(planned.number, later)
    const lines = wanted.length > 0 ? captured(base, planned, wanted) : [plain(base, planned, joint !== '')]
    const joined = lines.map((line, index) => (index < lines.length - 1 && planned.decisive ? `${line} &&` : line))
    joined.push(`${joined.pop()}${joint}`)
    return [...joined, ...planned.branches.flatMap((branch) => comments(base, planned.number, branch))]
  })
  return commands.flatMap((command) => command.split('\n'))
}

/** Returns the values of this call's answer that later calls need. */
function wantedFrom(number: number, later: readonly PlannedCall[]): readonly Wanted[] {
  const needed = later.flatMap(({ call, each, guard }): readonly Wanted[] => [
    ...(guard ? [{ marker: guard.member, values: FIRST }] : []),
    ...markersIn(JSON.stringify(call)).map((marker) => ({ marker, values: valuesOf(call, each, marker) })),
  ])
  return needed.filter(({ marker }) => marker.call === number)
}

interface Wanted {
  readonly marker: Marker
  /** Undefined if it is needed once for each row: the loop reads it from the answer itself. */
  readonly values: PickedValues | undefined
}

function valuesOf({ query }: Call, each: PlannedCall['each'], marker: Marker): PickedValues | undefined {
  if (each === undefined) return FIRST
  return each === 'row' ? undefined : joined(query.find(([, value]) => value === markerText(marker))?.[0] ?? '')
}

function captured(base: string, { call, number, guard }: PlannedCall, wanted: readonly Wanted[]): string[] {
  const answer = answerOf(number)
  const taken = new Map(wanted.map(({ marker, values }) => [variableOf(marker), values && extract(marker, values)]))
  const lines = [...taken].flatMap(([name, value]) => (value === undefined ? [] : [`${name}=$(${value})`]))
  return [...guardLines(guard), `${answer}=$(${curl(base, call, '-fsS', asVariable)})`, `printf '%s\\n' "$${answer}"`, ...lines]
}

function guardLines(guard: PlannedCall['guard']): string[] {
  return guard ? [condition(guard)] : []
}

/** Writes one command. A value that differs from row to row makes it a loop; a guard comes first. */
function plain(base: string, { call, guard, each }: PlannedCall, stopsOnFailure: boolean): string {
  const command = curl(base, call, stopsOnFailure ? '-sS --fail-with-body' : '-sS', asVariable)
  const [first] = markersIn(JSON.stringify(call))
  if (each === 'row' && first) return `for ${variableOf(first)} in $(${extract(first, EVERY)}); do\n  ${command}\ndone`
  if (!guard) return command
  return guard.equal ? `${condition(guard)} && ${command}` : `${condition(guard)} || ${command}`
}

function condition({ member, value }: NonNullable<PlannedCall['guard']>): string {
  return `[ "$${variableOf(member)}" = ${shellQuoted(JSON.stringify(value).slice(1, -1))} ]`
}

function comments(base: string, number: number, { when, calls }: Branch): string[] {
  return [`# when call ${number} ${when}:`, ...calls.map((call) => `#   ${curl(base, call, '-sS', inWords)}`)]
}

const asVariable = (marker: Marker) => `$${'{'}${variableOf(marker)}}`

/** A member of a v1 body that is not sent to v2, and why. */
export interface DroppedMember {
  readonly member: string
  readonly because: string
}

/** Returns the members of a v1 body that the operation's table does not send to v2. */
export function droppedMembers({ request }: Operation, body: unknown): readonly DroppedMember[] {
  if (!isObject(body)) return []
  if (!request) return Object.keys(body).map((member) => ({ member, because: 'this operation reads no body' }))
  return dropped(request.fields, body, '')
}

function dropped(fields: Fields, body: JsonObject, prefix: string): readonly DroppedMember[] {
  return Object.entries(body).flatMap(([spelling, value]) => {
    const member = prefix + spelling
    const field = Object.entries(fields).find(([name, row]) => spelling === name || spelling === (row.json ?? camelCase(name)))?.[1]
    const because = reason(field)
    return because === undefined && field ? below(field, value, member) : [{ member, because: because ?? '' }]
  })
}

function reason(field: Field | undefined): string | undefined {
  if (!field) return 'v1 does not know it'
  if (field.refused !== undefined) return undefined
  if (field.source === undefined) return field.lossy ?? 'v2 has no such member'
  return field.access === 'readOnly' ? 'output only' : undefined
}

function below({ type }: Field, value: unknown, member: string): readonly DroppedMember[] {
  if (type.kind === 'object' && isObject(value)) return dropped(type.fields, value, `${member}.`)
  if (type.kind !== 'list' || type.of.kind !== 'object' || !Array.isArray(value)) return []
  const { fields } = type.of
  return value.flatMap((item, at) => (isObject(item) ? dropped(fields, item, `${member}[${at}].`) : []))
}

/** Returns the members of a v1 answer that v2 cannot know, and what the translation loses. */
export function unknowable({ answer, kind, because }: Operation): readonly string[] {
  const general = kind === 'emulated' && because !== undefined ? [because] : []
  return [...general, ...(answer ? lossy(answer.fields, '') : [])]
}

function lossy(fields: Fields, prefix: string): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const own = field.lossy === undefined ? [] : [`${prefix}${name}: ${field.lossy}`]
    const { type } = field
    const inner = type.kind === 'list' || type.kind === 'map' ? type.of : type
    return inner.kind === 'object' ? [...own, ...lossy(inner.fields, `${prefix}${name}.`)] : own
  })
}

/** What a v1 request becomes, without sending anything. */
export interface Explanation {
  readonly operation: string
  readonly kind: OperationKind
  readonly course: Course
  /** Field masks of its updates. */
  readonly masks: readonly string[]
  readonly droppedParameters: readonly string[]
  readonly droppedMembers: readonly DroppedMember[]
  /** What the answer cannot contain, although v1's did. */
  readonly unknowable: readonly string[]
  /** Codes of the differences that the client can see. */
  readonly differences: readonly string[]
  /** v1 answers it, if there is a v1 service and neither modes nor `emulated` decide otherwise. */
  readonly v1First?: true
  /** Why only a v1 service can answer it. */
  readonly v1Only?: string
  /** Answers that nobody can imagine decide what comes after the calls. */
  readonly openEnd?: true
  /** The error for the request itself. */
  readonly refusal?: ApiError
}

/** Explains one matched v1 request. */
export function explain(operation: Operation, request: V1Request, env: Env, tables: Pick<Tables, 'mappings' | 'differences'>): Explanation {
  const course = explore({ operation, request, env, shapeOf: createShapes(tables.mappings) })
  return {
    operation: operation.id,
    kind: operation.kind,
    course,
    masks: course.calls.flatMap(({ call }) => maskOf(call)),
    droppedParameters: operation.begin ? unknownParameters(operation, request) : [],
    droppedMembers: operation.begin ? droppedMembers(operation, request.body) : [],
    unknowable: unknowable(operation),
    differences: differencesOf(tables)(operation.id),
    ...(operation.kind === 'emulated' && operation.method === 'GET' && { v1First: true as const }),
    ...(operation.kind === 'v1-only' && { v1Only: operation.because ?? '' }),
    ...(course.error && (isOpen(course) ? { openEnd: true as const } : { refusal: course.error })),
  }
}

/** Imagined answers lack what some plans look for. Their failure then says nothing of the request. */
function isOpen({ calls, error }: Course): boolean {
  return calls.length > 0 && (error?.code === 'INTERNAL' || error?.code === 'UNAVAILABLE')
}

function maskOf({ path, query, body }: Call): readonly string[] {
  const mask = query.find(([name]) => name === 'updateMask')?.[1] ?? body?.updateMask
  return typeof mask === 'string' ? [`${mask} on ${path}`] : []
}

/** Writes an explanation as lines for a shell. All lines but commands are comments. */
export function textReport(base: string, explanation: Explanation): readonly string[] {
  const { operation, kind, v1Only, refusal, course } = explanation
  const head = [`# ${operation} (${kind})`]
  if (v1Only !== undefined)
    return [...head, `# only a v1 service can answer it: ${v1Only}`, '# it is passed on to upstream.v1 when that is set']
  const refused = refusal ? [`# v1 answers ${refusal.http} (code ${CODES[refusal.code].number}): ${words(refusal.message)}`] : []
  const open = explanation.openEnd ? ['# what v2 answers decides what comes next'] : []
  return [...head, ...remarks(explanation), ...refused, ...otherwise(course), ...shellLines(base, course), ...open]
}

function otherwise({ otherwise }: Explanation['course']): readonly string[] {
  if (!otherwise) return []
  const { member, value, error } = otherwise
  const is = `${member.path} of call ${member.call} is not ${JSON.stringify(value)}`
  return [`# when ${is}, v1 answers ${error.http} (code ${CODES[error.code].number}): ${words(error.message)}`]
}

function remarks(explanation: Explanation): readonly string[] {
  const { masks, droppedParameters, droppedMembers, unknowable, v1First, differences } = explanation
  const members = droppedMembers.map(({ member, because }) => `${member} (${because})`)
  return [
    ...remark('mask', masks.map(words)),
    ...remark('dropped parameters', droppedParameters),
    ...remark('dropped body members', members),
    ...unknowable.map((what) => `# cannot be known: ${what}`),
    ...(v1First ? ['# with upstream.v1 set, v1 answers it unless a rule of modes names it or emulated is v2'] : []),
    ...remark('differences', differences),
  ]
}

function remark(title: string, items: readonly string[]): readonly string[] {
  return items.length === 0 ? [] : [`# ${title}: ${items.join(', ')}`.replaceAll('\n', ' ')]
}

/** Returns the same as data. Values that only an answer of v2 contains are written `<member of call n>`. */
export function jsonReport(base: string, explanation: Explanation) {
  const { operation, kind, masks, v1Only, v1First, refusal, course } = explanation
  const { droppedParameters, droppedMembers, unknowable, differences } = explanation
  return {
    operation,
    kind,
    ...(v1Only !== undefined && { v1Only }),
    ...(v1First && { v1First }),
    ...(refusal && { refusal: { status: refusal.http, code: CODES[refusal.code].number, message: words(refusal.message) } }),
    ...(explanation.openEnd && { openEnd: true as const }),
    calls: course.calls.map((planned) => callReport(base, planned)),
    masks: masks.map(words),
    droppedParameters,
    droppedMembers,
    unknowable,
    differences,
  }
}

/** Returns one planned call as data. */
export function callReport(base: string, { number, call, each, guard, branches }: PlannedCall) {
  const condition =
    guard && `${guard.member.path} of call ${guard.member.call} ${guard.equal ? 'is' : 'is not'} ${words(JSON.stringify(guard.value))}`
  return {
    number,
    ...plainLines(base, call),
    ...(each && { each }),
    ...(condition !== undefined && { only: condition }),
    ...(branches.length > 0 && {
      branches: branches.map(({ when, calls }) => ({ when, calls: calls.map((made) => plainLines(base, made)) })),
    }),
  }
}

function plainLines(base: string, { method, path, query, body }: PlannedCall['call']) {
  const search = queryText({ query })
  const url = words(`${base}${path}${search && `?${search}`}`)
  return { method, url, ...(body !== undefined && { body: JSON.parse(words(JSON.stringify(body))) }) }
}

/** Returns the text with words in place of values that nobody knows yet. */
export function words(text: string): string {
  return replaceMarkers(text, inWords)
}
