import { z } from 'zod'
import { type Facts, type FactsOfBoth, type HttpRule, routeOf, ruleOf } from '../grpc/facts.ts'
import type { RequestKind, SampledKind } from '../migrate/clients.ts'
import { queryText } from '../serve/upstream/exchange.ts'
import { isShownIn, nameIn } from '../tables/compile.ts'
import type { EnumMap, EnumRow, Field, Fields, FieldType, Source } from '../tables/fields.ts'
import type { JsonObject } from '../tables/json.ts'
import { SKIP_PARAMETER, TOKEN_PARAMETER } from '../tables/list.ts'
import type { Env, Mapping, Operation, V1Request } from '../tables/operation.ts'
import { WINDOW_PARAMETERS } from '../tables/pages.ts'
import { asParam, ORDER_PARAMETER, type Param } from '../tables/query.ts'
import { type Call, ROWS } from '../tables/turn.ts'
import { type Dialect, variablesOf } from '../tables/uid.ts'
import { callReport, curl, explain, jsonReport, words } from './explain.ts'
import { createShapes, innerOf, inWords, type PlannedCall, requestMarker, trace } from './explore.ts'

/** The format of a guide as JSON. It grows when a member changes its meaning; new members do not change it. */
export const GUIDE_FORMAT = 1

/** What becomes of a v1 parameter or member for a client that calls v2 itself. */
const FATES = ['same', 'renamed', 'moved', 'inverted', 'converted', 'made', 'ignored', 'dropped'] as const

const plainCall = z.strictObject({
  method: z.enum(['GET', 'POST', 'PUT', 'PATCH', 'DELETE']),
  /** The whole URL. What only the client or an earlier answer knows stands between angle brackets: `<uid of call 1>`. */
  url: z.string(),
  body: z.unknown().optional(),
  /** The same as a line for a shell, with the variables TOKEN and V2. */
  curl: z.string(),
})

const guideCall = plainCall.extend({
  number: z.number().int().positive(),
  /** It is made for every row of an earlier answer. */
  each: z.enum(['row', 'page']).optional(),
  /** It is made only under this condition. */
  only: z.string().optional(),
  /** Calls that follow when this one ends in a certain way: `when it <when>`. */
  branches: z.array(z.strictObject({ when: z.string(), calls: z.array(plainCall) })).optional(),
})

const guideRequest = z.strictObject({
  /** The v1 request, as `METHOD /path?query`. */
  v1: z.string(),
  /** Names of the members of its body; absent without a body, and where no body was seen. */
  members: z.array(z.string()).optional(),
  /** Parameters that v1 ignores. */
  unknownParameters: z.number().int().positive().optional(),
  /** Share of the calls of this operation, 0 to 1, as far as requests were looked at. */
  share: z.number().optional(),
  calls: z.array(guideCall),
  /** v1 itself refuses the request. */
  refusal: z.strictObject({ status: z.number(), code: z.number(), message: z.string() }).optional(),
})

const parameterRow = z.strictObject({
  v1: z.string(),
  /** Absent if v2 has no such parameter. */
  v2: z.string().optional(),
  fate: z.enum(FATES),
  /** The same part of a request in both versions. */
  example: z.strictObject({ v1: z.string(), v2: z.string() }).optional(),
  note: z.string().optional(),
})

const memberRow = z.strictObject({
  /** Dotted; `[]` stands for every row of a list, `*` for every key of a map. */
  v1: z.string(),
  /** `….uid` is in the object that the note of the member above names. Absent if v2 has no such member. */
  v2: z.string().optional(),
  fate: z.enum(FATES),
  /** How the values of an enum are named. */
  values: z.string().optional(),
  note: z.string().optional(),
})

const seenDifference = z.strictObject({
  kind: z.enum(['status', 'missing', 'extra', 'type', 'value', 'order']),
  where: z.string(),
  count: z.number(),
  /** The declared difference that explains it. */
  code: z.string().optional(),
})

const counts = {
  calls: z.number().int().optional(),
  /** Absent if they were counted for less than an hour. */
  perDay: z.number().optional(),
}

