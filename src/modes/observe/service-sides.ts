import type { TranslateSettings } from '../../serve/answer.ts'
import type { UnsharedReads } from '../../serve/upstream/send.ts'
import type { AskRest, ReadV1 } from '../../serve/upstream/v1.ts'
import type { Journal } from '../journal.ts'
import { createReadingsOf } from '../verify/reader.ts'
import { createAsk } from './ask.ts'
import type { LiveComparing } from './live-comparing.ts'
import { createObserver, type Observer, type ObserverSettings } from './observer.ts'
import type { Queue } from './queue.ts'

/** What it takes to ask v1 and v2 as services. */
export interface ServiceSides {
  readonly ask: AskRest
  /** Reads of v1 that no client waits for. */
  readonly readForDiff: ReadV1
  /** Reads of v2 that are not shared with those of clients. */
  readonly unsharedReads: UnsharedReads
  readonly translate: TranslateSettings
}

export interface ServiceObserverSettings extends LiveComparing, Pick<ObserverSettings, 'limit' | 'random'> {
  /** Milliseconds in which an asked side must answer. */
  readonly answerMs: number
}

/** Creates the observer that compares what services answer. */
export function observeServices(
  { readForDiff, unsharedReads, translate }: ServiceSides,
  settings: ServiceObserverSettings,
  queue: Queue,
  journal: Journal,
): Observer {
  const { answerMs, limit, random } = settings
  const ask = createAsk({ readV1: readForDiff, unsharedReads, translate, deadlineMs: answerMs, limit })
  const means = { ask, unsharedReads, readingsOf: createReadingsOf(journal.operations, translate.dialect) }
  return createObserver({ ...means, env: translate, limit, live: settings, random, now: () => performance.now() }, queue, journal)
}
