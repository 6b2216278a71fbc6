import { systemReason } from '../errors.ts'
import type { WaitingEvent } from './outbox.ts'
import type { Receipt, Receiver } from './receiver.ts'
import { askedPause, pauseAfter } from './retry-pause.ts'
import type { SignAttempt } from './signature.ts'

export interface DeliverySettings {
  readonly receiver: Receiver
  readonly sign: SignAttempt
  /** Attempts for one event. */
  readonly attempts: number
  /** Milliseconds since 1970. */
  readonly now: () => number
  /** Gives 0 up to 1. */
  readonly random: () => number
  /** Resolves after so many milliseconds, and at once when the signal aborts. */
  readonly pause: (ms: number, signal: AbortSignal) => Promise<void>
  /** Reports what an operator must know. */
  readonly warn: (text: string) => void
  /** Aborts when the proxy ends: no pause is made from then on, and no second attempt. */
  readonly signal: AbortSignal
}

/** Sends events to one receiver, one after the other. */
export interface Delivery {
  /** Resolves when the event was taken, was refused, or must not be sent. Never rejects. */
  deliver(event: WaitingEvent): Promise<'sent' | 'failed' | 'dropped'>
  /** True if nothing is sent any more. */
  isOver(): boolean
  /** Why the last attempt failed; undefined if it did not. */
  problem(): string | undefined
  /** Breaks off what is under way and sends nothing more. */
  giveUp(): void
}

/** What an attempt led to. */
type Outcome =
  | { readonly end: 'sent' }
  | { readonly end: 'refused' | 'gone'; readonly problem: string }
  | { readonly end: 'again'; readonly problem: string; readonly askedMs: number }

export function createDelivery(settings: DeliverySettings): Delivery {
  const { receiver, sign, attempts, now, random, pause, warn, signal } = settings
  /** Failed attempts in a row, of whichever events: the pauses grow as long as the receiver is away. */
  let failures = 0
  let restMs = 0
  let isOver = false
  let problem: string | undefined

  const attempt = async ({ id, body }: WaitingEvent): Promise<Outcome> => {
    try {
      return outcomeOf(await receiver.post({ ...sign(id, body, now()) }, body), now())
    } catch (error) {
      return { end: 'again', problem: systemReason(error), askedMs: 0 }
    }
  }
  const count = (outcome: Outcome) => {
    problem = outcome.end === 'sent' ? undefined : `${receiver.origin} ${outcome.problem}`
    failures = outcome.end === 'again' ? failures + 1 : 0
    restMs = outcome.end === 'again' ? Math.max(pauseAfter(failures, random), outcome.askedMs) : 0
    if (outcome.end === 'gone') isOver = true
    if (failures === 1) warn(`${problem}: the notification is sent again, ${attempts} times in all`)
  }
  return {
    async deliver(event) {
      for (let nth = 1; nth <= attempts; nth += 1) {
        if (restMs > 0) await pause(restMs, signal)
        if (isOver) return 'dropped'
        const outcome = await attempt(event)
        if (isOver) return 'dropped'
        count(outcome)
        if (outcome.end === 'sent') return 'sent'
        if (outcome.end === 'gone') warn(`${problem}: no notification is sent any more until the next start`)
        if (outcome.end === 'refused') warn(`${problem}: the notification ${nameOf(event)} is lost`)
        if (outcome.end !== 'again') return 'failed'
        if (signal.aborted) return 'dropped'
      }
      warn(`${problem}: the notification ${nameOf(event)} is lost after ${attempts} attempts`)
      return 'failed'
    },
    isOver: () => isOver,
    problem: () => problem,
    giveUp() {
      isOver = true
      void receiver.close()
    },
  }
}

/** 429 and 5xx may pass. A receiver that answers 410 wants no more (CloudEvents, HTTP 1.1 Web Hooks 1.0.2). No other answer changes by repeating. */
function outcomeOf({ status, retryAfter }: Receipt, nowMs: number): Outcome {
  const problem = `answers HTTP ${status}`
  if (status >= 200 && status < 300) return { end: 'sent' }
  if (status === 410) return { end: 'gone', problem }
  if (status === 429 || status >= 500) return { end: 'again', problem, askedMs: askedPause(retryAfter, nowMs) }
  return { end: 'refused', problem }
}

function nameOf({ id, type }: WaitingEvent): string {
  return `${type} ${id}`
}