const guideSection = z.strictObject({
  operation: z.string(),
  /** The methods of gRPC that say the same: the one of v1, and those of the calls to v2. */
  grpc: z.strictObject({ v1: z.string(), v2: z.array(z.string()) }).optional(),
  kind: z.enum(['direct', 'composed', 'emulated']),
  route: z.string(),
  because: z.string().optional(),
  ...counts,
  mismatches: z.number().int().optional(),
  requests: z.array(guideRequest),
  /** Requests of further kinds that were looked at and not kept. */
  otherRequests: z.number().int().optional(),
  parameters: z.array(parameterRow),
  /** Members that the client reads, and members that it sends. */
  answer: z.array(memberRow),
  body: z.array(memberRow),
  differences: z.array(z.strictObject({ code: z.string(), seen: z.string(), because: z.string() })),
  seen: z.array(seenDifference),
})

const guideBlocker = z.strictObject({
  /** An operation, `operation?parameter`, or a path that no table knows. */
  use: z.string(),
  route: z.string().optional(),
  because: z.string(),
  /** What comes closest in v2; absent if nothing does. */
  instead: z.string().optional(),
  ...counts,
  requests: z.array(z.string()),
})

const topic = z.strictObject({ title: z.string(), v1: z.string(), v2: z.string() })

/** Everything that a person needs to move one client, or the calls of one operation, from v1 to v2. */
export const guideSchema = z.strictObject({
  format: z.literal(GUIDE_FORMAT),
  title: z.string(),
  client: z
    .strictObject({
      ...{ caller: z.string(), subject: z.string().optional(), name: z.string().optional(), agents: z.array(z.string()).optional() },
      ...{ calls: z.number(), firstSeen: z.string(), lastSeen: z.string() },
    })
    .optional(),
  /** The spelling of v1's members: `specification` (snake_case) or `published`. */
  dialect: z.enum(['specification', 'published']),
  /** The address of v2 in the calls. */
  base: z.string(),
  /** What holds for all calls. */
  topics: z.array(topic),
  /** What v2 cannot do. */
  blockers: z.array(guideBlocker),
  sections: z.array(guideSection),
  checklist: z.array(z.string()),
})

export type Guide = z.infer<typeof guideSchema>
export type GuideSection = z.infer<typeof guideSection>
export type GuideBlocker = z.infer<typeof guideBlocker>
export type GuideRequest = z.infer<typeof guideRequest>
export type GuideCall = z.infer<typeof guideCall>
export type ParameterRow = z.infer<typeof parameterRow>
export type MemberRow = z.infer<typeof memberRow>

export type MethodNames = ReturnType<typeof createMethodNames>

/** Returns the gRPC methods that say the same as a request of REST, named as in `iam.Groups/List` after their packages. */
export function createMethodNames({ v1, v2 }: FactsOfBoth) {
  const ofV1 = new Map(rulesOf(v1).map(({ name, rule }) => [routeOf(rule), name]))
  // The rule with the most literal text is meant: `{uid=**}` spans whatever follows.
  const ofV2 = rulesOf(v2)
    .map(({ name, rule }) => ({ name, method: rule.method, pattern: patternOf(rule), literal: routeOf(rule).length }))
    .sort((a, b) => b.literal - a.literal)
  return {
    /** The method of v1 with the route of an operation. */
    v1: (route: Pick<HttpRule, 'method' | 'template'>) => ofV1.get(routeOf(route)),
    /** The method of v2 for a call; its path has no query. */
    v2: ({ method, path }: Pick<Call, 'method' | 'path'>) => ofV2.find((one) => one.method === method && one.pattern.test(path))?.name,
  }
}

/** Returns the REST request of each method that has one. */
export function rulesOf({ services }: Facts): readonly { readonly name: string; readonly rule: HttpRule }[] {
  return Object.entries(services).flatMap(([service, methods]) =>
    Object.entries(methods).flatMap(([method, { http }]) => {
      const rule = ruleOf(http)
      return rule ? [{ name: `${service}/${method}`, rule }] : []
    }),
  )
}

function patternOf({ template }: HttpRule): RegExp {
  const parts = template.split(/\{[^{}]+\}/).map((literal) => literal.replace(/[.*+?^$()|[\]\\]/g, '\\$&'))
  return new RegExp(`^${parts.join('.+')}$`)
}

/** Pairs that are listed if no rule describes them, and those that show what a longer list looks like. */
const LISTED = 12
const SHOWN = 3

/** Says how v2 names the values of a v1 enum; undefined if both name them alike. */
function valueNames({ rows, v1Only }: EnumMap): string | undefined {
  const differing = rows.filter(([v1, v2]) => v1 !== v2)
  const gone = v1Only.length === 0 ? [] : [`v2 lacks ${v1Only.map(([v1]) => v1).join(', ')}`]
  const named = differing.length === 0 ? [] : [byPrefix(differing) ?? listed(differing)]
  const said = [...named, ...gone]
  return said.length === 0 ? undefined : said.join('; ')
}

