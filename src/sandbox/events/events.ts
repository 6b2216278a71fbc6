import { createHash } from 'node:crypto'
import { Agent, request } from 'undici'
import { isLoopback, lifetime, ownIssuer } from '../auth/tokens.ts'
import { type Answer, callerOf, ok, type Route } from '../http/route.ts'
import type { Subscription } from '../world/model.ts'
import { type Clock, createRandom, isAtOrBelow, parentOf, type Random, revisionOf, timestamp, type World } from '../world/store.ts'
import { type Call, type Rule, ruleOf } from './rules.ts'

/** An event as sent, without the signature: each attempt signs it anew. */
type CloudEvent = {
  readonly id: string
  /** CloudEvents 1.0, binary mode: attributes are headers, the body is the data (semantics §7.4). */
  readonly headers: Readonly<Record<string, string>>
  readonly content: string
}

/** A UUID of version 4. */
const uuid = (random: Random): string => {
  const hex = random.hex(16)
  const variant = '89ab'[random.below(4)]
  return [hex.slice(0, 8), hex.slice(8, 12), `4${hex.slice(13, 16)}`, `${variant}${hex.slice(17, 20)}`, hex.slice(20)].join('-')
}

/** The event of an occurrence. */
const cloudEventOf = (occurrence: Occurrence, world: World, random: Random): CloudEvent => {
  const { type, subject, group, sourcePath, bodyType, body, actor, extensions } = occurrence
  const id = uuid(random)
  const headers = {
    'content-type': 'application/json',
    'user-agent': 'Chainguard Enforce (sandbox)',
    traceparent: `00-${random.hex(16)}-${random.hex(8)}-01`,
    'ce-specversion': '1.0',
    'ce-id': id,
    'ce-source': world.baseUrl() + sourcePath,
    'ce-type': type,
    'ce-subject': subject,
    'ce-time': timestamp(world.clock),
    'ce-group': group,
    'ce-audience': 'customer',
    'ce-bodytype': bodyType,
    'ce-actor': actor,
    ...Object.fromEntries(Object.entries(extensions).map(([name, value]) => [`ce-${name}`, value])),
  }
  return { id, headers, content: JSON.stringify({ actor: { subject: actor }, body }) }
}

/** Seconds for which a signature is valid. */
const SIGNED_FOR = 300

/** `Bearer` and a token. It proves to the receiver the sender, the group and the integrity of the content (semantics §7.4). */
const authorizationOf = async ({ content }: CloudEvent, group: string, world: World): Promise<string> => {
  const digest = `sha256:${createHash('sha256').update(content).digest('hex')}`
  const { sign } = await ownIssuer()
  const claims = { iss: world.baseUrl(), aud: 'customer', sub: `webhook:${group}`, webhook: { digest }, ...lifetime(world, SIGNED_FOR) }
  return `Bearer ${await sign(claims, 'JWT')}`
}

