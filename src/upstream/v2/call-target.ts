import type { Call } from '../../tables/plan/plan.ts'

/** Path and query of a call. */
export function targetOf(call: Call): string {
  return call.query.length === 0 ? call.path : `${call.path}?${queryText(call)}`
}

/** A Call's query, percent-encoded; a space is `%20`, as v2 documents it (specification §4 rule 2). */
export function queryText(call: Pick<Call, 'query'>): string {
  return call.query.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join('&')
}