/** `TIER_ before the name; UNKNOWN → TIER_UNSPECIFIED`. */
function byPrefix(rows: readonly EnumRow[]): string | undefined {
  const [, second] = rows
  if (!second?.[1].endsWith(second[0])) return undefined
  const prefix = second[1].slice(0, -second[0].length)
  const others = rows.filter(([v1, v2]) => v2 !== prefix + v1)
  if (prefix === '' || others.length > 2) return undefined
  return [`${prefix} before the name`, ...others.map(pair)].join('; ')
}

function listed(rows: readonly EnumRow[]): string {
  if (rows.length <= LISTED) return rows.map(pair).join('; ')
  return `${rows.slice(0, SHOWN).map(pair).join('; ')}; and ${rows.length - SHOWN} more`
}

function pair([v1, v2]: EnumRow): string {
  return `${v1} → ${v2 === '' ? '(absent)' : v2}`
}

/** Returns a v1 body with these members, or with all that a client can send. Texts are words in angle brackets. */
export function sampleBody(fields: Fields, members?: readonly string[]): JsonObject {
  return bodyOf(fields, '', members && new Set(members))
}

function bodyOf(fields: Fields, prefix: string, members: ReadonlySet<string> | undefined): JsonObject {
  const taken = new Set<string>()
  const rows = Object.entries(fields).flatMap(([name, field]) => {
    const path = prefix + name
    // Nobody can make up a value that a function of the tables reads.
    if (field.access === 'readOnly' || field.convert || !isSent(path, field, members, taken)) return []
    if (field.oneof !== undefined) taken.add(field.oneof)
    // A member that is named as a whole has all its members.
    return [[name, sampleOf(field.type, path, members?.has(path) ? undefined : members)] as const]
  })
  return Object.fromEntries(rows)
}

/** Without a choice of members, the first member of each oneof is sent: v1 refuses two. */
function isSent(path: string, { oneof }: Field, members: ReadonlySet<string> | undefined, taken: ReadonlySet<string>): boolean {
  if (!members) return oneof === undefined || !taken.has(oneof)
  return [...members].some((member) => member === path || member.startsWith(`${path}.`))
}

/** A value that the tables accept. */
function sampleOf(type: FieldType, path: string, members: ReadonlySet<string> | undefined): unknown {
  switch (type.kind) {
    case 'text':
      return requestMarker(path)
    case 'flag':
      return true
    case 'int':
    case 'number':
      return 1
    case 'long':
      return '1'
    case 'time':
      return '2026-01-02T03:04:05Z'
    case 'duration':
      return '3600s'
    case 'bytes':
      return 'AAAA'
    case 'choice':
      return (type.of.rows.find((row) => row !== type.of.zero) ?? type.of.zero)[0]
    case 'object':
      return bodyOf(type.fields, `${path}.`, members)
    case 'list':
      return [sampleOf(type.of, path, members)]
    case 'map':
      return { key: sampleOf(type.of, path, members) }
  }
}

/** Returns the plainest request of an operation: its path variables, no parameter, and every member that a client can send. */
export function plainRequest(operation: Operation): V1Request {
  return sampleRequest(operation, { path: variablesOf(operation.template).map((name) => [name]), query: [] })
}

/** Returns a request of this kind. Words in angle brackets take the place of values that were not kept. */
export function sampleRequest({ request }: Operation, { path, query, members }: Omit<RequestKind, 'shape' | 'unknown'>): V1Request {
  const given = new Map<string, string[]>()
  for (const [name, value = requestMarker(name)] of query) given.set(name, [...(given.get(name) ?? []), value])
  return {
    params: Object.fromEntries(path.map(([name, value = requestMarker(name)]) => [name, value])),
    query: given,
    body: request && sampleBody(request.fields, members),
  }
}

/** Returns other forms of a request, for operations that refuse the plain one: a uid with a parent, or a body that is a bare list (facts §3.5). */
export function otherForms(operation: Operation, asked: V1Request): readonly V1Request[] {
  const bare = asBareList(operation, asked)
  const children = Object.entries(asked.params).map(([name, value]) => [
    name,
    value === requestMarker(name) ? `${requestMarker('parent')}/${value}` : value,
  ])
  return [...(bare ? [bare] : []), { ...asked, params: Object.fromEntries(children) }]
}

