import { anonymousPath } from '../diff/anonymous-path.ts'
import type { ApiError } from '../errors/api-error.ts'
import { asApiError } from '../errors/to-v1.ts'
import type { Mapping, Operation, V1Request } from '../mapping/operation.ts'
import { createClassify } from '../routes/classify.ts'
import { parseJson } from '../routes/json-text.ts'
import { parseQuery, searchOf } from '../routes/query.ts'
import { createRouter } from '../translate/router.ts'
import type { Sent } from './traffic.ts'

/** Where a request leads. */
export type Place =
  | { readonly kind: 'operation'; readonly operation: Operation; readonly request: V1Request }
  /** An operation, but its query or body cannot be read: v1 answers 400. */
  | { readonly kind: 'refused'; readonly operation: Operation; readonly error: ApiError }
  /** A v1 path that v1 does not know, or not with this method. */
  | { readonly kind: 'unknown'; readonly path: string; readonly why: 'no operation' | 'another method' | 'malformed' }
  /** Not v1 at all: passed on to v2 as it is. */
  | { readonly kind: 'native' }

/** Routes as the proxy does. */
export function createPlaces(mappings: readonly Mapping[]): (sent: Sent) => Place {
  const classify = createClassify(mappings)
  const router = createRouter(mappings.flatMap(({ operations }) => operations))
  return (sent) => {
    const target = classify(sent.url)
    if (target.kind === 'native') return { kind: 'native' }
    if (target.kind === 'refused') return { kind: 'unknown', path: '(not decodable)', why: 'malformed' }
    const match = router.match(sent.method, target.path)
    if (match === undefined) return { kind: 'unknown', path: anonymousPath(target.path), why: 'no operation' }
    if (match === 'other-method') return { kind: 'unknown', path: anonymousPath(target.path), why: 'another method' }
    return read(match.operation, match.params, sent)
  }
}

function read(operation: Operation, params: V1Request['params'], { url, body }: Sent): Place {
  try {
    const request = { params, query: parseQuery(searchOf(url)), body: body === undefined ? undefined : parseJson(body) }
    return { kind: 'operation', operation, request }
  } catch (thrown) {
    return { kind: 'refused', operation, error: asApiError(thrown) }
  }
}
