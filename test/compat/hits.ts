import type { Router } from '../../src/request/router.ts'
import { decoded } from './normalise.ts'
import type { Request } from './target.ts'

/**
 * Returns the operations that requests led to. A form posted to a path with only a GET counts as that GET (facts §12.5, semantics §4.3).
 */
export function operationsHit(router: Router, requests: readonly Request[]): ReadonlySet<string> {
  return new Set(
    requests.flatMap(({ method, path, headers }) => {
      const plain = decoded(path.split('?')[0] ?? '')
      const match = router.match(headers?.['x-http-method-override'] ?? method, plain)
      const found = match === 'other-method' && method === 'POST' ? router.match('GET', plain) : match
      return typeof found === 'object' ? [found.operation.id] : []
    }),
  )
}
