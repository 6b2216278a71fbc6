import type { Agent } from 'undici'
import { systemReason } from '../../errors.ts'
import type { Probe } from '../../tables/tables.ts'
import { type Exchange, exchange, placeOf, type RawAnswer, textOf } from './exchange.ts'
import { waitFor } from './shared-reads.ts'
import { parseHeaders } from './undici.ts'

export type Service = 'v2' | 'v1'

/** The last known state of a service behind the proxy. */
interface Pulse {
  readonly service: Service
  /** One sentence without a full stop; undefined if the service is well. */
  readonly problem: string | undefined
}

export interface Health {
  readonly pulses: readonly Pulse[]
  /** True if one of the services has been well since the start. */
  readonly proven: boolean
}

/** Milliseconds for which an answer is valid. Each service gets one ping in that time, however many ask. */
const GOOD_MS = 1000

/** Resolves with undefined, or with the problem. */
export type Ping = (service: Service, base: string) => Promise<string | undefined>

/** Pings every service that has a base address; `now` is a monotonic clock in milliseconds. */
export function createHealth(bases: Readonly<Record<Service, string | undefined>>, ping: Ping, now: () => number): () => Promise<Health> {
  const services = Object.entries(bases) as [Service, string | undefined][]
  const known = services.flatMap(([service, base]) => (base === undefined ? [] : { service, base }))
  let last: Promise<Health> | undefined
  let goodUntil = 0
  let proven = false
  const ask = async (): Promise<Health> => {
    const pulses = await Promise.all(known.map(async ({ service, base }) => ({ service, problem: await ping(service, base) })))
    proven ||= pulses.some(({ problem }) => problem === undefined)
    goodUntil = now() + GOOD_MS
    return { pulses, proven }
  }
  return () => {
    if (last === undefined || now() >= goodUntil) {
      goodUntil = Number.POSITIVE_INFINITY
      last = ask()
    }
    return last
  }
}

/** Milliseconds by which another clock may differ from ours: signatures, tokens and dates of removal go by them. */
const APART_MS = 60_000

/** Milliseconds within which a clock that differed agrees again, so that one at the border is told once. */
const AGAIN_MS = 30_000

/** Whose clock is compared with ours. */
type Clocked = Service | 'the store'

export type ClockWatch = ReturnType<typeof createClockWatch>

/**
 * Compares our clock with those of the services and of the store. Tells each difference once, and once that it is over. `now` returns
 * milliseconds since 1970.
 */
export function createClockWatch(now: () => number, tell: (text: string, differs: boolean) => void) {
  const ahead = new Map<Clocked, number>()
  const apart = new Set<Clocked>()
  const heard = (of: Clocked, ms: number) => {
    ahead.set(of, ms)
    if (apart.has(of) ? Math.abs(ms) > AGAIN_MS : Math.abs(ms) <= APART_MS) return
    if (apart.delete(of)) return tell(`the clocks of ${of} and of this machine agree again`, false)
    apart.add(of)
    tell(`${apartText(of, ms)}: look at the time service of both machines`, true)
  }
  return {
    /** Takes the `date` of an answer that no cache has kept. */
    hear(service: Service, date: string | undefined): void {
      const ms = Date.parse(date ?? '') - now()
      if (!Number.isNaN(ms)) heard(service, ms)
    },
    /** Takes by how many milliseconds a clock is ahead of ours. */
    heard,
    /** Whose clock differs, in one sentence without a full stop; undefined if none does. */
    standing: (): string | undefined =>
      apart.size === 0 ? undefined : Array.from(apart, (of) => apartText(of, ahead.get(of) ?? 0)).join('; '),
    /** By how many milliseconds each clock was ahead of ours when it was last heard of. */
    ahead: (): ReadonlyMap<Clocked, number> => ahead,
  }
}

function apartText(of: Clocked, ms: number): string {
  const seconds = Math.round(Math.abs(ms) / 1000)
  const [count, unit] = seconds < 7200 ? [Math.round(seconds / 60), 'min'] : [Math.round(seconds / 3600), 'h']
  return `the clock of ${of} is some ${count} ${unit} ${ms > 0 ? 'ahead of' : 'behind'} that of this machine`
}

