import type { IncomingMessage } from 'node:http'
import { invalidArgument } from '../errors.ts'
import type { Match, Router } from './router.ts'

/** The route of a v1 request. `form`: its body is a form with more query parameters. */
export interface Routed {
  readonly match: Match
  readonly form: boolean
}

/** The route of a request that leads to an operation. */
export interface Found extends Routed {
  readonly match: Exclude<Match, string | undefined>
}

export function isFound(routed: Routed): routed is Found {
  return typeof routed.match === 'object'
}

/** The media type of a form, as v1's gateway compares it. */
export const FORM = 'application/x-www-form-urlencoded'

/**
 * Routes a request as v1's gateway did; v1 scripts rely on it (semantics §4.3). A POST with a form becomes a GET in two cases: its
 * override header says so, or its path has no POST. The gateway heeds the header only beside the bare media type of a form. If another
 * POST became a read, v1 could be asked twice and would write twice. Overrides to other methods are refused.
 */
export function routeRequest(router: Router, { method = '', headers }: Pick<IncomingMessage, 'method' | 'headers'>, path: string): Routed {
  const match = router.match(method, path)
  if (method !== 'POST') return { match, form: false }
  const { 'content-type': type = '', 'x-http-method-override': override } = headers
  const isOverridden = type === FORM && override !== undefined && override !== ''
  if (isOverridden && String(override).toUpperCase() !== 'GET') {
    throw invalidArgument({ field: 'x-http-method-override', description: 'can only be GET' })
  }
  const form = type.split(';')[0]?.trim().toLowerCase() === FORM
  if (!isOverridden && (!form || typeof match === 'object')) return { match, form: false }
  const get = router.match('GET', path)
  return isOverridden || typeof get === 'object' ? { match: get, form: true } : { match, form: false }
}
