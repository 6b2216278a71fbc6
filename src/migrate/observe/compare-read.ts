import type { IncomingHttpHeaders } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { asApiError, STATUS_FORM } from '../../errors.ts'
import { type Answer, begin, bytesOf, type JsonText, type TranslateSettings, translated } from '../../serve/answer.ts'
import { inTurns } from '../../serve/bounds.ts'
import type { ClientRequest, Request } from '../../serve/request.ts'
import { otherSide, type Side } from '../../serve/sides.ts'
import { type Signal, within } from '../../serve/signals.ts'
import {
  type AnswerBudget,
  canDecode,
  createAnswerBudget,
  decode,
  isExceeded,
  isTooLarge,
  textOf,
  weightOf,
} from '../../serve/upstream/exchange.ts'
import type { ReadContext, UnsharedReads } from '../../serve/upstream/send.ts'
import type { ReadV1 } from '../../serve/upstream/v1.ts'
import { itemFields, member, nameIn, readerOf, shownMembers } from '../../tables/compile.ts'
import type { Fields, FieldType } from '../../tables/fields.ts'
import { isObject, type JsonObject } from '../../tables/json.ts'
import type { Operation, V1Request } from '../../tables/operation.ts'
import { isReadBack, type Unverifiable } from '../../tables/operations.ts'
import { spellings } from '../../tables/query.ts'
import { type Dialect, variablesOf } from '../../tables/uid.ts'
import { areSame, type Captured, type Compare, capturedText, type SeenAnswer } from '../compare/compare.ts'
import { ANY_WRITES, collectStamps, type ExpectedDifferences, NO_WRITES, type Stamps } from '../compare/expected.ts'
import type { AskedRequest, Judge, Judgement, Noise, Settle, Trial } from '../compare/judge.ts'
import { isDifference } from '../evidence/evidence.ts'
import { withPageToken } from '../modes/select.ts'
import type { OtherWrites } from '../modes/serve.ts'
import type { Exchanged, Observed } from '../records/record.ts'
import { drain, type OtherReplicas, UNKNOWN_WRITES, type V1Refusals } from './observe.ts'
import { createProofs, type Proofs, type ProvingV1 } from './proofs.ts'

/** An answer that a client got, whole or as far as it was kept. */
export interface Kept {
  readonly status: number
  readonly headers: Answer['headers']
  /** `value` was never text, and `written` is the text itself. `pieces` is undefined if the body was larger than the limit. */
  readonly body:
    | { readonly value: unknown }
    | { readonly text: JsonText }
    | { readonly pieces: readonly Uint8Array[] | undefined; readonly broken: boolean }
  /** Bytes that it holds in memory; a value is counted by the length of its text. */
  readonly size: number
}

/**
 * Turns a kept answer into one that can be compared. Decompressing, parsing and copying happen only here. What another answer to the same
 * request says in the same bytes is taken from `known`.
 */
export async function seenOf({ status, headers, body }: Kept, limit: number, known?: SeenAnswer): Promise<SeenAnswer> {
  return { status, headers: typeIn(headers), body: await capturedOf(body, String(headers['content-encoding'] ?? ''), limit, known?.body) }
}

function typeIn(headers: Kept['headers']): SeenAnswer['headers'] {
  return { 'content-type': String(headers['content-type'] ?? 'application/json') }
}

async function capturedOf(body: Kept['body'], encoding: string, limit: number, known: Captured | undefined): Promise<Captured> {
  if ('value' in body) {
    if (isLonger(body.value, limit)) return { kind: 'too-large', limit }
    // The client gets the value as text, so the text is compared.
    return capturedText(JSON.stringify(body.value) ?? '', limit, known)
  }
  const pieces = 'text' in body ? bytesOf(body.text) : body.pieces
  if (pieces === undefined) return { kind: 'too-large', limit }
  if ('broken' in body && body.broken) return { kind: 'broken' }
  let bytes: Buffer = Buffer.concat(pieces)
  try {
    if (encoding !== '') bytes = await decode(bytes, encoding, limit)
  } catch (error) {
    return isTooLarge(error) ? { kind: 'too-large', limit } : { kind: 'not-json' }
  }
  return weightOf(bytes) > limit ? { kind: 'too-large', limit } : capturedText(bytes.toString('utf8'), limit, known)
}

