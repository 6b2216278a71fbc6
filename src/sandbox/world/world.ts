import type { Clock } from './clock.ts'
import type { Random } from './random.ts'
import type { Store } from './store.ts'

/** The options of one sandbox. They do not change while it runs. */
export type WorldOptions = {
  /** The member names that genuine v1 writes. */
  readonly v1Dialect: 'specification' | 'published'
  /** The suffix of error domains and resource types: `iam.<serviceDomain>` (specification §7). */
  readonly serviceDomain: string
  /** Subscriptions on this machine may have plain-HTTP sinks. By default v2 accepts only https (semantics §3.16). */
  readonly allowHttpSinks?: boolean | undefined
  /** A change of a readme in v2 moves the update time of its repo. No source promises this. */
  readonly readmeMovesRepo?: boolean | undefined
}

/** The identity and the rights of a fixed bearer token. */
export type DemoToken = {
  /** The identity of the token. */
  readonly identityUid: string
  /** Every capability at every group, internal ones included: the token of the service's own staff. */
  readonly everything?: true
}

/** Everything a handler may use. Handlers keep no state of their own. */
export type World = {
  readonly store: Store
  readonly clock: Clock
  readonly random: Random
  readonly options: WorldOptions
  /** Bearer token → its identity and rights. */
  readonly tokens: ReadonlyMap<string, DemoToken>
  /** The server's own address without a trailing slash, e.g. `http://127.0.0.1:8090`. It is known once the server listens. */
  readonly baseUrl: () => string
  /** Signs page tokens. */
  readonly pageKey: string
}
