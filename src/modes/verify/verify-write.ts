import type { Judgement } from '../../diff/judge/judge.ts'
import type { Signal } from '../../serve/signals.ts'
import type { ComparedRequest, Journal } from '../journal.ts'
import type { Ask } from '../observe/ask.ts'
import { seenOf } from '../observe/captured.ts'
import type { WatchedRequest } from '../observe/watched.ts'
import { checkWrite } from './check-write.ts'
import type { ReadingsOf } from './reader.ts'

interface VerifySettings {
  readonly ask: Ask
  readonly readingsOf: ReadingsOf
  /** Largest answer that is compared, in characters. */
  readonly limit: number
}

/**
 * Reads back what a write has written, and tells the journal. Returns false if nothing can be read.
 * What v2 answered is then counted by itself: as inconclusive, or as wrong if it should name what was written.
 */
export async function verifyWrite(
  watched: WatchedRequest,
  subject: ComparedRequest,
  { ask, readingsOf, limit }: VerifySettings,
  journal: Journal,
  signal: Signal,
): Promise<boolean> {
  const seen = await seenOf(watched.kept, limit)
  const isJson = seen.body.kind === 'json'
  const unread = (outcome: Judgement['outcome'], reason: string) => {
    if (watched.served.by === 'v2') journal.unwritten(subject, { outcome, findings: [], reason }, { seen, ms: watched.ms })
    return false
  }
  const readings = readingsOf(subject.operation, subject.request, seen.body.kind === 'json' ? seen.body.value : undefined)
  if ('unverifiable' in readings) return unread('inconclusive', `cannot be verified: ${readings.unverifiable}`)
  const checked = await checkWrite({ ...watched, subject, readings }, ask, journal.judging, signal)
  if (!checked) return unread(isJson ? 'mismatch' : 'inconclusive', 'the answer does not name what was written')
  journal.compared(subject, 'after-write', checked.about, checked.compared)
  return true
}
