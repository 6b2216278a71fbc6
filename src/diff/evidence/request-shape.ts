import { LRUCache } from 'lru-cache'
import { member } from '../../tables/compile.ts'
import { isObject } from '../../tables/json.ts'
import type { Operation, V1Request } from '../../tables/operation.ts'
import { spellings } from '../../tables/query.ts'
import { instant } from '../compare/instant.ts'

/**
 * Returns the shape of a request: its operation, and each parameter's name with the class of its value, but no value.
 * The tables handle all requests of one shape alike, so thousands of them prove no more than one.
 * `registry.tags.list?exclude_dates=flag&uidp.children_of=child`
 */
export function shapeOf(operation: Operation, request: V1Request): string {
  const parts = [...pathParts(request), ...queryParts(operation, request), ...bodyParts(operation, request)].sort()
  return parts.length === 0 ? operation.id : `${operation.id}?${parts.join('&')}`
}

/** The reads whose shapes are kept, and the longest URL of one. */
const KEPT = 1000
const LONGEST = 500

/** A read as it was received. */
interface ReceivedRead {
  readonly url: string
  readonly body?: Buffer | undefined
}

/**
 * Returns `shapeOf` for reads that clients repeat: the shape is kept by the URL, because it costs as much as what asks for it. A request is
 * only read if its shape is not known. Throws what `read` throws.
 */
export function createReadShapes(): (operation: Operation, read: () => V1Request, received: ReceivedRead) => string {
  const shapes = new LRUCache<string, string>({ max: KEPT })
  return (operation, read, { url, body }) => {
    if (body !== undefined || url.length > LONGEST) return shapeOf(operation, read())
    const key = `${operation.id} ${url}`
    const known = shapes.get(key)
    if (known !== undefined) return known
    const shape = shapeOf(operation, read())
    shapes.set(key, shape)
    return shape
  }
}

function pathParts({ params }: V1Request): readonly string[] {
  return Object.entries(params).map(([name, value]) => `{${name}}=${classOf(value)}`)
}

/** Treats both spellings as one parameter. Names that no table has may hold secrets, so they are only counted. */
function queryParts(operation: Operation, { query }: V1Request): readonly string[] {
  const names = namesOf(operation)
  const classes = new Map<string, string>()
  let unknown = 0
  for (const [spelling, values] of query) {
    const name = names.get(spelling)
    if (name === undefined) unknown += 1
    else if (values.length > 0) classes.set(name, values.length > 1 || classes.has(name) ? 'several' : classOf(values[0] ?? ''))
  }
  if (unknown > 0) classes.set('(unknown)', String(unknown))
  return Array.from(classes, ([name, its]) => `${name}=${its}`)
}

/** The parameters of an operation in every spelling. They are cached, because tables do not change and every comparison reads them. */
const known = new WeakMap<Operation, ReadonlyMap<string, string>>()

function namesOf(operation: Operation): ReadonlyMap<string, string> {
  const found = known.get(operation)
  if (found) return found
  const names = [...Object.keys(operation.params), ...operation.ownParams]
  const made = new Map(names.flatMap((name) => spellings(name).map((spelling) => [spelling, name] as const)))
  known.set(operation, made)
  return made
}

function bodyParts({ request }: Operation, { body }: V1Request): readonly string[] {
  if (Array.isArray(body)) return ['(body)=list']
  if (!request || !isObject(body)) return []
  return Object.entries(request.fields).flatMap(([name, field]) => {
    const value = member(body, name, field)
    return value === undefined ? [] : [`.${name}=${bodyClass(value)}`]
  })
}

function bodyClass(value: unknown): string {
  if (typeof value === 'string') return classOf(value)
  if (value === null) return 'null'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : 'list'
  return typeof value
}

/** Classes of text that the API treats differently, tried in this order (facts §12, §16, §17). */
const CLASSES: readonly (readonly [name: string, test: (text: string) => boolean])[] = [
  ['empty', (text) => text === ''],
  ['flag', (text) => /^(?:t|f|true|false)$/i.test(text)],
  ['zero', (text) => /^[+-]?0+$/.test(text)],
  ['negative', (text) => /^-\d+$/.test(text)],
  // v2 serves at most 200 rows in a page (specification §8): one page and several pages are handled differently.
  ['small', (text) => /^\+?\d{1,9}$/.test(text) && Number(text) <= 200],
  ['large', (text) => /^\+?\d{1,19}$/.test(text)],
  ['root', (text) => /^[0-9a-f]{40}$/.test(text)],
  ['child', (text) => /^[0-9a-f]{40}\/[0-9a-f]{16}$/.test(text)],
  ['deep', (text) => /^[0-9a-f]{40}(?:\/[0-9a-f]{16})+$/.test(text)],
  ['digest', (text) => /^sha256:[0-9a-f]{64}$/.test(text)],
  ['time', (text) => instant(text) !== undefined],
  ['descending', (text) => /\sdesc$/i.test(text)],
]

export function classOf(text: string): string {
  return CLASSES.find(([, test]) => test(text))?.[0] ?? 'text'
}
