import type { ClientRequest } from '../../serve/request.ts'
import { hasFailed, type Served } from '../../serve/sides.ts'
import type { Journal } from '../journal.ts'
import type { Accepted } from './accepted.ts'

/** Statuses that say nothing about v2: v1 might have limited this caller too (429), or the client left (499). */
const UNKNOWN: ReadonlySet<number> = new Set([429, 499])

/**
 * Tells the circuit how v2 answered the client, whether the answer is compared or not. A comparison may be dropped, and it cannot judge a
 * failed write. Returns what was served.
 */
export function createTell(accepted: Accepted, journal: Pick<Journal, 'answered'>): (request: ClientRequest, served: Served) => Served {
  return ({ operation, credential }, served) => {
    const { status } = served.failed ?? served.answer
    const counts = !served.unasked && !UNKNOWN.has(status) && accepted.has(credential)
    if (counts) journal.answered(operation.id, hasFailed(status))
    return served
  }
}
