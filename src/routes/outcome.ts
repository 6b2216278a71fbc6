/** 501 says what v1 never had or what only v1 has: nothing failed. */
export function hasFailed(status: number): boolean {
  return status >= 500 && status !== 501
}

/** How a request ended, for counting. */
export type Outcome = 'ok' | 'refused' | 'cancelled' | 'failed'

export function outcomeOf(status: number): Outcome {
  if (status === 499) return 'cancelled'
  if (hasFailed(status)) return 'failed'
  return status < 400 ? 'ok' : 'refused'
}
