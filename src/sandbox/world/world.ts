import type { Clock } from './clock.ts'
import type { Random } from './random.ts'
import type { Store } from './store.ts'

/** How one sandbox was started; nothing here changes while it runs. */
export type WorldOptions = {
  /** Which member names native v1 writes. */
  readonly v1Dialect: 'specification' | 'published'
  /** The suffix of error domains and resource types: `iam.<serviceDomain>` (specification §7). */
  readonly serviceDomain: string
  /** Subscriptions on this machine may have plain-HTTP sinks; without, v2 takes https alone (semantics §3.16). */
  readonly allowHttpSinks?: boolean | undefined
  /** A readme's change in v2 moves the update time of its repo, which no source promises. */
  readonly readmeMovesRepo?: boolean | undefined
}

/** What a fixed bearer token stands for. */
export type DemoToken = {
  /** The identity that presents it. */
  readonly identityUid: string
  /** Every capability, the internal ones included, at every group: the token of the service's own staff. */
  readonly everything?: true
}

/** Everything a handler may touch. Handlers keep no state of their own. */
export type World = {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly options: WorldOptions
  /** Bearer token → what it stands for. */
  readonly tokens: ReadonlyMap<string, DemoToken>
  /** The server's own address without a slash at the end, e.g. `http://127.0.0.1:8090`. Known once it listens. */
  readonly baseUrl: () => string
  /** Signs page tokens. */
  readonly pageKey: string
}
