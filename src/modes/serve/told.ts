import type { Journal } from '../journal.ts'
import type { Accepted } from './accepted.ts'
import { type Backend, hasFailed } from './backend.ts'

/** Statuses that say nothing about v2: v1 might have limited this caller too (429), or the client left (499). */
const UNKNOWN: ReadonlySet<number> = new Set([429, 499])

/**
 * Serves from v2 and tells the circuit how v2 answered the client, whether the answer is compared or not. A comparison may be dropped, and
 * it cannot judge a failed write.
 */
export function told(v2: Backend, accepted: Accepted, journal: Pick<Journal, 'answered'>): Backend {
  return async (request) => {
    const served = await v2(request)
    const { status } = served.failed ?? served.answer
    const counts = !served.unasked && !UNKNOWN.has(status) && accepted.has(request.credential)
    if (counts) journal.answered(request.operation.id, hasFailed(status))
    return served
  }
}
