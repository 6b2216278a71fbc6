import { randomUUID } from 'node:crypto'
import { many } from '../migrate/evidence/evidence.ts'
import type { Note } from '../migrate/records/record.ts'
import { createDelivery, type DeliverySettings } from './delivery.ts'
import { type Notification, notificationOf, pingOf } from './notification.ts'
import { createOutbox, type OutboxLimits } from './outbox.ts'

/** What became of the events since the start. */
export interface NotifyCounts {
  /** The receiver took them. */
  readonly sent: number
  /** The receiver refused them, or every attempt failed. */
  readonly failed: number
  /** They were never tried to the end: there was no room, the receiver is gone (410), or the proxy ended. */
  readonly dropped: number
  /** They wait, or one of them is being sent. */
  readonly waiting: number
  /** Why the last attempt failed, if it did. */
  readonly problem?: string
}

/** Sends an event for each note. No method waits. */
export interface Notifier {
  /** `ended` is called when the receiver has the event or never gets it, but not if the proxy ends before. */
  tell(note: Note & { readonly id: string }, ended?: () => void): void
  /** Sends an event that means nothing. Returns its id. */
  ping(): string
  counts(): NotifyCounts
  /** Tries once more what waits, for three seconds at most. What is left then is lost, and the log says so. */
  close(): Promise<void>
}

export interface NotifierSettings extends Omit<DeliverySettings, 'signal'> {
  /** Absolute URI of this proxy. */
  readonly source: string
  readonly room: OutboxLimits
  /** Milliseconds that a shutdown waits for the receiver. */
  readonly closingMs?: number
}

/** A thousand events are more than a person reads; they take some hundred kilobytes. */
export const ROOM: OutboxLimits = { events: 1000, bytes: 2 ** 22 }

const CLOSING_MS = 3000

export function createNotifier(settings: NotifierSettings): Notifier {
  const { source, room, receiver, now, warn, closingMs = CLOSING_MS } = settings
  const outbox = createOutbox(room)
  const closing = new AbortController()
  const delivery = createDelivery({ ...settings, signal: closing.signal })
  const count = { sent: 0, failed: 0, dropped: 0 }
  let pumping: Promise<void> | undefined
  let inHand = 0
  let isFull = false

  const pump = async () => {
    // The request that made the note has its answer first.
    await nextTurn()
    for (let event = outbox.take(); event; event = outbox.take()) {
      inHand = 1
      const end = await delivery.deliver(event)
      inHand = 0
      count[end] += 1
      if (end !== 'dropped') event.ended?.()
      if (end === 'sent') isFull = false
      if (delivery.isOver()) count.dropped += outbox.clear()
    }
    pumping = undefined
  }
  const add = (event: Notification, ended?: () => void) => {
    if (delivery.isOver()) {
      count.dropped += 1
      return
    }
    const dropped = outbox.add({ id: event.id, type: event.type, body: JSON.stringify(event), ended })
    count.dropped += dropped
    if (dropped > 0 && !isFull) {
      isFull = true
      warn(`too many notifications wait for ${receiver.origin}: the oldest are dropped until it takes one`)
    }
    pumping ??= pump()
  }
  return {
    tell: (note, ended) => add(notificationOf(note, source), ended),
    ping() {
      const id = randomUUID()
      add(pingOf(id, new Date(now()).toISOString(), source))
      return id
    },
    counts() {
      const problem = delivery.problem()
      return { ...count, waiting: outbox.size + inHand, ...(problem !== undefined && { problem }) }
    },
    async close() {
      const before = count.failed + count.dropped
      closing.abort()
      const timer = setTimeout(delivery.giveUp, closingMs)
      await pumping
      clearTimeout(timer)
      await receiver.close()
      const lost = count.failed + count.dropped - before
      if (lost > 0)
        warn(`${many(lost, 'notification')} did not reach ${receiver.origin} before the end and ${lost === 1 ? 'is' : 'are'} lost`)
    },
  }
}

const nextTurn = () => new Promise<void>((resolve) => setImmediate(resolve))
