import type { Health } from '../../upstream/health.ts'

/** Whether this process can serve, and the state of the services behind it. */
export interface Readiness {
  /** The reason why the process cannot serve; undefined if it can. */
  readonly notReady: string | undefined
  /** `ok` or the problem of each service. */
  readonly services: Readonly<Record<string, string>>
}

/**
 * A process is ready when it listens, is not leaving, and has found v2 or v1 well since its start. Before that its settings may be wrong,
 * and a rollout must stop. Afterwards the services do not matter: they fail for every replica. A balancer without replicas refuses
 * connections. A replica still gives answers of v1, those of the fallback, or a 503 that v1 clients can read.
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
