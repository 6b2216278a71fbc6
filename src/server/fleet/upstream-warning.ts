import type { Logger } from 'pino'
import { type Fleet, upstreamProblems } from '../../fleet/fleet.ts'

/** Returns a function that warns when live replicas reach other services, once for each replica. Call it often. */
export function createUpstreamWarning(fleet: Pick<Fleet, 'replicas'>, log: Pick<Logger, 'warn'>): () => void {
  let told: readonly string[] = []
  return () => {
    const problems = upstreamProblems(fleet.replicas())
    for (const problem of problems) if (!told.includes(problem)) log.warn(problem)
    told = problems
  }
}
