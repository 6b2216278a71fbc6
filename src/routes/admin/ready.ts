import type { Health } from '../../upstream/health.ts'

/** Whether this process can serve, and the state of the services behind it. */
export interface Readiness {
  /** The reason why the process cannot serve; undefined if it can. */
  readonly notReady: string | undefined
  /** `ok` or the problem of each service, and of the store if there is one. */
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
): () => Promise<Readiness> {
  return async () => {
    if (isLeaving()) return LEAVING
    const { pulses, proven } = await health()
    if (isLeaving()) return LEAVING
    const problems = pulses.flatMap(({ problem }) => problem ?? [])
    const { store, notReady } = standing?.() ?? {}
    const pulsed = Object.fromEntries(pulses.map(({ service, problem }) => [service, problem ?? 'ok']))
    const services = { ...pulsed, ...(store !== undefined && { store }) }
    if (!isServing()) return { notReady: 'no worker listens', services }
    return { notReady: notReady ?? (proven ? undefined : problems.join('; ')), services }
  }
}

const LEAVING: Readiness = { notReady: 'the proxy is shutting down', services: {} }
