import type { Served } from '../../serve/sides.ts'
import type { Signal } from '../../serve/signals.ts'
import { createAnswerRoom } from '../../serve/upstream/exchange.ts'
import type { UnsharedReads } from '../../serve/upstream/send.ts'
import type { Env, Operation } from '../../tables/operation.ts'
import { pageTokenOf, tokensOf } from '../choose/page-token.ts'
import type { ComparedRequest, Journal } from '../journal.ts'
import { judgeWrite } from '../verify/failed-write.ts'
import type { ReadingsOf } from '../verify/reader.ts'
import { verifyWrite } from '../verify/verify-write.ts'
import { wouldSend } from '../verify/would-send.ts'
import type { Ask, SideAnswer } from './ask.ts'
import { type Kept, seenOf } from './captured.ts'
import { compareRead } from './compare-read.ts'
import type { Cursors } from './cursors.ts'
import type { LiveComparing } from './live-comparing.ts'
import type { Skipped } from './skipped.ts'
import type { WatchedRequest } from './watched.ts'

export interface LookSettings {
  readonly ask: Ask
  readonly unsharedReads: UnsharedReads
  readonly env: Env
  readonly readingsOf: ReadingsOf
  /** What may change while the proxy serves. */
  readonly live: Omit<LiveComparing, 'probePercent'>
  /** Largest answer that is compared, in characters. */
  readonly limit: number
}

/** What looking at a served request needs. */
export interface LookMeans {
  readonly settings: LookSettings
  readonly journal: Journal
  readonly cursors: Cursors
  /** Counts a request that cannot be compared. */
  readonly skip: (operation: Operation, why: keyof Skipped) => void
  readonly learning: (operation: string) => boolean
}

/** Compares a read with the other side's answer. */
export async function lookAtRead(watched: WatchedRequest, subject: ComparedRequest, means: LookMeans, signal: Signal): Promise<void> {
  const { request, served, wrote } = watched
  const { settings, journal, cursors, skip } = means
  const { operation, caller, raw, read } = request
  const token = pageTokenOf(operation, raw.url)
  const otherToken = token === undefined ? undefined : cursors.find(caller, operation.id, token)
  if (token !== undefined && otherToken === undefined) return skip(operation, 'pageToken')
  const seen = await seenOf(watched.kept, settings.limit)
  const first: SideAnswer = { seen: { ...seen, ...(served.unasked && { unasked: true }) }, ms: watched.ms }
  const failed = served.failed && { seen: await seenOf(wholeOf(served.failed), settings.limit), ms: watched.ms }
  const asking = { operation, raw, read, wrote, otherToken, learn: means.learning(operation.id) }
  const question = { ...asking, by: served.by, since: journal.judging.now() - (performance.now() - watched.began), first, other: failed }
  const compared = await compareRead(question, settings.ask, journal.judging, signal)
  const [own, others] = tokensOf(operation, compared, served.by)
  if (own && others) cursors.learn(caller, operation.id, own, others)
  journal.compared(subject, 'read', operation, compared)
}

/** Reads back what a write has written, and keeps what v2 would have been sent. */
export async function lookAtWrite(watched: WatchedRequest, means: LookMeans, signal: Signal): Promise<void> {
  const { settings, journal, skip } = means
  const { request, served, kept } = watched
  const subject = subjectOf(watched)
  if (!subject) return skip(request.operation, 'malformed')
  const failure = served.by === 'v2' && judgeWrite(kept.status)
  if (failure) return journal.unwritten(subject, failure, { seen: await seenOf(kept, settings.limit), ms: watched.ms })
  if (served.by === 'v1') {
    const { headers, id: requestId } = request.raw
    const send = settings.unsharedReads({ headers, requestId, signal, room: createAnswerRoom(settings.limit), onCall: () => undefined })
    const call = await wouldSend(subject.operation, subject.request, settings.env, send)
    if (call) journal.wouldSend(subject, call)
  }
  if (kept.status < 200 || kept.status > 299) return
  if (!settings.live.verifyWrites) return skip(request.operation, 'unverified')
  if (!(await verifyWrite(watched, subject, settings, journal, signal))) skip(request.operation, 'unreadable')
}

/** Returns undefined for a request that the tables cannot read, because it has no shape. */
export function subjectOf({ request, mode }: WatchedRequest): ComparedRequest | undefined {
  const { operation, caller, subject, read } = request
  try {
    return { operation, caller, subject, mode, request: read() }
  } catch {
    return undefined
  }
}

/** v2's failed answers are never streamed. */
function wholeOf(answer: NonNullable<Served['failed']>): Kept {
  const { status, headers } = answer
  return { status, headers, body: { value: 'body' in answer ? answer.body : undefined }, size: 0 }
}
