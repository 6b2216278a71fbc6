import type { Operation } from '../../tables/operation.ts'
import { routeOf } from '../http-rule.ts'

/** The route of a v2 call as a table writes it: `GET /iam/v2/roles/{id}` → `GET /iam/v2/roles/{}`. */
export function callRoute(call: string): string {
  const [method, template = ''] = call.split(' ')
  return routeOf({ method: method as Operation['method'], template })
}