/** Milliseconds after which a ping counts as unanswered. Probes usually wait for one second. */
const PATIENCE = 800

/** The maximum size of the answer in bytes. */
const ANSWER_BYTES = 4096

/** These headers show in v2's log where the pings come from. */
const HEADERS = ['accept', 'application/json', 'user-agent', 'crosswalk']

interface PingParts {
  readonly probe?: Probe | undefined
  readonly clock?: Pick<ClockWatch, 'hear'>
}

/**
 * Pings the service: returns undefined, or the reason why it is not there. Only a 2xx in the probe's own form counts as the service.
 * Without a probe, every answer below 500 does.
 */
export async function ping(pool: Agent, version: Service, base: string, { probe, clock }: PingParts = {}): Promise<string | undefined> {
  const { origin, prefix } = placeOf(base)
  const path = `${prefix}${probe?.path ?? '/'}`
  const request: Exchange = { origin, path, method: 'GET', headers: HEADERS, answerBytes: ANSWER_BYTES }
  try {
    const answer = await waitFor<RawAnswer>(AbortSignal.timeout(PATIENCE), (receiver) => exchange(pool, request, receiver))
    const { date, age } = parseHeaders(answer.headers)
    if (typeof date === 'string' && age === undefined) clock?.hear(version, date)
    return complaint(version, answer, probe)
  } catch (error) {
    return `the ${version} service does not answer its ping: ${reasonOf(error as Error)}`
  }
}

/** A load balancer's page and another service's 200 are no answer. */
function complaint(version: Service, { status, pieces }: RawAnswer, probe: Probe | undefined): string | undefined {
  if (probe ? status < 200 || status > 299 : status >= 500) return `the ${version} service answers its ping with HTTP ${status}`
  if (!probe || probe.isAnswer(textOf(pieces))) return undefined
  return `what answers the ping of the ${version} service with HTTP ${status} is not that service: ${probe.expected} is expected`
}

/** Returns the connection's error. */
function reasonOf(error: Error): string {
  const cause = error.cause instanceof Error ? error.cause : error
  return cause.name === 'TimeoutError' ? `nothing came within ${PATIENCE} ms` : systemReason(cause)
}

/** Whether this process can serve, and the state of the services behind it. */
export interface Readiness {
  /** The reason why the process cannot serve; undefined if it can. */
  readonly notReady: string | undefined
  /** `ok` or the problem of each service, and of the store if there is one; what is wrong with the clocks if something is. */
  readonly services: Readonly<Record<string, string>>
}

/** How a replica stands with its store. */
export interface StoreStanding {
  /** `ok`, or a sentence that says since when it does not answer and what that means. */
  readonly store: string
  /** Why this replica cannot serve: it knows no modes. */
  readonly notReady?: string | undefined
}

/**
 * A process is ready when it or a worker listens, is not leaving, and has found v2 or v1 well since its start. Before that its settings may be wrong,
 * and a rollout must stop. Afterwards the services do not matter: they fail for every replica. A balancer without replicas refuses
 * connections. A replica still gives answers of v1, those of the fallback, or a 503 that v1 clients can read. A replica
 * of a fleet is not ready either while it does not know the modes.
 */
export function createReady(
  health: () => Promise<Health>,
  isLeaving: () => boolean,
  isServing = () => true,
  standing?: () => StoreStanding,
  clock?: Pick<ClockWatch, 'standing'>,
): () => Promise<Readiness> {
  return async () => {
    if (isLeaving()) return LEAVING
    const { pulses, proven } = await health()
    if (isLeaving()) return LEAVING
    const problems = pulses.flatMap(({ problem }) => problem ?? [])
    const { store, notReady } = standing?.() ?? {}
    const pulsed = Object.fromEntries(pulses.map(({ service, problem }) => [service, problem ?? 'ok']))
    const apart = clock?.standing()
    const services = { ...pulsed, ...(store !== undefined && { store }), ...(apart !== undefined && { clock: apart }) }
    if (!isServing()) return { notReady: 'no worker listens', services }
    return { notReady: notReady ?? (proven ? undefined : problems.join('; ')), services }
  }
}

const LEAVING: Readiness = { notReady: 'the proxy is shutting down', services: {} }