/** True if the JSON text of a value surely has more than `limit` characters. It looks at no more of the value than that. */
function isLonger(value: unknown, limit: number): boolean {
  const rest: unknown[] = [value]
  let length = 0
  while (rest.length > 0 && length <= limit) {
    const next = rest.pop()
    length += typeof next === 'string' ? next.length + 2 : 1
    if (typeof next !== 'object' || next === null) continue
    if (Array.isArray(next) && next.length > limit) return true
    for (const [name, inner] of Object.entries(next)) {
      rest.push(inner)
      length += Array.isArray(next) ? 0 : name.length + 3
    }
  }
  return length > limit
}

/** A read that shows the effect of a write on one resource. */
export interface Reading {
  readonly operation: Operation
  readonly request: V1Request
  /** The same as a v1 path and query. */
  readonly url: string
  readonly uid: string
  /** The resource as the write's answer shows it; undefined if it shows none. */
  readonly item: JsonObject | undefined
  /** The texts that the request asked to list, if its answer lists texts. */
  readonly asked: readonly unknown[]
  /** What the answer must show because the request set it. */
  readonly wanted: JsonObject
  readonly table: WriteTable
}

/** The reads after a write, none if its answer does not name what was written; or why there can be none. */
type Readings = readonly Reading[] | Unverifiable

/** Returns the reads that show the effect of a write; `answer` is the JSON of its answer. */
export type ReadingsOf = (write: Operation, request: V1Request, answer: unknown) => Readings

/** Maximum resources of one write that are read. v2 takes 25 in a batch (facts §3.5). */
const MOST = 25

export function createReadingsOf(operations: readonly Operation[], dialect: Dialect): ReadingsOf {
  const tables = new Map(operations.map((operation) => [operation, tableOf(operation, operations, dialect)]))
  return (write, request, answer) => {
    const table = tables.get(write)
    if (!table) return write.readBack && !isReadBack(write.readBack) ? write.readBack : { unverifiable: 'its table names no read' }
    const wanted = wantedOf(write, table, request, dialect)
    return namedIn(write, table, request, answer)
      .slice(0, MOST)
      .map(([uid, item]) => ({ ...getOf(table.reader, uid, request.params), uid, item, asked: askedTexts(write, request), wanted, table }))
  }
}

type WriteTable = NonNullable<ReturnType<typeof tableOf>>

/** Returns how the effect of a write is read, with names as sent; undefined if no read shows it. */
function tableOf({ readBack, answer, request }: Operation, operations: readonly Operation[], dialect: Dialect) {
  const reader = readBack && isReadBack(readBack) ? readerOf(readBack, operations) : undefined
  if (!readBack || !isReadBack(readBack) || !reader) return undefined
  const { shown } = readBack.resource
  const named = (source: string) => {
    const row = Object.entries(shown).find(([, { source: from, only = dialect }]) => from === source && only === dialect)
    return row && nameIn(dialect, ...row)
  }
  const spelled = (fields: Fields = {}, name = '') => {
    const field = fields[name]
    return field && nameIn(dialect, name, field)
  }
  const { listed } = readBack
  const [texts, text] = [spelled(answer?.shown, listed?.answer), spelled(shown, listed?.row)]
  return {
    readBack,
    reader,
    /** The member that identifies the resource in the read. Without one, the read shows nothing else. */
    key: named('uid'),
    /** The member that holds the time of its last change. */
    stamp: named('updateTime'),
    members: shownMembers(readBack, itemFields(readBack, answer), dialect),
    /** The member of the answer that names the written item, and the list in it that holds the written items. */
    answered: 'answer' in readBack.named ? (spelled(answer?.shown, readBack.named.answer) ?? '') : '',
    list: 'rows' in readBack.named ? spelled(answer?.shown, readBack.named.rows) : undefined,
    /** The list of texts in the answer, and the member of a row that holds one of them. */
    listed: texts !== undefined && text !== undefined ? { answer: texts, row: text } : undefined,
    /** What members of the answer must hold that no read shows: a text, a time, or the duration in a member of the request. */
    held: Object.entries(readBack.holds ?? {}).flatMap(([member, holds]) => {
      const name = spelled(answer?.shown, member)
      if (name === undefined) return []
      return [{ name, holds: typeof holds === 'string' ? holds : { asked: spelled(request?.fields, holds.asked) } }]
    }),
  }
}

