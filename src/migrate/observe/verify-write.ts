import { ApiError } from '../../errors.ts'
import { atOnce } from '../../serve/bounds.ts'
import { ManyCalls, type Send } from '../../serve/calls.ts'
import { hasFailed, isAccepted, isRead } from '../../serve/sides.ts'
import type { Signal } from '../../serve/signals.ts'
import { member, readerOf } from '../../tables/compile.ts'
import { type Fields, instant } from '../../tables/fields.ts'
import { at, isObject, type JsonObject } from '../../tables/json.ts'
import type { Env, Operation, V1Request } from '../../tables/operation.ts'
import { isReadBack } from '../../tables/operations.ts'
import { type Call, type Executor, ROWS, run } from '../../tables/turn.ts'
import { pointerOf, type SeenAnswer, segmentsOf } from '../compare/compare.ts'
import { ANY_WRITES } from '../compare/expected.ts'
import { type Explained, inconclusive, type Judgement, unexplained } from '../compare/judge.ts'
import { isDifference, WEIGHTS } from '../evidence/evidence.ts'
import type { ComparedRequest, Journal } from '../modes/journal.ts'
import type { OtherWrites } from '../modes/serve.ts'
import {
  type Ask,
  type Asking,
  askingOf,
  type ComparedRead,
  compareRead,
  type Judging,
  type Reading,
  type ReadingsOf,
  type SideAnswer,
  seenOf,
} from './compare-read.ts'
import { isShutDown, UNKNOWN_WRITES, type WatchedRequest } from './observe.ts'

/**
 * Compares the items in the answer to a batch with those in its body, a bare array in the same order (facts §3.5).
 * Returns a sentence if the answer names more, fewer or others: a read would not show which of them are missing.
 */
function unlikeBatch({ operation, request: { body } }: ComparedRequest, readings: readonly Reading[]): string | undefined {
  if (!Array.isArray(body) || readings.every(({ table }) => table.list === undefined)) return undefined
  const items = readings.map(({ item }) => item)
  if (items.length !== body.length) return `the answer names ${items.length} resources, and the request ${body.length}`
  const list = operation.request?.fields[operation.bodyIs ?? '']?.type
  const fields = list?.kind === 'list' && list.of.kind === 'object' ? list.of.fields : {}
  return items.every((item, at) => repeats(item, body[at], fields)) ? undefined : 'the answer names other resources than the request'
}

/** True if every text of the wanted item that is written is the same in the answer, where both have it. */
function repeats(item: unknown, wanted: unknown, fields: Fields): boolean {
  if (!isObject(item) || !isObject(wanted)) return true
  return Object.entries(fields).every(([name, field]) => {
    const [asked, told = asked] = [member(wanted, name, field), member(item, name, field)]
    return typeof asked !== 'string' || told === asked
  })
}

/**
 * Returns what the answer to a write would be if its list of texts held those that the read shows in a row, and all that the request asked
 * for. The order of the texts means nothing.
 */
function expectedTexts({ uid, item, asked, table: { listed, readBack } }: Reading, read: unknown): JsonObject {
  if (!listed) return {}
  const rows = isObject(read) && Array.isArray(read[ROWS]) ? read[ROWS].filter(isObject) : []
  const shown = new Set(rows.map((row) => row[listed.row]))
  const list = item?.[listed.answer]
  const given: readonly unknown[] = Array.isArray(list) ? list : []
  const answered = new Set(given)
  const texts = [...given.filter((text) => shown.has(text)), ...asked.filter((text) => !answered.has(text))]
  return { ...('param' in readBack.named && { [readBack.named.param]: uid }), [listed.answer]: texts }
}

/** A write that v2 answered, and one of the reads that show its effect. */
interface Promised {
  readonly write: ComparedRequest
  readonly reading: Reading
  readonly others: OtherWrites
  /** Milliseconds since the write's request arrived. */
  readonly elapsedMs: () => number
}

/**
 * Checks that a write took effect by comparing its answer with a later read of v1.
 * Comparing both sides is not enough: they may agree about a resource that a lost write never changed.
 * Returns undefined if the write took effect.
 */
