import type { IncomingMessage } from 'node:http'
import type { Match, Router } from '../translate/router.ts'

/** Where a v1 request leads; `form`: its body is a form that stands for more query parameters. */
export interface Routed {
  readonly match: Match
  readonly form: boolean
}

/**
 * Routes a request as v1's gateway did: a POST is also a way to write a GET, when its header says so or when it carries a form and the
 * path has no POST of its own; v1 scripts rely on that (semantics §4.3).
 */
export function routeRequest(router: Router, { method = '', headers }: IncomingMessage, path: string): Routed {
  const match = router.match(method, path)
  if (method !== 'POST') return { match, form: false }
  const form = headers['content-type']?.split(';')[0]?.trim().toLowerCase() === 'application/x-www-form-urlencoded'
  const override = headers['x-http-method-override']
  const asked = typeof override === 'string' && override.toUpperCase() === 'GET'
  if (!asked && (!form || typeof match === 'object')) return { match, form: false }
  const get = router.match('GET', path)
  return typeof get === 'object' ? { match: get, form } : { match, form: false }
}
