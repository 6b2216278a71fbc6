import { type ApiError, asApiError } from '../errors.ts'
import { anonymousPath } from '../migrate/compare/redact.ts'
import { createClassify } from '../serve/classify.ts'
import { createRequest, takesBody } from '../serve/request.ts'
import { createRouter, type Found, isFound, routeRequest } from '../serve/route.ts'
import { createOnlyV1, type Mapping, type Operation, type V1Request } from '../tables/operation.ts'
import type { RecordedRequest } from './traffic/recorded-traffic.ts'

/** The destination of a request. */
export type RecordedRoute =
  /** An operation that only v1 knows has no plan. `form`: a POST that stands for a GET. */
  | { readonly kind: 'operation'; readonly operation: Operation; readonly request: V1Request; readonly form: boolean }
  /** An operation whose query or body cannot be read: v1 answers 400. */
  | { readonly kind: 'refused'; readonly operation: Operation; readonly error: ApiError }
  /** A v1 path that v1 does not have, or not with this method. `error` says why neither side is asked. */
  | {
      readonly kind: 'unknown'
      readonly path: string
      readonly why: 'no operation' | 'another method' | 'malformed'
      readonly error?: ApiError
    }
  /** Not a v1 path: passed on to v2 unchanged. */
  | { readonly kind: 'native' }

/** Routes requests with the proxy's own functions. */
export function createRouteRecorded(mappings: readonly Mapping[]): (sent: RecordedRequest) => RecordedRoute {
  const operations = mappings.flatMap((mapping) => mapping.operations)
  const classify = createClassify(mappings)
  const router = createRouter(operations)
  const onlyV1 = createOnlyV1(operations)
  return (sent) => {
    const target = classify(sent.url)
    if (target.kind === 'native') return { kind: 'native' }
    if (target.kind === 'refused') return { kind: 'unknown', path: '(not decodable)', why: 'malformed', error: target.error }
    const path = anonymousPath(target.path)
    try {
      const routed = routeRequest(router, sent, target.path)
      if (isFound(routed)) return read(routed, sent)
      return { kind: 'unknown', path, why: routed.match === undefined ? 'no operation' : 'another method' }
    } catch (thrown) {
      return { kind: 'unknown', path, why: 'another method', error: asApiError(thrown) }
    }
  }

  function read(routed: Found, { method, url, headers, body }: RecordedRequest): RecordedRoute {
    const text = takesBody(routed) ? body : undefined
    const raw = { id: '', method, url, headers, body: text === undefined ? undefined : Buffer.from(text) }
    const { operation, read } = createRequest(routed, raw)
    try {
      const request = read()
      return { kind: 'operation', operation: onlyV1(operation, () => request.query) ?? operation, request, form: routed.form }
    } catch (thrown) {
      return { kind: 'refused', operation, error: asApiError(thrown) }
    }
  }
}
