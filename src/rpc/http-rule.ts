import type { Method } from '../tables/operation.ts'
import type { HttpFact } from './facts.ts'

/** The REST request that says the same as a gRPC call. */
export interface HttpRule {
  readonly method: Method
  /** The path with variables: `{id=**}` spans slashes, `{id}` does not. A variable may name a field of a field: `{subscription.id=**}`. */
  readonly template: string
  /** The field that is the body, or `*` for all fields that the path does not take. The others are the query. */
  readonly body: string | undefined
}

const METHODS = { get: 'GET', post: 'POST', put: 'PUT', patch: 'PATCH', delete: 'DELETE' } as const

/** Returns the rule that the facts of a method state; undefined if they state none. */
export function ruleOf(http: HttpFact | undefined): HttpRule | undefined {
  for (const [verb, method] of Object.entries(METHODS)) {
    const template = http?.[verb as keyof typeof METHODS]
    if (template !== undefined) return { method, template, body: http?.body }
  }
  return undefined
}

/**
 * Returns the route without the names of its variables: `GET /iam/v1/roles/{}`. The tables write `{id=**}` for `{id=*}`, and name the
 * variable of an update alone (`{id=**}` for `{subscription.id=**}`).
 */
export function routeOf({ method, template }: Pick<HttpRule, 'method' | 'template'>): string {
  return `${method} ${template.replace(/\{[^{}]+\}/g, '{}')}`
}