/** One event for one subscription, as shown by `GET /-/deliveries`. */
type Delivery = {
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

const keyOf = ({ id, subscription }: Delivery): string => `${id} ${subscription}`

const stateOf = (outcome: Outcome, again: boolean): Delivery['state'] => {
  if (outcome.verdict === 'delivered') return 'delivered'
  return again ? 'waiting' : 'dropped'
}

type Ledger = ReturnType<typeof createLedger>

/** Remembers deliveries, newest last. */
export const createLedger = () => {
  const entries = new Map<string, Delivery>()
  return {
    open: ({ uid, sink }: Subscription, { id, headers }: CloudEvent): Delivery => {
      const { 'ce-type': type = '', 'ce-subject': subject = '' } = headers
      const delivery: Delivery = { id, type, subject, subscription: uid, sink, attempts: 0, state: 'waiting', detail: '' }
      entries.set(keyOf(delivery), delivery)
      const [oldest] = entries.keys()
      if (entries.size > LIMIT && oldest !== undefined) entries.delete(oldest)
      return delivery
    },
    /** Records an attempt. `again` tells that another one will follow. */
    note: (delivery: Delivery, outcome: Outcome, again: boolean): void => {
      const known = entries.get(keyOf(delivery))
      if (!known) return
      entries.set(keyOf(delivery), { ...known, attempts: known.attempts + 1, state: stateOf(outcome, again), detail: outcome.detail })
    },
    entries: (): readonly Delivery[] => [...entries.values()],
  }
}

/** An occurrence that subscribers may be notified of. */
export type Occurrence = {
  /** `dev.chainguard.api.iam.group.created.v1` */
  readonly type: string
  readonly subject: string
  readonly group: string
  /** The path of its collection: `/iam/v2/groups`. */
  readonly sourcePath: string
  readonly bodyType: string
  readonly body: unknown
  /** The identity that caused it. */
  readonly actor: string
  readonly extensions: Readonly<Record<string, string>>
}

const TYPE_PREFIX = 'dev.chainguard.api.'
const BODY_PREFIX = 'chainguard.platform.'

/** The part of a template before its first variable or verb. */
const collectionOf = (template: string): string => template.replace(/(?:\/\{|:[A-Za-z]+$).*/s, '')

const occurrenceOf = (rule: Rule, template: string, call: Call): Occurrence => {
  const subject = rule.subject(call)
  return {
    type: TYPE_PREFIX + rule.event,
    subject,
    group: rule.group(subject, call),
    sourcePath: collectionOf(template),
    bodyType: BODY_PREFIX + rule.bodyType,
    body: rule.body(call, subject),
    actor: callerOf(call.ask).identityUid,
    extensions: rule.extensions?.(subject) ?? {},
  }
}

const announced = (route: Route, rule: Rule, publish: (occurrence: Occurrence) => void): Route => ({
  ...route,
  handle: async (ask, world): Promise<Answer> => {
    const before = revisionOf(world.store)
    const pending = route.handle(ask, world)
    // Handlers write before they return, so no other request can have written in between.
    const changed = revisionOf(world.store) !== before
    const answer = await pending
    if (changed) publish(occurrenceOf(rule, route.template, { ask, answer }))
    return answer
  },
})

/**
 * Wraps the routes. A route with an event publishes it after a successful call that changed something. An update with an empty mask and a
 * delete of a missing row publish nothing (semantics §6, ASSUMPTIONS.md).
 */
export const announcing = (routes: readonly Route[], publish: (occurrence: Occurrence) => void): readonly Route[] =>
  routes.map((route) => {
    const rule = ruleOf(route)
    return rule ? announced(route, rule, publish) : route
  })

/** Keeps tasks that wait for their time on the sandbox's clock. They can all be cancelled at once. */
const createWaiting = (clock: Clock) => {
  const cancels = new Set<() => void>()
  return {
    add: (ms: number, task: () => void): void => {
      const cancel = clock.after(ms, () => {
        cancels.delete(cancel)
        task()
      })
      cancels.add(cancel)
    },
    size: () => cancels.size,
    clear: () => {
      for (const cancel of cancels) cancel()
      cancels.clear()
    },
  }
}

const parse = (sink: string): URL | undefined => (URL.canParse(sink) ? new URL(sink) : undefined)

/** The schemes a sink may have, depending on its URL. */
export type SchemeRule = (url: URL) => readonly string[]

/** Allows plain HTTP nowhere (semantics §3.16). */
export const httpsOnly: SchemeRule = () => ['https:']
/** Allows plain HTTP on this machine, for the sandbox's own flag. */
export const httpOnLoopback: SchemeRule = (url) => (isLoopback(url) ? ['https:', 'http:'] : ['https:'])
/** Allows plain HTTP anywhere, as v1 does (facts §24.13). */
export const anyHttp: SchemeRule = () => ['https:', 'http:']

/** The reason to refuse a sink, or undefined. */
export const sinkProblem = (sink: string, schemes: SchemeRule): string | undefined => {
  const url = parse(sink)
  if (!url) return 'must be a URL'
  const allowed = schemes(url)
  return allowed.includes(url.protocol) ? undefined : `must use the scheme ${allowed.map((scheme) => scheme.slice(0, -1)).join(' or ')}`
}

/** The URL to deliver to. Undefined for an invalid sink, and for one off this machine unless `anySink` allows it. */
const deliverableUrl = (sink: string, anySink: boolean): URL | undefined => {
  const url = parse(sink)
  return url && (anySink || isLoopback(url)) ? url : undefined
}

/** The outcome of one attempt. `again` asks for another attempt. */
export type Outcome = { readonly verdict: 'delivered' | 'again' | 'refused'; readonly detail: string }

/** Sends one event; never rejects. */
export type Post = (url: URL, headers: Readonly<Record<string, string>>, content: string, closing: AbortSignal) => Promise<Outcome>

/** Milliseconds for the whole exchange (semantics §7.4). */
const TIMEOUT_MS = 5_000

/** The most bytes read of a response. Responses are read so that the connection can be reused, but not without limit. */
const ANSWER_LIMIT = 64 * 1024

const isRetryable = (status: number): boolean => status === 408 || status === 429 || status >= 500

const verdictOf = (status: number): Outcome['verdict'] => {
  if (status >= 200 && status < 300) return 'delivered'
  return isRetryable(status) ? 'again' : 'refused'
}

/** Posts over HTTP. It does not follow redirects, which could lead off this machine. */
const createPost = (): { readonly post: Post; readonly close: () => Promise<void> } => {
  const agent = new Agent({ connections: 8, keepAliveTimeout: 1_000 })
  const post: Post = async (url, headers, body, closing) => {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(TIMEOUT_MS)])
    try {
      const answer = await request(url, { method: 'POST', headers, body, dispatcher: agent, signal })
      await answer.body.dump({ limit: ANSWER_LIMIT, signal })
      return { verdict: verdictOf(answer.statusCode), detail: `HTTP ${answer.statusCode}` }
    } catch (error) {
      return { verdict: 'again', detail: error instanceof Error ? error.message : String(error) }
    }
  }
  return { post, close: () => agent.destroy() }
}

