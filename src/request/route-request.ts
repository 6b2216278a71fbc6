import type { IncomingMessage } from 'node:http'
import { invalidArgument } from '../errors/api-error.ts'
import type { Match, Router } from './router.ts'

/** Where a v1 request leads; `form`: its body is a form that stands for more query parameters. */
export interface Routed {
  readonly match: Match
  readonly form: boolean
}

/** A request that leads to an operation. */
export interface Found extends Routed {
  readonly match: Exclude<Match, string | undefined>
}

export function isFound(routed: Routed): routed is Found {
  return typeof routed.match === 'object'
}

/** The type of a form's body, as v1's gateway compares it. */
export const FORM = 'application/x-www-form-urlencoded'

/**
 * Routes a request as v1's gateway did: a POST with a form is also a way to write a GET, when its header says so or when the path has no POST
 * of its own; v1 scripts rely on that (semantics §4.3). The gateway heeds the header beside the bare name of a form's type and nowhere else:
 * to take another POST for a read would be to ask v1 for it twice, and v1 would write twice. Other methods by that header are refused.
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
