export type Service = 'v2' | 'v1'

/** What a service behind the proxy said last. */
export interface Pulse {
  readonly service: Service
  /** One sentence without a full stop; undefined when it is well. */
  readonly problem: string | undefined
}

export interface Health {
  readonly pulses: readonly Pulse[]
  /** Whether one of the services has been well since the start. */
  readonly proven: boolean
}

/** Milliseconds for which an answer is good: however many ask, each service gets one ping in that time. */
const GOOD_MS = 1000

/** Resolves with undefined, or with what is wrong. */
export type Ping = (service: Service, base: string) => Promise<string | undefined>

/** Asks every service that has a base address how it is; `now` is in milliseconds and never goes back. */
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
