import type { Env } from '../../tables/operations/operation.ts'
import type { Signal } from '../../upstream/signal.ts'
import type { UnsharedReads } from '../../upstream/v2/unshared-reads.ts'
import { pageTokenOf, tokensOf } from '../choose/page-token.ts'
import type { ComparedRequest, Journal } from '../journal.ts'
import { isRead, type Served } from '../serve/backend.ts'
import type { Ask, SideAnswer } from './ask.ts'
import { type Kept, seenOf } from './captured.ts'
import { checkWrite } from './check-write.ts'
import { compareRead } from './compare-read.ts'
import { type Cursors, createCursors } from './cursors.ts'
import { judgeWrite } from './failed-write.ts'
import type { Queue } from './queue.ts'
import type { ReadingsOf } from './reader.ts'
import type { WatchedRequest } from './watched.ts'
import { wouldSend } from './would-send.ts'

/** Why a request in a diff mode was not compared. */
export interface Skipped {
  /** The client disconnected before it had the answer. */
  gone: number
  /** Neither side had accepted its credential. */
  stranger: number
  /** It continues from a page token, and the other side's token for that page is unknown. */
  pageToken: number
  /** A write whose effect no read shows. */
  unreadable: number
}

export interface ObserverSettings {
  readonly ask: Ask
  readonly unsharedReads: UnsharedReads
  readonly env: Env
  readonly readingsOf: ReadingsOf
  /** Every n-th compared read asks v1 twice, to learn which members change by themselves; 0 = none. */
  readonly learnEvery: number
  /** Read a resource through both sides after it was written. */
  readonly verifyWrites: boolean
  /** Largest answer that is compared, in characters. */
  readonly limit: number
}

/** Compares served requests when there is time. No client waits for it. */
export interface Observer {
  readonly limit: number
  look(watched: WatchedRequest): void
  readonly skipped: Skipped
}

export function createObserver(settings: ObserverSettings, queue: Queue, journal: Journal): Observer {
  const skipped: Skipped = { gone: 0, stranger: 0, pageToken: 0, unreadable: 0 }
  const cursors = createCursors()
  const learning = everyNth(settings.learnEvery)
  return {
    limit: settings.limit,
    skipped,
    look(watched) {
      const { operation } = watched.request
      const look = isRead(operation) ? lookAtRead : lookAtWrite
      queue.offer((signal) => look(watched, { settings, journal, cursors, skipped, learning }, signal), sizeOf(watched))
    },
  }
}

interface Means {
  readonly settings: ObserverSettings
  readonly journal: Journal
  readonly cursors: Cursors
  readonly skipped: Skipped
  readonly learning: (operation: string) => boolean
}

async function lookAtRead(watched: WatchedRequest, means: Means, signal: Signal): Promise<void> {
  const { request, served, wrote } = watched
  const { settings, journal, cursors, skipped } = means
  const { operation, caller, raw, read } = request
  const subject = subjectOf(watched)
  if (!subject) return
  const token = pageTokenOf(operation, raw.url)
  const otherToken = token === undefined ? undefined : cursors.find(caller, operation.id, token)
  if (token !== undefined && otherToken === undefined) {
    skipped.pageToken += 1
    return
  }
  const seen = await seenOf(watched.kept, settings.limit)
  const first: SideAnswer = { seen: { ...seen, ...(served.unasked && { unasked: true }) }, ms: watched.ms }
  const failed = served.failed && { seen: await seenOf(wholeOf(served.failed), settings.limit), ms: watched.ms }
  const learn = means.learning(operation.id)
  const question = { operation, raw, read, by: served.by, first, other: failed, otherToken, wrote, learn }
  const compared = await compareRead(question, settings.ask, journal.judging, signal)
  const [own, others] = tokensOf(compared, served.by)
  if (own && others) cursors.learn(caller, operation.id, own, others)
  journal.compared(subject, 'read', operation, compared)
}

async function lookAtWrite(watched: WatchedRequest, means: Means, signal: Signal): Promise<void> {
  const { settings, journal, skipped } = means
  const { request, served, kept } = watched
  const subject = subjectOf(watched)
  if (!subject) return
  const failure = served.by === 'v2' && judgeWrite(kept.status)
  if (failure) return journal.unwritten(subject, failure, { seen: await seenOf(kept, settings.limit), ms: watched.ms })
  if (served.by === 'v1') {
    const send = settings.unsharedReads({ headers: request.raw.headers, requestId: request.raw.id, signal, onCall: () => undefined })
    const call = await wouldSend(subject.operation, subject.request, settings.env, send)
    if (call) journal.wouldSend(subject, call)
  }
  const succeeded = watched.kept.status >= 200 && watched.kept.status < 300
  if (!settings.verifyWrites || !succeeded) return
  const { body } = await seenOf(watched.kept, settings.limit)
  const answer = body.kind === 'json' ? body.value : undefined
  const readings = settings.readingsOf(subject.operation, subject.request, answer)
  const known = typeof readings !== 'string'
  const checked = known && (await checkWrite({ ...watched, subject, readings }, settings.ask, journal.judging, signal))
  if (checked) journal.compared(subject, 'after-write', checked.about, checked.compared)
  else skipped.unreadable += 1
}

/** Bytes that it holds in memory. */
function sizeOf({ kept, request }: WatchedRequest): number {
  return kept.size + (request.raw.body?.length ?? 0)
}

/** Returns undefined for a request that the tables cannot read, because it has no shape. */
function subjectOf({ request, mode }: WatchedRequest): ComparedRequest | undefined {
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

/** Returns a function that is true for the first of every `nth` uses of each name. */
function everyNth(nth: number): (name: string) => boolean {
  const counts = new Map<string, number>()
  return (name) => {
    const count = counts.get(name) ?? 0
    counts.set(name, count + 1)
    return nth > 0 && count % nth === 0
  }
}