function brokenPromise(promised: Promised, read: unknown, judging: Pick<Judging, 'judge' | 'noise'>): Judgement | undefined {
  const { reading, others } = promised
  const { item, table } = reading
  if (table.listed) {
    const texts = expectedTexts(reading, read)
    return unlike(promised, texts, Object.keys(texts), judging)
  }
  const row = rowOf(reading, read)
  if (table.readBack.gone) {
    if (!row) return undefined
    return others.mayBeChanged(writtenBy(promised))
      ? between('was written again')
      : wrong('the delete was answered, but the resource is still there')
  }
  if (!row) return deletedSince(promised) ?? wrong('the write was answered, but the resource is not there')
  const order = compareTimes(promised, row)
  if (order === 'earlier') return wrong('the write was answered, but the resource is as old as before')
  if (order === 'later' || (order === 'unknown' && others.mayBeChanged(writtenBy(promised)))) return between('was written again')
  const names = table.members.map(({ name }) => name)
  return item && unlike(promised, expectedItem(reading, row), names, judging)
}

/** Returns the judgement of a resource that is not there because another request may have deleted it. */
function deletedSince(promised: Promised): Judgement | undefined {
  return promised.others.mayBeGone(writtenBy(promised)) ? between('was deleted') : undefined
}

/** Says which member of a write's answer does not hold what it must, although no read can show it. Undefined if all do. */
function unheld({ write, reading: { item, table } }: Promised): string | undefined {
  const unmet = table.held.find(({ name, holds }) => {
    const value = item?.[name]
    if (holds === 'some') return typeof value !== 'string' || value === ''
    if (holds === 'time') return timeOf(value) === undefined
    const asked = isObject(write.request.body) && holds.asked !== undefined ? write.request.body[holds.asked] : undefined
    return asked !== undefined && Number.parseFloat(String(value)) !== Number.parseFloat(String(asked))
  })
  return unmet && `the write was answered, but ${unmet.name} does not hold what it must`
}

/** True if the read shows the resource, or the resources, that the write names. */
function isThere(reading: Reading, read: unknown): boolean {
  return reading.table.listed !== undefined || rowOf(reading, read) !== undefined
}

function writtenBy({ write, reading: { uid, item, table } }: Promised) {
  const { resource, goesWith = '' } = table.readBack
  const other = item?.[goesWith]
  return { resource, uid, goesWith: typeof other === 'string' ? other : undefined, own: write.request.params }
}

/** Returns the row of a list that has the uid, or the resource itself. */
function rowOf({ uid, table: { key } }: Reading, read: unknown): JsonObject | undefined {
  if (!isObject(read)) return undefined
  if (key === undefined) return read
  const rows = Array.isArray(read[ROWS]) ? read[ROWS] : [read]
  return rows.find((row): row is JsonObject => isObject(row) && String(row[key]) === uid)
}

function wrong(reason: string): Judgement {
  return { outcome: 'mismatch', findings: [], reason }
}

function between(what: string): Judgement {
  return { outcome: 'race', findings: [], reason: `the resource ${what} before it was read` }
}

/** Milliseconds by which the clocks of two services may differ. */
const CLOCKS = 1000

/** Compares the times at which the write's answer and the read say that the resource was written. */
function compareTimes({ reading: { item, table }, elapsedMs }: Promised, row: JsonObject): 'same' | 'earlier' | 'later' | 'unknown' {
  const { stamp } = table
  const member = table.members.find(({ path }) => stamp !== undefined && path.length === 1 && path[0] === stamp)
  const [answered, read] = [timeOf(member && item?.[member.name]), timeOf(stamp === undefined ? undefined : row[stamp])]
  if (answered === undefined || read === undefined) return 'unknown'
  if (answered === read) return 'same'
  if (Number(read) < Number(answered)) return 'earlier'
  // Another write changed it since, unless that would have been before this write began: then the answer's time is wrong.
  return (Number(read) - Number(answered)) * 1000 <= elapsedMs() + CLOCKS ? 'later' : 'same'
}

function timeOf(value: unknown): string | undefined {
  return typeof value === 'string' ? instant(value) : undefined
}

/** Returns what the answer would be if it showed the same as the read. */
function expectedItem({ table }: Reading, row: JsonObject): JsonObject {
  return Object.fromEntries(
    table.members.flatMap(({ name, path }) => {
      const value = at(row, path)
      return value === undefined ? [] : [[name, value]]
    }),
  )
}

