import { isObject, type JsonObject } from '../../tables/json.ts'
import { variablesOf } from '../../tables/language/path.ts'
import type { Operation, V1Request } from '../../tables/operations/operation.ts'

/** How to read a resource that was just written. */
export interface Reading {
  readonly operation: Operation
  readonly request: V1Request
  /** The same as a v1 path and query. */
  readonly url: string
}

/** Returns the read that shows the effect of a write; undefined for actions that leave no resource. `body` is the write's answer. */
export type ReadingOf = (write: Operation, request: V1Request, body: unknown) => Reading | undefined

/** The parameters by which v1's lists select one resource (facts §11). */
const KEYS = ['id', 'group']

export function createReadingOf(operations: readonly Operation[]): ReadingOf {
  const known = new Map(operations.map((operation) => [operation.id, operation]))
  return (write, { params }, body) => {
    const resource = write.id.slice(0, write.id.lastIndexOf('.'))
    const list = known.get(`${resource}.list`)
    const key = KEYS.find((name) => list?.ownParams.includes(name))
    if (list?.begin && key) return byKey(list, key, keyOf(write, key, params, body))
    const get = known.get(`${resource}.get`) ?? list
    const [variable] = get?.begin ? variablesOf(get.template) : []
    if (!get || variable === undefined) return undefined
    return byPath(get, variable, keyOf(write, variable, params, body))
  }
}

/** Returns the uid of the written resource: from the path, or from the answer to a create. */
function keyOf({ method, template }: Operation, key: string, params: V1Request['params'], body: unknown): string | undefined {
  const given = params[key] ?? params.id
  if (given !== undefined) return given
  const [variable = ''] = variablesOf(template)
  if (method !== 'POST' || template.includes(':')) return params[variable]
  return idIn(body) ?? idIn(firstRow(body))
}

function idIn(body: unknown): string | undefined {
  return isObject(body) && typeof body.id === 'string' ? body.id : undefined
}

/** Returns the first row that a batch made. */
function firstRow(body: unknown): unknown {
  const rows = isObject(body) ? Object.values(body as JsonObject).find(Array.isArray) : undefined
  return rows?.[0]
}

function byKey(operation: Operation, key: string, value: string | undefined): Reading | undefined {
  if (!value) return undefined
  const request = { params: {}, query: new Map([[key, [value]]]), body: undefined }
  return { operation, request, url: `${operation.template}?${key}=${encodeURIComponent(value)}` }
}

function byPath(operation: Operation, variable: string, value: string | undefined): Reading | undefined {
  if (!value) return undefined
  const url = operation.template.replace(/\{[^{}]+\}/, value.split('/').map(encodeURIComponent).join('/'))
  return { operation, request: { params: { [variable]: value }, query: new Map(), body: undefined }, url }
}
