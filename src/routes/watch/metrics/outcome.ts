import { hasFailed } from '../../../serve/sides.ts'

/** How a request ended, for counting. */
export type RequestOutcome = 'ok' | 'refused' | 'cancelled' | 'failed'

export function outcomeOf(status: number): RequestOutcome {
  if (status === 499) return 'cancelled'
  if (hasFailed(status)) return 'failed'
  return status < 400 ? 'ok' : 'refused'
}