/** Compares members of the write's answer with what a read or the request says that they should be. */
function unlike(
  { write, reading }: Promised,
  expected: JsonObject,
  names: readonly string[],
  { judge, noise }: Pick<Judging, 'judge' | 'noise'>,
  reason = 'the write was answered, but the resource has other values',
) {
  const { item = {}, table } = reading
  const given = Object.fromEntries(names.flatMap((name) => (Object.hasOwn(item, name) ? [[name, item[name]]] : [])))
  const wrapped = (shown: JsonObject) => seen(table.list === undefined ? shown : { [table.list]: [shown] })
  const judged = atOnce(judge(write, wrapped(expected), wrapped(given)))
  const isNoise = (finding: Explained) => noise.isNoise(table.reader.id, { ...finding, where: inRead(reading, finding.where) })
  const findings = judged.findings.map((finding) =>
    finding.code === undefined && isNoise(finding) ? { ...finding, noise: true as const } : finding,
  )
  if (unexplained(findings).length === 0) return undefined
  return { outcome: 'mismatch', findings, reason } as const
}

/** Returns the place in the read, in table names, of a place in the answer. */
function inRead({ table }: Reading, where: string): string {
  const [name = '', ...below] = segmentsOf(where).slice(table.list === undefined ? 0 : 2)
  const member = table.members.find((one) => one.where === name)
  const inRow = [...(member?.pathWhere ?? [name]), ...below]
  return pointerOf(table.reader.rows ? [ROWS, '*', ...inRow] : inRow)
}

function seen(value: unknown): SeenAnswer {
  return { status: 200, headers: {}, body: { kind: 'json', value } }
}

/** A write that one side served, and how to read what it wrote. */
interface ServedWrite extends WatchedRequest {
  readonly subject: ComparedRequest
  readonly readings: readonly Reading[]
}

/** The result of one write, and the operation whose answer its findings concern. */
interface CheckedWrite {
  readonly about: Operation
  readonly compared: ComparedRead
}

/**
 * Reads everything that was just written through both sides and compares: write once, verify twice (design §7).
 * Returns the first reading that speaks against v2, or else the one that says least for it.
 */
async function checkWrite(write: ServedWrite, ask: Ask, judging: Judging, signal: Signal): Promise<CheckedWrite | undefined> {
  let least: CheckedWrite | undefined
  for (const reading of write.readings) {
    const checked = await checkReading(write, reading, ask, judging, signal)
    if (isBad(checked.compared.judgement)) return checked
    if (!least || WEIGHTS[least.compared.judgement.outcome] === 'clean') least = checked
  }
  const unlike = write.served.by === 'v2' ? unlikeBatch(write.subject, write.readings) : undefined
  if (!least || unlike === undefined) return least
  const judgement: Judgement = { outcome: 'mismatch', findings: [], reason: unlike }
  return { about: write.subject.operation, compared: { ...least.compared, judgement } }
}

async function checkReading(write: ServedWrite, reading: Reading, ask: Ask, judging: Judging, signal: Signal): Promise<CheckedWrite> {
  const since = judging.now()
  const asking = askingOf(write.request.raw, reading)
  const first = await ask('v1', asking, signal)
  const read = { ...asking, by: 'v1' as const, since, first, learn: false }
  const compared = await compareRead(read, ask, judging, signal)
  const told = (judgement: Judgement, about = reading.operation) => ({ about, compared: { ...compared, judgement } })
  if (isBad(compared.judgement)) return told(compared.judgement)
  const unread = unreadable(reading, first)
  if (unread !== undefined) return told(inconclusive(unread))
  const elapsedMs = () => performance.now() - write.began
  const promised: Promised = { write: write.subject, reading, others: write.others(), elapsedMs }
  if (write.served.by === 'v1') {
    const shown = reading.table.readBack.gone || isThere(reading, bodyOf(first))
    return told(shown ? compared.judgement : (deletedSince(promised) ?? inconclusive('v1 does not show what it wrote')))
  }
  const unmet = unheld(promised)
  if (unmet !== undefined) return told(wrong(unmet), write.subject.operation)
  // A read too soon after the write may not show it yet; a read of a lost write never does.
  const broken = brokenPromise(promised, bodyOf(first), judging)
  const again = broken && (await ask('v1', asking, signal))
  const unreadAgain = again && unreadable(reading, again)
  if (again && unreadAgain !== undefined) {
    return { about: reading.operation, compared: { ...compared, v1: again, judgement: inconclusive(unreadAgain) } }
  }
  const judgement = again && (await brokenSurely(promised, bodyOf(again), judging))
  if (!judgement) {
    const { item, wanted } = reading
    const reason = 'the write was answered, but not with what it asked for'
    const otherwise = item && unlike(promised, wanted, Object.keys(wanted), judging, reason)
    return otherwise ? told(otherwise, write.subject.operation) : told(compared.judgement)
  }
  if (judgement.outcome === 'mismatch' && !isThere(reading, bodyOf(first)) && (await isHidden(asking, ask, signal))) {
    return told(inconclusive('the caller may not read what it wrote'))
  }
  return told(judgement, write.subject.operation)
}

