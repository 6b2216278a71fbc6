/** 501 says what v1 never had or what only v1 has: nothing failed. */
export function hasFailed(status: number): boolean {
  return status >= 500 && status !== 501
}

/** How a request ended, for counting. */
export function outcomeOf(status: number): 'ok' | 'refused' | 'cancelled' | 'failed' {
  if (status === 499) return 'cancelled'
  if (hasFailed(status)) return 'failed'
  return status < 400 ? 'ok' : 'refused'
}