/** Returns the same request with its body as a bare list, for the operations whose body v1 reads so (facts §3.5). */
function asBareList({ request }: Operation, asked: V1Request): V1Request | undefined {
  const [only, ...others] = Object.keys(request?.fields ?? {})
  const list = (asked.body as Readonly<Record<string, unknown>> | undefined)?.[only ?? '']
  return others.length === 0 && Array.isArray(list) ? { ...asked, body: list } : undefined
}

/** What every guide needs to know of the service. */
export interface GuideContext {
  readonly mappings: readonly Mapping[]
  readonly env: Env
  /** The address of v2. */
  readonly base: string
}

/** Explains one kind of request of a client; `samples` is the number of all requests that were looked at. */
export function guidedKind(operation: Operation, kind: SampledKind, samples: number, context: GuideContext): GuideRequest {
  return {
    ...guided(operation, sampleRequest(operation, kind), context),
    ...(kind.members && operation.request && { members: [...kind.members] }),
    ...(kind.unknown !== undefined && { unknownParameters: kind.unknown }),
    share: kind.samples / samples,
  }
}

/** Returns `METHOD /path?query` of a v1 request. */
export function v1Text({ method, template }: Operation, { params, query }: V1Request): string {
  const path = template.replace(/\{([^{}=]+)(?:=\*\*)?\}/g, (_, name: string) => params[name] ?? '')
  const search = queryText({ query: [...query].flatMap(([name, values]) => values.map((value) => [name, value] as const)) })
  return words(`${method} ${path}${search && `?${search}`}`)
}

/** Explains a request of an operation. */
export function guided(operation: Operation, asked: V1Request, { mappings, env, base }: GuideContext): GuideRequest {
  const explained = (request: V1Request) => ({ request, explanation: explain(operation, request, env, { mappings, differences: [] }) })
  const first = explained(asked)
  const others = first.explanation.refusal ? otherForms(operation, asked).map(explained) : []
  const { request, explanation } = others.find((other) => !other.explanation.refusal) ?? first
  const { refusal } = jsonReport(base, explanation)
  return {
    v1: v1Text(operation, request),
    calls: explanation.course.calls.map((planned) => guidedCall(base, planned)),
    ...(refusal && { refusal }),
  }
}

function guidedCall(base: string, planned: PlannedCall): GuideCall {
  const { branches = [], ...call } = callReport(base, planned)
  const followed = branches.map(({ when, calls }, nth) => ({
    when,
    calls: calls.map((made, at) => ({ ...made, curl: line(planned.branches[nth]?.calls[at] ?? planned.call) })),
  }))
  return { ...call, curl: line(planned.call), ...(followed.length > 0 && { branches: followed }) }
}

/** Returns a call as a line for a shell, with the address of v2 in the variable V2. */
function line(call: Call): string {
  return curl('$V2', call, '-sS', inWords)
}

/** Returns every parameter of an operation; with `names`, those that a client gives and those whose default v2 inverted. */
export function parameterRows(operation: Operation, context: GuideContext, names?: readonly string[]): readonly ParameterRow[] {
  const first = createFirstCall(operation, context)
  const rows = [
    ...Object.entries(operation.params).map(([name, row]) => paramRow(name, asParam(row), first)),
    ...operation.ownParams.map((name) => ownRow(name, operation, first)),
  ]
  return names ? rows.filter(({ v1, fate }) => names.includes(v1) || fate === 'inverted') : rows
}

type FirstCall = ReturnType<typeof createFirstCall>

/** Makes the first v2 call of the plainest request with one parameter more. Undefined if the tables refuse it. */
function createFirstCall(operation: Operation, { mappings, env }: GuideContext) {
  const plain = plainRequest(operation)
  const shapeOf = createShapes(mappings)
  return (name?: string, value = '') => {
    const query = new Map(name === undefined ? [] : [[name, [value]]])
    const request: V1Request = { ...plain, query }
    return trace({ operation, request, env, shapeOf }).calls[0]
  }
}

function paramRow(name: string, param: Param, first: FirstCall): ParameterRow {
  if (param.v1Only !== undefined) return { v1: name, fate: 'dropped', note: `${param.v1Only}; false is all that v2 can do` }
  if (param.neverTaken) return { v1: name, fate: 'dropped', note: 'both versions refuse it in a query' }
  if (param.v2 === '') return { v1: name, fate: 'made', note: param.made ?? 'v2 has no such parameter' }
  const values = param.of && valueNames(param.of)
  const fate = param.negate ? 'inverted' : param.v2 !== name ? 'renamed' : values === undefined ? 'same' : 'converted'
  const notes = [
    ...(param.negate ? [`v1 shows by default what v2 shows only with ${param.v2}=true`] : []),
    ...(values === undefined ? [] : [values]),
  ]
  return { v1: name, v2: param.v2, fate, ...exampleOf(name, sampleValueOf(name, param), first, param.v2), ...noteOf(notes) }
}