/**
 * Looks once more when the other replicas have told their writes. If they cannot tell, a write is lost only if no other write can explain it.
 */
async function brokenSurely(promised: Promised, read: unknown, judging: Judging): Promise<Judgement | undefined> {
  const judgement = brokenPromise(promised, read, judging)
  const told = judgement && isDifference(judgement.outcome) ? judging.others.told() : undefined
  if (!told) return judgement
  if (await told) return brokenPromise(promised, read, judging)
  const excused = brokenPromise({ ...promised, others: ANYTHING }, read, judging)
  return excused?.outcome === 'race' ? inconclusive(UNKNOWN_WRITES) : excused
}

/** What is known of other writes if nobody tells: there may have been any. */
const ANYTHING: OtherWrites = { mayBeGone: () => true, mayBeChanged: () => true, toRows: () => ANY_WRITES }

/** Says why an answer shows nothing of the resource. A Get answers 404 for a missing one, and 400 for what cannot be a uid. */
function unreadable({ operation }: Reading, { seen }: SideAnswer): string | undefined {
  if ((seen.status === 404 || seen.status === 400) && operation.missing === 'error') return undefined
  if (seen.status !== 200) return `v1 answered HTTP ${seen.status} to the read of what was written`
  return seen.body.kind === 'json' ? undefined : 'v1 did not answer the read of what was written in JSON'
}

function bodyOf({ seen: { status, body } }: SideAnswer): unknown {
  return status === 200 && body.kind === 'json' ? body.value : undefined
}

/** True if v2 refuses to show the resource to the caller. A list leaves out such rows, as if they were not there (facts §10.8). */
async function isHidden(asking: Asking, ask: Ask, signal: Signal): Promise<boolean> {
  const statuses: number[] = []
  await ask('v2', { ...asking, tap: ({ status }) => void statuses.push(status) }, signal)
  return statuses.includes(403)
}

function isBad({ outcome }: Judgement): boolean {
  return WEIGHTS[outcome] === 'bad'
}

/**
 * Judges the status of a write that v2 was sent; undefined if v2 made or refused it. Nobody knows what v1 would have answered, because a
 * write reaches one side.
 */
export function judgeWrite(status: number): Judgement | undefined {
  if (hasFailed(status) || status === 499) return { outcome: 'error', findings: [], reason: `v2 answered HTTP ${status} to a write` }
  return status === 429 ? inconclusive('v2 answered HTTP 429 to a write, and v1 was not asked') : undefined
}

/**
 * Judges a write that v2 refused. v1 cannot be asked to write it too, so it is asked to read: it may know the caller whom v2 does not know,
 * or show the resource that v2 does not find. Of other refusals nobody knows what v1 would have answered.
 */
export async function judgeRefusal(
  watched: WatchedRequest,
  subject: ComparedRequest,
  ask: Ask,
  readingsOf: ReadingsOf,
  operations: readonly Operation[],
  signal: Signal,
): Promise<Judgement | 'refused by both'> {
  const { status } = watched.kept
  const unknown = inconclusive(`v2 answered HTTP ${status} to a write, and v1 was not asked`)
  if (status !== 401 && status !== 404) return unknown
  const readings = readingsOf(subject.operation, subject.request, undefined)
  const [reading] = 'unverifiable' in readings ? [] : readings
  const asking = reading ? askingOf(watched.request.raw, reading) : status === 401 ? listOf(watched, operations) : undefined
  if (!asking) return unknown
  const v1 = await ask('v1', asking, signal)
  if (status === 401) {
    if (v1.seen.status === 401) return 'refused by both'
    return isAccepted(v1.seen) ? wrong('v2 did not know the caller of a write, and v1 does') : unknown
  }
  if (!reading || unreadable(reading, v1) !== undefined) return unknown
  return isThere(reading, bodyOf(v1)) && !reading.table.listed
    ? wrong('v2 did not find what a write names, and v1 shows it')
    : 'refused by both'
}

