import { ok, type Route } from '../http/route.ts'

/** The connectivity check (specification §4 rule 8). It needs no token. */
export const pingRoutes: readonly Route[] = [
  { method: 'GET', template: '/ping/v2/ping', auth: 'none', handle: () => ok({ response: 'pong' }) },
]
