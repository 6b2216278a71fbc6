export type Service = 'v2' | 'v1'

/** The last known state of a service behind the proxy. */
export interface Pulse {
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
