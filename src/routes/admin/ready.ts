import type { Health } from '../../upstream/health.ts'

/** Whether this process can serve, and how the services behind it are. */
export interface Readiness {
  /** Undefined when it can, else the reason why not. */
  readonly notReady: string | undefined
  /** `ok`, or what is wrong, by service. */
  readonly services: Readonly<Record<string, string>>
}

/**
 * Ready is a process that listens, is not leaving, and has found v2 or v1 well since its start: until then its settings may be wrong, and a
 * rollout must stop. Later the services make no difference. What they fail they fail for every replica, and a balancer that has none left
 * refuses connections, where a replica gives answers of v1, those of the fallback, or a 503 that a v1 client can read.
 */
export function createReady(health: () => Promise<Health>, isLeaving: () => boolean): () => Promise<Readiness> {
  return async () => {
    if (isLeaving()) return LEAVING
    const { pulses, proven } = await health()
    if (isLeaving()) return LEAVING
    const problems = pulses.flatMap(({ problem }) => problem ?? [])
    const services = Object.fromEntries(pulses.map(({ service, problem }) => [service, problem ?? 'ok']))
    return { notReady: proven ? undefined : problems.join('; '), services }
  }
}

const LEAVING: Readiness = { notReady: 'the proxy is shutting down', services: {} }