type Item = readonly [uid: string, item: JsonObject | undefined]

/** Returns the uids of what was written, each with what the answer shows of it. */
function namedIn(
  write: Operation,
  { readBack, answered, list }: WriteTable,
  { params, body }: V1Request,
  answer: unknown,
): readonly Item[] {
  const { named, gone } = readBack
  const shown = isObject(answer) && !gone ? answer : undefined
  if ('param' in named) return withUid([[params[named.param], shown]])
  if ('answer' in named) return withUid([[shown?.[answered], shown]])
  if ('body' in named) return withUid(listIn(write.request?.read(body), named.body).map((uid) => [uid, undefined]))
  return withUid(listIn(shown, list).map((row) => (isObject(row) ? [row.id, row] : [undefined, undefined])))
}

/** Returns the texts in the body of a write whose answer lists texts. */
function askedTexts({ readBack, request }: Operation, { body }: V1Request): readonly unknown[] {
  const listed = readBack && isReadBack(readBack) ? readBack.listed : undefined
  const source = listed && request?.fields[listed.answer]?.source
  return typeof source === 'string' ? listIn(request?.read(body), source) : []
}

/** The v2 member that names the state which a write expects. It is no value to write. */
const CONDITION = 'etag'

/** Values that v1 shows as they were sent. Durations and bytes have several spellings, and messages have members of their own. */
const REPEATED: ReadonlySet<FieldType['kind']> = new Set(['text', 'flag', 'int', 'number', 'long', 'time', 'choice'])

/**
 * Returns the members that the body sets and the answer shows of the same v2 member, as v1 shows them. A v2 that writes something else,
 * and says so in its answer, agrees with every later read. An unset value, written out or not, lets the service keep or choose its own.
 */
function wantedOf({ request, answer }: Operation, { readBack, members }: WriteTable, { body }: V1Request, dialect: Dialect): JsonObject {
  if (!request || !isObject(body) || readBack.gone || 'rows' in readBack.named || 'body' in readBack.named || readBack.listed) return {}
  const { shown, show } = answer ?? readBack.resource
  const repeated = members.filter(({ where }) => {
    const [asked, told] = [request.fields[where], shown[where]]
    if (asked?.access !== 'readWrite' || asked.source !== told?.source || asked.source === CONDITION) return false
    return REPEATED.has(asked.type.kind === 'list' || asked.type.kind === 'map' ? asked.type.of.kind : asked.type.kind)
  })
  // The whole body may repeat members that v2 decides, which are refused unless the stored ones are known.
  const said = Object.fromEntries(repeated.map(({ where }) => [where, member(body, where, request.fields[where] ?? {})]))
  const [whole, unset] = [request.read(said), {}].map(show[dialect]) as [JsonObject, JsonObject]
  return Object.fromEntries(repeated.flatMap(({ name }) => (isDeepStrictEqual(whole[name], unset[name]) ? [] : [[name, whole[name]]])))
}