function ownRow(name: string, operation: Operation, first: FirstCall): ParameterRow {
  const orders = name === ORDER_PARAMETER ? operation.orders : undefined
  const ordered = orders ? orders.rows.find((row) => row !== orders.zero)?.[0] : name === ORDER_PARAMETER ? 'id desc' : undefined
  const example = exampleOf(name, OWN_SAMPLES[name] ?? ordered ?? requestMarker(name), first)
  const changed = example.example?.v2
  const isPath = changed?.startsWith('/') ?? false
  const v2 = changed?.includes('skip=') ? 'skip' : changed?.split('=')[0]
  const note = isPath ? 'in the path: a Get of one resource' : v2 === undefined ? WHOLE : ((orders && valueNames(orders)) ?? NOTES[name])
  const isSame = changed === `${name}=${example.example?.v1.slice(name.length + 1)}`
  const fate = v2 === undefined ? 'made' : isPath ? 'moved' : v2 !== name ? 'renamed' : isSame ? 'same' : 'converted'
  return {
    v1: name,
    ...(v2 !== undefined && { v2: isPath ? '(path)' : v2 }),
    fate,
    ...example,
    ...noteOf(note === undefined ? [] : [note]),
  }
}

function noteOf(notes: readonly string[]) {
  return notes.length === 0 ? {} : { note: notes.join('; ') }
}

/** Values that make a difference. */
const OWN_SAMPLES: Readonly<Record<string, string>> = {
  ...Object.fromEntries(WINDOW_PARAMETERS.map((name) => [name, '20'])),
  page: '3',
  page_number: '3',
  [SKIP_PARAMETER]: '20',
}

const WHOLE = 'v2 answers all rows at once; the client cuts and sorts them itself'
const PAGE_NOTE = 'rows to skip: pages before this one × rows of a page'
const SIZE_NOTE = 'v2 gives 200 rows at most; page_token brings the next ones'

const NOTES: Readonly<Record<string, string>> = {
  offset: 'rows to skip',
  limit: SIZE_NOTE,
  page: PAGE_NOTE,
  page_number: PAGE_NOTE,
  page_size: SIZE_NOTE,
  per_page: SIZE_NOTE,
  [TOKEN_PARAMETER]: 'a token of v1 means nothing to v2',
  [ORDER_PARAMETER]: 'id is called uid in v2',
}

function sampleValueOf(name: string, { kind, of }: Param): string {
  if (kind === 'flag') return 'true'
  if (kind === 'int') return '1'
  if (kind === 'time') return '2026-01-02T03:04:05Z'
  return (kind === 'choice' ? of?.rows.find((row) => row !== of.zero)?.[0] : undefined) ?? requestMarker(name)
}

/** Returns what the parameter changes in the first call, or the v2 parameter `known` in it. */
function exampleOf(name: string, value: string, first: FirstCall, known?: string): Pick<ParameterRow, 'example'> {
  const [without, call] = [first(), first(name, value)]
  if (!call || !without) return {}
  const others = new Set(without.query.map(([other, its]) => `${other}=${its}`))
  const fresh = call.query.filter(([other, its]) => !others.has(`${other}=${its}`))
  const named = call.query.filter(([other]) => other === known)
  const v2 = call.path === without.path ? queryText({ query: fresh.length > 0 ? fresh : named }) : call.path
  return v2 === '' ? {} : { example: { v1: words(queryText({ query: [[name, value]] })), v2: words(v2) } }
}

/** Where a member lies in both versions, and in the tables. */
interface Place {
  readonly v1: string
  readonly v2: string
  readonly own: string
}

const TOP: Place = { v1: '', v2: '', own: '' }

/** Returns every member of a v1 answer, in the order of the table. */
export function answerRows({ rows, rowsIn, answer, envelope }: Operation, dialect: Dialect): readonly MemberRow[] {
  const shown = (fields: Fields) => Object.fromEntries(Object.entries(fields).filter(([, field]) => isShownIn(dialect, field)))
  if (!answer) return []
  const members = (fields: Fields, place: Place) => membersOf(shown(fields), place, dialect, 'answer').map(({ row }) => row)
  if (!rows) return members(answer.shown, TOP)
  const list: MemberRow = rowsIn === ROWS ? { v1: ROWS, v2: ROWS, fate: 'same' } : { v1: ROWS, v2: rowsIn ?? ROWS, fate: 'renamed' }
  const place = { v1: `${ROWS}[].`, v2: `${rowsIn ?? ROWS}[].`, own: '' }
  return [list, ...members(envelope?.shown ?? {}, TOP), ...members(answer.shown, place)]
}