/** Milliseconds from a failed attempt to the next one. After the last attempt the event is dropped (semantics §7.4). */
const RETRY_AFTER_MS = [1_000, 5_000, 30_000, 120_000, 600_000] as const

/** The most events that may wait for their sinks. Without a bound, a sink that is down would fill the memory. */
const MAX_WAITING = 1_000

type CourierParts = {
  readonly world: World
  readonly post: Post
  readonly ledger: Ledger
  /** Makes ids. It is separate, so that deliveries do not change what the service generates. */
  readonly random: Random
  /** Deliver beyond this machine as well. */
  readonly anySink: boolean
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

/**
 * Delivers events to the sinks of the subscriptions they concern, at least once and in no particular order (semantics §7.4). `settled`
 * resolves when no attempt is in progress; events may still wait for another. `close` drops what waits and aborts the attempts.
 */
export const createCourier = (parts: CourierParts) => {
  const { world, ledger, random } = parts
  const { start, settled, close, isClosed, size } = createRounds(parts)
  const send = (subscription: Subscription, event: CloudEvent): void => {
    const delivery = ledger.open(subscription, event)
    if (size() >= MAX_WAITING) ledger.note(delivery, FULL, false)
    else start({ subscription, event, delivery, failures: 0 })
  }
  /** Starts the deliveries of an occurrence; returns at once and never throws. */
  const publish = (occurrence: Occurrence): void => {
    const concerned = isClosed() ? [] : world.store.subscriptions.values().filter((subscription) => concerns(subscription, occurrence))
    if (concerned.length === 0) return
    const event = cloudEventOf(occurrence, world, random)
    for (const subscription of concerned) send(subscription, event)
  }
  return { publish, settled, close }
}

/** `GET /-/deliveries`: the outcome of the last thousand deliveries, one entry for each event and subscription. */
const deliveriesRoute = (ledger: Ledger): Route => ({
  method: 'GET',
  template: '/-/deliveries',
  auth: 'none',
  handle: () => ok(ledger.entries()),
})

/** Delivers over HTTP. `seed` determines the ids of events; `anySink` lets events leave this machine. */
export const openEvents = (world: World, seed: number, anySink: boolean) => {
  const ledger = createLedger()
  const { post, close } = createPost()
  const courier = createCourier({ world, post, ledger, random: createRandom(seed), anySink })
  return {
    publish: courier.publish,
    routes: [deliveriesRoute(ledger)],
    close: async () => {
      await courier.close()
      await close()
    },
  }
}
