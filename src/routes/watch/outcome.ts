import { hasFailed } from '../../modes/serve/backend.ts'

/** How a request ended, for counting. */
export type Outcome = 'ok' | 'refused' | 'cancelled' | 'failed'

export function outcomeOf(status: number): Outcome {
  if (status === 499) return 'cancelled'
  if (hasFailed(status)) return 'failed'
  return status < 400 ? 'ok' : 'refused'
}