/** Returns every member of a v1 body; with `sent`, those that a client sends, in dotted table names. */
export function bodyRows({ request }: Operation, dialect: Dialect, sent?: readonly string[]): readonly MemberRow[] {
  const all = membersOf(request?.fields ?? {}, TOP, dialect, 'body')
  // A member is sent if it is named, or one below it.
  const wanted = sent ? all.filter(({ own }) => sent.some((name) => name === own || name.startsWith(`${own}.`))) : all
  return wanted.map(({ row }) => row)
}

type Direction = 'answer' | 'body'

/** Returns the members by their dotted table names. */
function membersOf(
  fields: Fields,
  place: Place,
  dialect: Dialect,
  direction: Direction,
): readonly { readonly own: string; readonly row: MemberRow }[] {
  return Object.entries(fields)
    .filter(([, field]) => direction === 'body' || isShownIn(dialect, field))
    .flatMap(([name, field]) => {
      const type = innerOf(field.type)
      const suffix = SUFFIXES[field.type.kind] ?? ''
      const shown = nameIn(dialect, name, field)
      const source = sourceOf(field.source)
      const own = place.own + name
      const row = { v1: place.v1 + shown, ...fateOf(field, shown, source, place, direction) }
      if (type.kind !== 'object' || field.convert) return [{ own, row }]
      const beside = `${place.v2}${typeof source === 'string' ? source : shown}${suffix}.`
      const v2 = row.fate === 'made' ? ELSEWHERE : source === '' ? place.v2 : beside
      const below = membersOf(type.fields, { v1: `${row.v1}${suffix}.`, v2, own: `${own}.` }, dialect, direction)
      if (row.fate !== 'dropped' && row.fate !== 'ignored') return [{ own, row }, ...below]
      // What is below a member that v2 lacks or does not read shares its fate.
      const shared = { fate: row.fate, ...(row.note !== undefined && { note: row.note }) }
      return [{ own, row }, ...below.map((one) => ({ own: one.own, row: { v1: one.row.v1, ...shared } }))]
    })
}

/** Stands for the object of v2 that the note of a made member names. */
const ELSEWHERE = '….'

/** How a path writes the rows of a list and the values of a map. */
const SUFFIXES: Partial<Readonly<Record<FieldType['kind'], string>>> = { list: '[]', map: '.*' }

type SourcePath = string | { readonly parentOf: string } | undefined

/** Returns the first place in which v2 may have the value. */
function sourceOf(source: Source | undefined): SourcePath {
  if (source === undefined || typeof source === 'string') return source
  return 'parentOf' in source ? source : sourceOf(source.firstOf[0])
}

const OTHER_FORM = 'v2 writes the value in another form'

function fateOf(field: Field, name: string, source: SourcePath, place: Place, direction: Direction): Omit<MemberRow, 'v1'> {
  const type = innerOf(field.type)
  const names = type.kind === 'choice' ? valueNames(type.of) : undefined
  const values = names === undefined ? {} : { values: names }
  if (direction === 'body' && field.refused !== undefined)
    return { fate: 'ignored', note: 'v2 sets it: a body may leave it out or repeat the stored value, and any other is refused' }
  if (source === undefined) return { fate: 'dropped', note: field.lossy ?? 'v2 has no such member' }
  if (direction === 'body' && field.access === 'readOnly') return { fate: 'ignored', note: 'output only: v1 ignores it in a body' }
  if (field.made !== undefined) return { fate: 'made', note: field.made }
  if (typeof source === 'object') return { fate: 'made', note: `${source.parentOf} up to its last slash` }
  const note = field.lossy === undefined ? {} : { note: field.lossy }
  if (source === '') return { fate: 'moved', note: 'v2 has its members one level higher' }
  const v2 = place.v2 + source
  if (field.convert) return { v2, fate: 'converted', note: [OTHER_FORM, ...(field.lossy ? [field.lossy] : [])].join('; ') }
  if (source !== name) return { v2, fate: source.includes('.') ? 'moved' : 'renamed', ...values, ...note }
  return { v2, fate: names === undefined ? 'same' : 'converted', ...values, ...note }
}
