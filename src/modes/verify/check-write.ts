import { isDifference, WEIGHTS } from '../../diff/evidence/observation.ts'
import type { Judgement } from '../../diff/judge/judge.ts'
import type { Signal } from '../../serve/signals.ts'
import type { Operation } from '../../tables/operation.ts'
import type { ComparedRequest } from '../journal.ts'
import type { Ask, Asking, SideAnswer } from '../observe/ask.ts'
import { type ComparedRead, compareRead, type Judging } from '../observe/compare-read.ts'
import { UNTOLD } from '../observe/other-replicas.ts'
import type { WatchedRequest } from '../observe/watched.ts'
import type { OtherWrites } from '../serve/recent-writes.ts'
import { unlikeBatch } from './batch-answer.ts'
import { brokenPromise, deletedSince, isThere, type Promised } from './kept-promise.ts'
import type { Reading } from './reader.ts'

/** A write that one side served, and how to read what it wrote. */
export interface ServedWrite extends WatchedRequest {
  readonly subject: ComparedRequest
  readonly readings: readonly Reading[]
}

/** The result of one write, and the operation whose answer its findings concern. */
export interface CheckedWrite {
  readonly about: Operation
  readonly compared: ComparedRead
}

/**
 * Reads everything that was just written through both sides and compares: write once, verify twice (design §7).
 * Returns the first reading that speaks against v2, or else the one that says least for it.
 */
export async function checkWrite(write: ServedWrite, ask: Ask, judging: Judging, signal: Signal): Promise<CheckedWrite | undefined> {
  let least: CheckedWrite | undefined
  for (const reading of write.readings) {
    const checked = await checkReading(write, reading, ask, judging, signal)
    if (isBad(checked.compared.judgement)) return checked
    if (!least || isClean(least.compared.judgement)) least = checked
  }
  const unlike = write.served.by === 'v2' ? unlikeBatch(write.subject, write.readings) : undefined
  if (!least || unlike === undefined) return least
  const judgement: Judgement = { outcome: 'mismatch', findings: [], reason: unlike }
  return { about: write.subject.operation, compared: { ...least.compared, judgement } }
}

async function checkReading(write: ServedWrite, reading: Reading, ask: Ask, judging: Judging, signal: Signal): Promise<CheckedWrite> {
  const since = judging.now()
  const asking = askingOf(write, reading)
  const first = await ask('v1', asking, signal)
  const read = { ...asking, by: 'v1' as const, since, first, learn: false }
  const compared = await compareRead(read, ask, judging, signal)
  const told = (judgement: Judgement, about = reading.operation) => ({ about, compared: { ...compared, judgement } })
  if (isBad(compared.judgement)) return told(compared.judgement)
  const unread = unreadable(reading, first)
  if (unread !== undefined) return told(inconclusive(unread))
  const promised: Promised = { ...write, write: write.subject, reading, elapsedMs: () => performance.now() - write.began }
  if (write.served.by === 'v1') {
    const shown = reading.table.readBack.gone || isThere(reading, bodyOf(first))
    return told(shown ? compared.judgement : (deletedSince(promised) ?? inconclusive('v1 does not show what it wrote')))
  }
  // A read too soon after the write may not show it yet; a read of a lost write never does.
  const broken = brokenPromise(promised, bodyOf(first), judging)
  const again = broken && (await ask('v1', asking, signal))
  const judgement = again && !unreadable(reading, again) ? await brokenSurely(promised, bodyOf(again), judging) : undefined
  if (!judgement) return told(compared.judgement)
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
  return excused?.outcome === 'race' ? inconclusive(UNTOLD) : excused
}

/** What is known of other writes if nobody tells: there may have been any. */
const ANYTHING: OtherWrites = { mayBeGone: () => true, mayBeChanged: () => true }

/** Returns a GET with the client's own credentials. */
function askingOf({ request: { raw } }: ServedWrite, reading: Reading): Asking {
  const { 'content-type': _, 'content-length': __, 'transfer-encoding': ___, ...headers } = raw.headers
  const get = { id: raw.id, method: 'GET', url: reading.url, headers }
  return { operation: reading.operation, raw: get, read: () => reading.request }
}

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

function isClean({ outcome }: Judgement): boolean {
  return WEIGHTS[outcome] === 'clean'
}

function inconclusive(reason: string): Judgement {
  return { outcome: 'inconclusive', findings: [], reason }
}