function listIn(object: JsonObject | undefined, name: string | undefined): readonly unknown[] {
  const list = name === undefined ? undefined : object?.[name]
  return Array.isArray(list) ? list : []
}

/** Other APIs number their resources. */
function isId(uid: unknown): boolean {
  return typeof uid === 'string' ? uid !== '' : Number.isFinite(uid)
}

function withUid(items: readonly (readonly [uid: unknown, item: JsonObject | undefined])[]): readonly Item[] {
  return items.flatMap(([uid, item]) => (isId(uid) ? [[String(uid), item] as const] : []))
}

/** Returns the read of one resource, by the parameter or the path variable that selects it. Other variables are those of the write. */
function getOf(operation: Operation, uid: string, given: V1Request['params']): Pick<Reading, 'operation' | 'request' | 'url'> {
  const { template, selects = '' } = operation
  const names = variablesOf(template)
  const params = Object.fromEntries(names.map((name) => [name, name === selects ? uid : (given[name] ?? '')]))
  const path = template.replace(/\{([^{}=]+)(?:=[^{}]*)?\}/g, (_, name) =>
    (params[name] ?? '').split('/').map(encodeURIComponent).join('/'),
  )
  if (names.includes(selects)) return { operation, request: { params, query: new Map(), body: undefined }, url: path }
  const request = { params, query: new Map([[selects, [uid]]]), body: undefined }
  return { operation, request, url: `${path}?${selects}=${encodeURIComponent(uid)}` }
}

/** One side's answer to a read, and how long it took. */
export interface SideAnswer {
  readonly seen: SeenAnswer
  readonly ms: number
  /** Bytes that were read of it; absent if a client was served with it. */
  readonly bytes?: number
}

/** A read to ask of one side, however it is asked. */
interface AskedRead extends Pick<Request, 'operation' | 'read'> {
  /** A page token of that side's own. */
  readonly token?: string | undefined
  /** The first answer to it, if there is one. */
  readonly first?: SideAnswer | undefined
  /** Receives every call to v2 and its answer. */
  readonly tap?: ((exchanged: Exchanged) => void) | undefined
}

/** A read to ask of one service. */
export type Asking = AskedRead & Request & Pick<ClientRequest, 'begin'>

/** Headers that say something of the body of a write, or of its repetition. */
const OF_WRITE = /^(?:content-.+|transfer-encoding|(?:repr-)?digest|idempotency-key|expect)$/

/** Returns a GET with the credentials of a client's request. */
export function askingOf(
  { id, headers: given }: Pick<Request['raw'], 'id' | 'headers'>,
  { operation, url, request }: Pick<Reading, 'operation' | 'url' | 'request'>,
): Asking {
  const headers = Object.fromEntries(Object.entries(given).filter(([name]) => !OF_WRITE.test(name)))
  return { operation, raw: { id, method: 'GET', url, headers }, read: () => request }
}

/** Asks v1 with the credentials of the request `raw`. */
export function provingBy(ask: Ask, operations: ProvingV1['operations'], raw: Request['raw'], signal: Signal): ProvingV1 {
  return {
    operations,
    ask(operation, request) {
      const query = new URLSearchParams(
        [...request.query].flatMap(([name, values]) => values.map((value): [string, string] => [name, value])),
      )
      const url = query.size === 0 ? operation.template : `${operation.template}?${query}`
      return ask('v1', askingOf(raw, { operation, url, request }), signal)
    },
  }
}

/** Asks one side for a read. Never throws: a failure is an answer of that side too. */
export type Ask<Read extends AskedRead = Asking> = (side: Side, asking: Read, signal: Signal) => Promise<SideAnswer>

interface AskSettings {
  readonly readV1: ReadV1
  /** Reads of v2 that are not shared. */
  readonly unsharedReads: UnsharedReads
  readonly translate: TranslateSettings
  /** Milliseconds in which a side must answer. */
  readonly deadlineMs: number
  /** Largest answer that is compared, in bytes: v1's own, and all of v2's for one request together. */
  readonly limit: number
}

