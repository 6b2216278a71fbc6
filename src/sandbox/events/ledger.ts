import type { Subscription } from '../world/model.ts'
import type { CloudEvent } from './cloud-event.ts'
import type { Outcome } from './post.ts'

/** One event for one subscription, as shown by `GET /-/deliveries`. */
export type Delivery = {
  /** The event's `ce-id`. */
  readonly id: string
  readonly type: string
  readonly subject: string
  readonly subscription: string
  readonly sink: string
  readonly attempts: number
  readonly state: 'waiting' | 'delivered' | 'dropped'
  /** The result of the last attempt. */
  readonly detail: string
}

/** The most entries kept; the oldest are dropped first. */
const LIMIT = 1_000

/** Remembers deliveries, newest last. */
export type Ledger = {
  readonly open: (subscription: Subscription, event: CloudEvent) => Delivery
  /** Records an attempt. `again` tells that another one will follow. */
  readonly note: (delivery: Delivery, outcome: Outcome, again: boolean) => void
  readonly entries: () => readonly Delivery[]
}

const keyOf = ({ id, subscription }: Delivery): string => `${id} ${subscription}`

const stateOf = (outcome: Outcome, again: boolean): Delivery['state'] => {
  if (outcome.verdict === 'delivered') return 'delivered'
  return again ? 'waiting' : 'dropped'
}

/** An empty ledger. */
export const createLedger = (): Ledger => {
  const entries = new Map<string, Delivery>()
  return {
    open: ({ uid, sink }, { id, headers }) => {
      const { 'ce-type': type = '', 'ce-subject': subject = '' } = headers
      const delivery: Delivery = { id, type, subject, subscription: uid, sink, attempts: 0, state: 'waiting', detail: '' }
      entries.set(keyOf(delivery), delivery)
      const [oldest] = entries.keys()
      if (entries.size > LIMIT && oldest !== undefined) entries.delete(oldest)
      return delivery
    },
    note: (delivery, outcome, again) => {
      const known = entries.get(keyOf(delivery))
      if (!known) return
      entries.set(keyOf(delivery), { ...known, attempts: known.attempts + 1, state: stateOf(outcome, again), detail: outcome.detail })
    },
    entries: () => [...entries.values()],
  }
}
