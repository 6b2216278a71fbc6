import type { Subscription } from '../world/model.ts'
import type { Random } from '../world/random.ts'
import { isAtOrBelow, parentOf } from '../world/uid.ts'
import type { World } from '../world/world.ts'
import type { Occurrence } from './announce.ts'
import { authorizationOf, type CloudEvent, cloudEventOf } from './cloud-event.ts'
import type { Delivery, Ledger } from './ledger.ts'
import type { Outcome, Post } from './post.ts'
import { deliverableUrl } from './sink.ts'
import { createWaiting } from './waiting.ts'

/** Milliseconds from a failed attempt to the next one. After the last attempt the event is dropped (semantics §7.4). */
const RETRY_AFTER_MS = [1_000, 5_000, 30_000, 120_000, 600_000] as const

/** The most events that may wait for their sinks. Without a bound, a sink that is down would fill the memory. */
const MAX_WAITING = 1_000

export type CourierParts = {
  readonly world: World
  readonly post: Post
  readonly ledger: Ledger
  /** Makes ids. It is separate, so that deliveries do not change what the service generates. */
  readonly random: Random
  /** Deliver beyond this machine as well. */
  readonly anySink: boolean
}

/** Delivers events to the sinks of the subscriptions they concern. */
export type Courier = {
  /** Starts the deliveries of an occurrence; returns at once and never throws. */
  readonly publish: (occurrence: Occurrence) => void
  /** Resolves when no attempt is in progress. Events may still wait for another attempt. */
  readonly settled: () => Promise<void>
  /** Drops everything that waits and aborts the attempts in progress. */
  readonly close: () => Promise<void>
}

/** One event on its way to one subscription. */
type Parcel = { readonly subscription: Subscription; readonly event: CloudEvent; readonly delivery: Delivery; readonly failures: number }

/** A subscription receives the events of its own group and of every group below. */
const concerns = ({ uid }: Subscription, { group }: Occurrence): boolean => isAtOrBelow(parentOf(uid), group)

const attempt = async ({ world, post, anySink }: CourierParts, { subscription, event }: Parcel, closing: AbortSignal): Promise<Outcome> => {
  if (!world.store.subscriptions.get(subscription.uid)) return { verdict: 'refused', detail: 'the subscription is gone' }
  const url = deliverableUrl(subscription.sink, anySink)
  if (!url) return { verdict: 'refused', detail: 'the sink is not on this machine' }
  const authorization = await authorizationOf(event, parentOf(subscription.uid), world)
  // The sandbox may close during the signing.
  if (closing.aborted) return { verdict: 'refused', detail: 'the sandbox closes' }
  return post(url, { ...event.headers, authorization }, event.content, closing)
}

/** The attempts of one sandbox: those in progress and those to be repeated. */
const createRounds = (parts: CourierParts) => {
  const closing = new AbortController()
  const underWay = new Set<Promise<void>>()
  const waiting = createWaiting(parts.world.clock)
  const carry = async (parcel: Parcel): Promise<void> => {
    const outcome = await attempt(parts, parcel, closing.signal)
    const delay = outcome.verdict === 'again' && !closing.signal.aborted ? RETRY_AFTER_MS[parcel.failures] : undefined
    parts.ledger.note(parcel.delivery, outcome, delay !== undefined)
    if (delay !== undefined) waiting.add(delay, () => start({ ...parcel, failures: parcel.failures + 1 }))
  }
  const start = (parcel: Parcel): void => {
    const run = carry(parcel).finally(() => underWay.delete(run))
    underWay.add(run)
  }
  const settled = async (): Promise<void> => {
    while (underWay.size > 0) await Promise.all(underWay)
  }
  const close = async (): Promise<void> => {
    closing.abort()
    waiting.clear()
    await settled()
  }
  return { start, settled, close, isClosed: () => closing.signal.aborted, size: () => underWay.size + waiting.size() }
}

const FULL: Outcome = { verdict: 'refused', detail: `${MAX_WAITING} events wait already` }

/** Creates a courier. It delivers at least once and in no particular order (semantics §7.4). */
export const createCourier = (parts: CourierParts): Courier => {
  const { world, ledger, random } = parts
  const { start, settled, close, isClosed, size } = createRounds(parts)
  const send = (subscription: Subscription, event: CloudEvent): void => {
    const delivery = ledger.open(subscription, event)
    if (size() >= MAX_WAITING) ledger.note(delivery, FULL, false)
    else start({ subscription, event, delivery, failures: 0 })
  }
  const publish = (occurrence: Occurrence): void => {
    const concerned = isClosed() ? [] : world.store.subscriptions.values().filter((subscription) => concerns(subscription, occurrence))
    if (concerned.length === 0) return
    const event = cloudEventOf(occurrence, world, random)
    for (const subscription of concerned) send(subscription, event)
  }
  return { publish, settled, close }
}