/** Returns a read of the list to which a write adds; undefined if a path selects it. */
function listOf(watched: WatchedRequest, operations: readonly Operation[]): Asking | undefined {
  const { readBack } = watched.request.operation
  const reader = readBack && isReadBack(readBack) ? readerOf(readBack, operations) : undefined
  if (!reader || reader.template.includes('{')) return undefined
  return askingOf(watched.request.raw, {
    operation: reader,
    url: reader.template,
    request: { params: {}, query: new Map(), body: undefined },
  })
}

/**
 * The operations that v2 has, and whether comparisons can judge them: reads, and writes that are read back. While `verifyWrites` is true,
 * writes are read back where their tables say how.
 */
export function verifiable(operations: readonly Operation[], live: { readonly verifyWrites: boolean }) {
  const idsOf = (some: readonly Operation[]) => some.map(({ id }) => id)
  const reads = new Set(idsOf(operations.filter(isRead)))
  const readBack = new Set(idsOf(operations.filter((one) => one.readBack !== undefined && isReadBack(one.readBack))))
  return {
    operations: idsOf(operations.filter(({ kind }) => kind !== 'v1-only')),
    canBeJudged: (operation: string) => reads.has(operation) || (live.verifyWrites && readBack.has(operation)),
  }
}

/**
 * Reads back what a write has written, and tells the journal. Returns the reason of `uncompared` if nothing can be read, so that the write has
 * no account yet. What v2 answered is then counted by itself: as inconclusive, or as wrong if it should name what was written.
 * `limit` is the largest answer that is compared, in characters.
 */
export async function verifyWrite(
  watched: WatchedRequest,
  subject: ComparedRequest,
  { ask, readingsOf, limit }: { readonly ask: Ask; readonly readingsOf: ReadingsOf; readonly limit: number },
  journal: Journal,
  signal: Signal,
): Promise<'booked' | 'unreadable' | 'v2Bytes' | 'waiting'> {
  const seen = await seenOf(watched.kept, limit)
  const isJson = seen.body.kind === 'json'
  const isTooLarge = seen.body.kind === 'too-large'
  const unread = (outcome: Judgement['outcome'], reason: string) => {
    if (watched.served.by === 'v1') return 'unreadable'
    journal.unwritten(subject, { outcome, findings: [], reason }, { seen, ms: watched.ms })
    if (outcome === 'mismatch') return 'booked'
    return isTooLarge ? 'v2Bytes' : 'unreadable'
  }
  // What was written may be right, and the client got something else.
  if (isTooLarge && watched.served.by === 'v2') return unread('inconclusive', 'the answer is larger than diff.answerBytes')
  const readings = readingsOf(subject.operation, subject.request, seen.body.kind === 'json' ? seen.body.value : undefined)
  if ('unverifiable' in readings) return unread('inconclusive', `cannot be verified: ${readings.unverifiable}`)
  const checked = await checkWrite({ ...watched, subject, readings }, ask, journal.judging, signal)
  if (isShutDown(signal)) return 'waiting'
  if (!checked) return unread(isJson ? 'mismatch' : 'inconclusive', 'the answer does not name what was written')
  journal.compared(subject, 'after-write', checked.about, checked.compared)
  return 'booked'
}

/** No limits: no client waits, and nothing is written. */
const LIMITS = { callsPerRequest: Number.POSITIVE_INFINITY, parallelCalls: Number.POSITIVE_INFINITY }

/**
 * Returns the first v2 call of a write that would change something, without making it. Reads that the operation needs first are made.
 * Returns the error if the operation refuses the request, and undefined if it needs no write.
 */
export function wouldSend({ begin }: Operation, request: V1Request, env: Env, send: Send): Promise<Call | ApiError | undefined> {
  const reads = new ManyCalls(send, LIMITS)
  return new Promise((resolve, reject) => {
    if (!begin) return resolve(undefined)
    const sendCalls: Executor['sendCalls'] = (turn, receiver) => {
      const write = turn.calls.find(({ method }) => method !== 'GET')
      if (write) resolve(write)
      else reads.sendCalls(turn, receiver)
    }
    const ended = () => resolve(undefined)
    const failed = (thrown: unknown) => (thrown instanceof ApiError ? resolve(thrown) : reject(thrown))
    run(() => begin(request, env), { sendCalls, rows: () => true, ended, failed })
  })
}
