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
  type Course,
  createShapes,
  explore,
  inWords,
  lossesIn,
  type Marker,
  markersIn,
  markerText,
  type PlannedCall,
  replaceMarkers,
} from './explore.ts'

/** A request that curl can send: a call to v2, or a request of v1. */
type CurledRequest = Pick<Call, 'path' | 'query'> & { readonly method: string; readonly body?: unknown }

/**
 * Returns a request as one curl command. The token comes from `$TOKEN`; `options` are short options of curl, such as `-sS`. `write` writes a
 * value of an earlier answer: as a shell variable, or as words in a comment.
 */
export function curl(base: string, call: CurledRequest, options: string, write: (marker: Marker) => string): string {
  const method = call.method === 'GET' ? '' : ` -X ${call.method}`
  const text = replaceMarkers(shellQuoted(JSON.stringify(call.body ?? null)), (marker) => {
    const value = write(marker)
    return value.startsWith('$') ? `'"${value}"'` : value
  })
  const body = call.body === undefined ? '' : ` -H 'Content-Type: application/json' -d ${text}`
  const query = queryText(call)
  // `!` is the only character of an encoded URL that an interactive shell still expands between double quotes.
  const url = replaceMarkers(`${base}${call.path}${query && `?${query}`}`.replaceAll('!', '%21'), write)
  return `curl ${options}${method} -H "Authorization: Bearer $TOKEN"${body} "${url}"`
}

/** Returns the name of the shell variable for a value: `group_uid_1`. */
function variableOf({ call, path }: Marker): string {
  return `${path.replaceAll('.', '_')}_${call}`
}

/** The shell commands that pick from the values of a list: the first, or each different one in a line of its own. */
const FIRST = 'head -n 1'
const EVERY = 'sort -u'

/** Returns the shell command that prints one value of a captured answer, still JSON-escaped, or the values that `pick` takes of a list. */
function extract(marker: Marker, pick: string): string {
  return `printf '%s' "$answer_${marker.call}" | tr -d '\\n' | grep -oE '${pattern(marker)}' | sed -E 's/.*: *"//; s/"$//' | ${pick}`
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
function shellLines(base: string, { calls }: Course): readonly string[] {
  const commands = calls.flatMap((planned, at) => {
    const later = calls.slice(at + 1)
    const joint = planned.decisive && later.length > 0 ? ' &&' : ''
    const wanted = wantedFrom(planned.number, later)
    const lines = wanted.length > 0 ? captured(base, planned, wanted) : [plain(base, planned, joint !== '')]
    const joined = lines.map((line, index) => (index < lines.length - 1 && planned.decisive ? `${line} &&` : line))
    joined.push(`${joined.pop()}${joint}`)
    const comments = planned.branches.flatMap(({ when, calls: others }) => [
      `# when call ${planned.number} ${when}:`,
      ...others.map((call) => `#   ${curl(base, call, '-sS', inWords)}`),
    ])
    return [...joined, ...comments]
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
  /** The shell command that picks them. Undefined if it is needed once for each row: the loop reads it from the answer itself. */
  readonly values: string | undefined
}

function valuesOf({ query }: Call, each: PlannedCall['each'], marker: Marker): string | undefined {
  if (each === undefined) return FIRST
  if (each === 'row') return undefined
  // All different values for a parameter that may be repeated: `a&uidp.ids=b` where its first `uidp.ids=` is written already.
  const [parameter = ''] = query.find(([, value]) => value === markerText(marker)) ?? []
  return `${EVERY} | paste -sd '&' - | sed 's/&/&${parameter}=/g'`
}

function captured(base: string, { call, number, guard }: PlannedCall, wanted: readonly Wanted[]): string[] {
  const answer = `answer_${number}`
  const taken = new Map(wanted.map(({ marker, values }) => [variableOf(marker), values && extract(marker, values)]))
  const lines = [...taken].flatMap(([name, value]) => (value === undefined ? [] : [`${name}=$(${value})`]))
  const first = guard ? [condition(guard)] : []
  return [...first, `${answer}=$(${curl(base, call, '-fsS', asVariable)})`, `printf '%s\\n' "$${answer}"`, ...lines]
}

/** Writes one command. A value that differs from row to row makes it a loop; a guard comes first. */
function plain(base: string, { call, guard, each }: PlannedCall, stopsOnFailure: boolean): string {
  const command = curl(base, call, stopsOnFailure ? '-sS --fail-with-body' : '-sS', asVariable)
  const [first] = markersIn(JSON.stringify(call))
  if (each === 'row' && first) return `for ${variableOf(first)} in $(${extract(first, EVERY)}); do\n  ${command}\ndone`
  return guard ? `${condition(guard)} ${guard.equal ? '&&' : '||'} ${command}` : command
}

function condition({ member, value }: NonNullable<PlannedCall['guard']>): string {
  return `[ "$${variableOf(member)}" = ${shellQuoted(JSON.stringify(value).slice(1, -1))} ]`
}

const asVariable = (marker: Marker) => `$${'{'}${variableOf(marker)}}`

/** A member of a v1 body that is not sent to v2, and why. */
export interface DroppedMember {
  readonly member: string
  readonly because: string
}

/** Returns the members of a v1 body that the operation's table does not send to v2, and why. */
export function droppedMembers({ request }: Operation, body: unknown): readonly DroppedMember[] {
  if (!isObject(body)) return []
  if (!request) return Object.keys(body).map((member) => ({ member, because: 'this operation reads no body' }))
  return dropped(request.fields, body, '')
}

function dropped(fields: Fields, body: JsonObject, prefix: string): readonly DroppedMember[] {
  return Object.entries(body).flatMap(([spelling, value]) => {
    const member = prefix + spelling
    const field = Object.entries(fields).find(([name, row]) => spelling === name || spelling === (row.json ?? camelCase(name)))?.[1]
    if (!field) return [{ member, because: 'v1 does not know it' }]
    const { refused, source, lossy, access } = field
    if (refused === undefined && source === undefined) return [{ member, because: lossy ?? 'v2 has no such member' }]
    if (refused === undefined && access === 'readOnly') return [{ member, because: 'output only' }]
    return below(field, value, member)
  })
}

function below({ type }: Field, value: unknown, member: string): readonly DroppedMember[] {
  if (type.kind === 'object' && isObject(value)) return dropped(type.fields, value, `${member}.`)
  if (type.kind !== 'list' || type.of.kind !== 'object' || !Array.isArray(value)) return []
  const { fields } = type.of
  return value.flatMap((item, at) => (isObject(item) ? dropped(fields, item, `${member}[${at}].`) : []))
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
  const { kind, because, answer } = operation
  const course = explore({ operation, request, env, shapeOf: createShapes(tables.mappings) })
  const lost = lossesIn(answer?.fields ?? {}, '').map(([member, why]) => `${member}: ${why}`)
  return {
    operation: operation.id,
    kind,
    course,
    masks: course.calls.flatMap(({ call }) => maskOf(call)),
    droppedParameters: operation.begin ? unknownParameters(operation, request) : [],
    droppedMembers: operation.begin ? droppedMembers(operation, request.body) : [],
    unknowable: kind === 'emulated' && because !== undefined ? [because, ...lost] : lost,
    differences: differencesOf(tables)(operation.id),
    ...(kind === 'emulated' && operation.method === 'GET' && { v1First: true as const }),
    ...(kind === 'v1-only' && { v1Only: because ?? '' }),
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