/** The conditions and ranges of a client, left out: they are about what that client has, and v2 is asked without them (RFC 9110 §13, §14). */
const UNCONDITIONAL: IncomingHttpHeaders = {
  'if-match': undefined,
  'if-modified-since': undefined,
  'if-none-match': undefined,
  'if-range': undefined,
  'if-unmodified-since': undefined,
  range: undefined,
}

/** The statuses with which v1 answers a condition or a range. They are not its answer to what v2 is asked. */
const CONDITIONAL: ReadonlySet<number> = new Set([206, 304, 412, 416])

/** False for an answer that only its client can use, by a condition, a range or a coding. v1 must then be asked again, without them. */
export function isForAll({ status, headers }: Kept): boolean {
  const encoding = headers['content-encoding']
  return !CONDITIONAL.has(status) && (encoding === undefined || canDecode(String(encoding)))
}

export function createAsk({ readV1, unsharedReads, translate: settings, deadlineMs, limit }: AskSettings): Ask {
  const fromV1 = async ({ operation, raw, token }: Asking, signal: Signal) => {
    const url = token === undefined ? raw.url : withPageToken(operation, raw.url, token)
    // Only this process reads the answer, so that compressing it would be a waste.
    return readV1({ ...raw, url, headers: { ...raw.headers, ...UNCONDITIONAL, 'accept-encoding': 'identity' } }, limit, signal)
  }
  const fromV2 = async (asking: Asking, signal: Signal, budget: AnswerBudget, onCall: () => undefined) => {
    const { operation, raw, read, token, tap } = asking
    const onAnswer = tap && telling(tap)
    const send = unsharedReads({ headers: raw.headers, requestId: raw.id, signal, budget, onCall, onAnswer })
    const request = token === undefined ? read() : paged(operation, read(), token)
    const first = (token === undefined && asking.begin) || (() => begin(operation, request, settings))
    return drain(await translated(operation, first, send, settings), limit)
  }
  return async (side, asking, given) => {
    const began = performance.now()
    const { signal, end } = within(given, deadlineMs, tooLate)
    const budget = createAnswerBudget(limit)
    let calls = side === 'v1' ? 1 : 0
    const onCall = () => {
      calls += 1
      return undefined
    }
    try {
      const asked = side === 'v1' ? fromV1(asking, signal) : fromV2(asking, signal, budget, onCall)
      const kept = await asked.catch((thrown) => asAnswer(thrown, settings))
      const seen = isExceeded(budget) ? cutOff(kept, limit, calls) : await seenOf(kept, limit, asking.first?.seen)
      const isCut = 'pieces' in kept.body && kept.body.pieces === undefined
      const bytes = Math.max(limit - Math.max(0, budget.left), isCut ? limit : kept.size)
      return { seen: calls === 0 ? { ...seen, unasked: true } : seen, ms: Math.round(performance.now() - began), bytes }
    } finally {
      end()
    }
  }
}

/** What the tables made of an answer that was broken off says nothing. */
function cutOff({ status, headers }: Kept, limit: number, calls: number): SeenAnswer {
  return { status, headers: typeIn(headers), body: { kind: 'too-large', limit, ...(calls > 1 && { isSum: true }) } }
}

const tooLate = () => new DOMException('the asked side did not answer in time', 'TimeoutError')

/** Passes on each call and its answer as JSON, before the plan reads it in its own way. */
function telling(tap: NonNullable<Asking['tap']>): ReadContext['onAnswer'] {
  return (call, { status, pieces }) => {
    try {
      tap({ call, status, body: JSON.parse(textOf(pieces)) })
    } catch {
      tap({ call, status, body: null })
    }
  }
}

