import type { Router } from '../../src/serve/route.ts'
import type { Operation } from '../../src/tables/operation.ts'
import { decoded } from './normalise.ts'
import type { Request } from './target.ts'

/** Returns the operation of a method and a path. */
export function operationOf(router: Router, { method, path, headers }: Request): Operation | undefined {
  const match = router.match(headers?.['x-http-method-override'] ?? method, plainPath(path))
  return typeof match === 'object' ? match.operation : undefined
}

/**
 * Returns the operations that requests led to. A form posted to a path with only a GET counts as that GET (facts §12.5, semantics §4.3).
 */
export function operationsHit(router: Router, requests: readonly Request[]): ReadonlySet<string> {
  return new Set(
    requests.flatMap((request) => {
      const { method, path, headers } = request
      const isForm = method === 'POST' && router.match(headers?.['x-http-method-override'] ?? method, plainPath(path)) === 'other-method'
      const found = operationOf(router, isForm ? { method: 'GET', path } : request)
      return found ? [found.id] : []
    }),
  )
}

function plainPath(path: string): string {
  return decoded(path.split('?')[0] ?? '')
}
