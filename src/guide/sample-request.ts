import { requestMarker } from '../explain/marker.ts'
import type { RequestKind } from '../migrate/clients.ts'
import type { Operation, V1Request } from '../tables/operation.ts'
import { variablesOf } from '../tables/uid.ts'
import { sampleBody } from './sample-body.ts'

/** Returns the plainest request of an operation: its path variables, no parameter, and every member that a client can send. */
export function plainRequest(operation: Operation): V1Request {
  return sampleRequest(operation, { path: variablesOf(operation.template).map((name) => [name]), query: [] })
}

/** Returns a request of this kind. Words in angle brackets take the place of values that were not kept. */
export function sampleRequest({ request }: Operation, { path, query, members }: Omit<RequestKind, 'shape' | 'unknown'>): V1Request {
  const given = new Map<string, string[]>()
  for (const [name, value = requestMarker(name)] of query) given.set(name, [...(given.get(name) ?? []), value])
  return {
    params: Object.fromEntries(path.map(([name, value = requestMarker(name)]) => [name, value])),
    query: given,
    body: request && sampleBody(request.fields, members),
  }
}

/** Returns other forms of a request, for operations that refuse the plain one: a uid with a parent, or a body that is a bare list (facts §3.5). */
export function otherForms(operation: Operation, asked: V1Request): readonly V1Request[] {
  const bare = asBareList(operation, asked)
  const children = Object.entries(asked.params).map(([name, value]) => [
    name,
    value === requestMarker(name) ? `${requestMarker('parent')}/${value}` : value,
  ])
  return [...(bare ? [bare] : []), { ...asked, params: Object.fromEntries(children) }]
}

/** Returns the same request with its body as a bare list, for the operations whose body v1 reads so (facts §3.5). */
function asBareList({ request }: Operation, asked: V1Request): V1Request | undefined {
  const [only, ...others] = Object.keys(request?.fields ?? {})
  const list = (asked.body as Readonly<Record<string, unknown>> | undefined)?.[only ?? '']
  return others.length === 0 && Array.isArray(list) ? { ...asked, body: list } : undefined
}