function asAnswer(thrown: unknown, { errors: { write } = STATUS_FORM }: TranslateSettings): Kept {
  const { http, code, message } = asApiError(thrown)
  const { status, body } = write({ code, http, message, details: [] })
  return { status, headers: {}, body: { value: body }, size: 0 }
}

function paged({ paging }: Operation, request: V1Request, token: string): V1Request {
  if (paging === undefined) return request
  const others = [...request.query].filter(([name]) => !spellings(paging.parameter).includes(name))
  return { ...request, query: new Map([...others, [paging.parameter, [token]]]) }
}

/** The parts that judge answers. They are pure, except that noise learns. */
export interface Judging {
  readonly compare: Compare
  readonly judge: Judge
  /** What v1 must be asked for before a declared difference explains a finding. */
  readonly wants: ExpectedDifferences['wants']
  readonly settle: Settle
  readonly noise: Noise
  readonly others: OtherReplicas
  readonly refusals: V1Refusals
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** A read whose first answer is known. Its `read` throws if the tables cannot read it: v2's side is then their refusal. */
type AnsweredRead<Read extends AskedRead = Asking> = Read & FirstAnswer

interface FirstAnswer {
  /** The side that gave the first answer. */
  readonly by: Side
  /** When it was asked for, in milliseconds since 1970. */
  readonly since: number
  readonly first: SideAnswer
  /** The other side's answer, if it is known already: v2 failed, and v1 answered instead. */
  readonly other?: SideAnswer | undefined
  /** The other side's own page token, for a page that is not the first. */
  readonly otherToken?: string | undefined
  /** Whether the caller wrote since the request arrived, and what others wrote. Absent if no write matters. */
  readonly wrote?: () => boolean
  readonly others?: () => OtherWrites
  /** Asks v1 for what proves a declared difference. Without it, a difference that needs a proof counts. */
  readonly proving?: () => ProvingV1
  /** Ask v1 once more, to learn which members change by themselves. */
  readonly learn: boolean
}

/** The answers of both sides, and the result of comparing them. */
export interface ComparedRead {
  /** What both sides were asked. */
  readonly asked: AskedRequest
  readonly judgement: Judgement
  readonly v1: SideAnswer
  readonly v2: SideAnswer
  /** What is needed to reproduce a mismatch that repeats. */
  readonly observed?: Observed
}

/** Most times that v2 is asked again while v1 does not stand still, and the time after which it is not asked again. */
const ROUNDS = 3
const TRIAL_MS = 10_000

/** Returns what the tables read of a request; undefined if they cannot read it. */
export function readOf({ read }: Pick<AskedRead, 'read'>): V1Request | undefined {
  try {
    return read()
  } catch {
    return undefined
  }
}

/** Stands for a request that the tables cannot read. */
export const UNREAD: V1Request = { params: {}, query: new Map(), body: undefined }

const MATCH: Judgement = { outcome: 'match', findings: [] }

type Asked = (side: Side, tap?: AskedRead['tap']) => Promise<SideAnswer>

/** Asks the other side and compares. A difference only counts after both sides were asked again (design §7). */
export async function compareRead<Read extends AskedRead>(
  read: AnsweredRead<Read>,
  ask: Ask<Read>,
  judging: Judging,
  signal: Signal,
): Promise<ComparedRead> {
  const askSide: Asked = (side, tap) => ask(side, { ...read, token: side === read.by ? undefined : read.otherToken, tap }, signal)
  const asking = read.otherToken === undefined ? read : { ...read, token: read.otherToken }
  const other = read.other ?? (await ask(otherSide(read.by), asking, signal))
  const [v1, v2] = read.by === 'v1' ? [read.first, other] : [other, read.first]
  const asked = { operation: read.operation, request: readOf(read) ?? UNREAD }
  if (read.learn) await learn(read, v1, askSide, judging)
  const judged = areSame(v1.seen, v2.seen) ? MATCH : await inTurns(judging.judge(asked, v1.seen, v2.seen))
  const proofs = judged.outcome === 'mismatch' ? createProofs(asked, judging, read.proving?.()) : undefined
  const judgement = proofs ? await proofs.judge(v1.seen, v2.seen) : judged
  // Otherwise a member that changes no more would stay noise.
  if (judgement.outcome === 'noise' && !read.learn) await learn(read, v1, askSide, judging)
  if (!proofs || judgement.outcome !== 'mismatch') return { asked, judgement, v1, v2 }
  return { asked, v1, v2, ...(await tryAgain(read, proofs, [v1.seen, v2.seen], askSide, judging)) }
}

/** Asks both sides in turn until it is known what a difference means. */
async function tryAgain(
  { by, since, wrote, others }: FirstAnswer,
  proofs: Proofs,
  first: readonly [v1: SeenAnswer, v2: SeenAnswer],
  asked: Asked,
  judging: Judging,
) {
  const began = judging.now()
  const question = proofs.asked
  const v1 = [first[0], (await asked('v1')).seen]
  const v2 = [first[1]]
  const stamps = new Map<string, Stamps>()
  for (;;) {
    const calls: Exchanged[] = []
    v2.push((await asked('v2', (exchanged) => calls.push(exchanged))).seen)
    v1.push((await asked('v1')).seen)
    for (const { body } of calls) collectStamps(body, stamps)
    await proofs.judge(v1.at(-2)!, v2.at(-1)!)
    const to = judging.now()
    const isLast = v2.length > ROUNDS || to - began > TRIAL_MS
    const trial = { v2First: by === 'v2', v1, v2, stamps, period: { from: since, to }, isLast }
    const writes = () => ({ wrote: wrote?.() ?? false, writes: others?.().toRows(question.operation.answer) ?? NO_WRITES })
    const settle = (meanwhile: Meanwhile) => inTurns(judging.settle(question, { ...trial, ...meanwhile }))
    const judgement = wrote ? await settled(settle, writes, judging.others) : await settle(NOTHING_WRITTEN)
    await learnFrom(question.operation, v1.at(-2)!, v1.at(-1)!, judging)
    if (judgement) return { judgement, observed: { request: question.request, v1: v1.at(-2)!, calls } }
  }
}

/** What was written while a request was asked of both sides. */
type Meanwhile = Pick<Trial, 'wrote' | 'writes'>

const NOTHING_WRITTEN: Meanwhile = { wrote: false, writes: NO_WRITES }
const ANYTHING_WRITTEN: Meanwhile = { wrote: true, writes: ANY_WRITES }

/**
 * Settles a trial. Of a difference, somebody may have written through another replica: the others tell that before it counts. If they cannot
 * tell, it counts only if such a write would not explain it.
 */
async function settled(settle: (meanwhile: Meanwhile) => Promise<Judgement | undefined>, writes: () => Meanwhile, others: OtherReplicas) {
  const judgement = await settle(writes())
  const told = judgement && isDifference(judgement.outcome) ? others.told() : undefined
  if (!told) return judgement
  const isKnown = await told
  const again = await settle(isKnown ? writes() : ANYTHING_WRITTEN)
  return again?.outcome === 'race' && !isKnown ? ({ ...again, outcome: 'inconclusive', reason: UNKNOWN_WRITES } as const) : again
}

async function learn({ operation }: AskedRead, first: SideAnswer, asked: Asked, judging: Judging): Promise<void> {
  await learnFrom(operation, first.seen, (await asked('v1')).seen, judging)
}

/** Learns from two answers of v1 that were not chosen because they differ. */
async function learnFrom(operation: Operation, before: SeenAnswer, after: SeenAnswer, { compare, noise }: Judging): Promise<void> {
  if (before.status >= 400 || after.status !== before.status) return
  const compared = await inTurns(compare(operation, before, after))
  if ('findings' in compared) noise.learn(operation.id, compared.findings)
}
