import { types } from 'node:util'
import { ANY, type Captured, canonical, type IsName, type SeenAnswer } from '../../migrate/compare/compare.ts'
import { isObject, type JsonObject } from '../../tables/json.ts'

/** What is thrown here: why arguments cannot be copied, or why a value has no form in JSON. */
interface Because {
  readonly because: string
}

/** Copies the arguments of a call, so that neither side sees what the other one does to them. */
export type CopyArguments = (args: readonly unknown[], signal: AbortSignal | undefined) => readonly unknown[]

/** Levels of arguments that are copied, and values in them. A proxy may show new ones without end. */
const DEPTH = 90
const MOST_COPIED = 200_000

/**
 * Copies plain objects, lists, Map, Set, Date, URL, bytes and errors. An AbortSignal becomes `signal`, so that the second side ends when
 * the comparison does. Throws a `Because` for a function and for an object of any other class: both sides would share it.
 */
export const copyArguments: CopyArguments = (args, signal) => {
  const known = new Map<object, unknown>()
  let left = MOST_COPIED
  const copy = (value: unknown, depth: number): unknown => {
    left -= 1
    if (left < 0) throw uncopied(`more than ${MOST_COPIED} values`)
    if (typeof value === 'function') throw uncopied('a function')
    if (typeof value !== 'object' || value === null) return value
    if (value instanceof AbortSignal) return signal ?? value
    if (known.has(value)) return known.get(value)
    if (depth > DEPTH) throw uncopied('a value that is nested too deeply')
    const { make, fill } = Array.isArray(value) ? LIST : copierOf(value)
    const made = make(value as never)
    known.set(value, made)
    fill?.(made as never, value as never, (inner) => copy(inner, depth + 1))
    return made
  }
  return args.map((value) => copy(value, 0))
}

/** How an object is copied: an empty one is made first, because it may contain itself. */
interface Copier {
  readonly make: (value: never) => unknown
  readonly fill?: (made: never, value: never, inner: (one: unknown) => unknown) => void
}

/** Members that a symbol names are arguments too: query builders name operators so. */
const fillMembers = (made: object, value: object, inner: (one: unknown) => unknown) => {
  for (const name of Reflect.ownKeys(value)) {
    if (!Object.prototype.propertyIsEnumerable.call(value, name)) continue
    const one = inner(Reflect.get(value, name))
    Object.defineProperty(made, name, { value: one, configurable: true, enumerable: true, writable: true })
  }
}

const LIST: Copier = {
  make: () => [],
  fill(made: unknown[], list: readonly unknown[], inner) {
    fillMembers(made, list, inner)
    // The last rows may be empty.
    made.length = list.length
  },
}
const CLONED: Copier = { make: (value: unknown) => structuredClone(value) }

/** By what an object inherits from: an object of a class that extends one of these is none of them. */
const COPIERS: ReadonlyMap<unknown, Copier> = new Map<unknown, Copier>([
  [null, { make: () => Object.create(null), fill: fillMembers }],
  [Object.prototype, { make: () => ({}), fill: fillMembers }],
  // What is cloned of an error lacks its members, such as its code.
  ...[Error, EvalError, RangeError, ReferenceError, SyntaxError, TypeError, URIError].map((one): [unknown, Copier] => [
    one.prototype,
    { ...CLONED, fill: fillMembers },
  ]),
  [Date.prototype, CLONED],
  [RegExp.prototype, CLONED],
  [URL.prototype, { make: (url: URL) => new URL(url) }],
  [URLSearchParams.prototype, { make: (query: URLSearchParams) => new URLSearchParams(query) }],
  [Buffer.prototype, { make: (bytes: Buffer) => Buffer.from(bytes) }],
  [
    Map.prototype,
    {
      make: () => new Map(),
      fill(made: Map<unknown, unknown>, map: ReadonlyMap<unknown, unknown>, inner) {
        for (const [key, one] of map) made.set(inner(key), inner(one))
      },
    },
  ],
  [
    Set.prototype,
    {
      make: () => new Set(),
      fill(made: Set<unknown>, set: ReadonlySet<unknown>, inner) {
        for (const one of set) made.add(inner(one))
      },
    },
  ],
])

function copierOf(value: object): Copier {
  const copier = COPIERS.get(Object.getPrototypeOf(value))
  if (copier) return copier
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer) return CLONED
  throw uncopied(`an object of the class ${readOr(() => value.constructor?.name ?? 'unknown', 'unknown')}`)
}

function uncopied(what: string): Because {
  return { because: what }
}

/** Returns the AbortSignals among the arguments and their members: the caller gave up the call if one of them has fired. */
export function signalsIn(args: readonly unknown[]): readonly AbortSignal[] {
  return args.flatMap((one) => [one, ...optionsIn(one)]).filter((one) => one instanceof AbortSignal)
}

/** Members of an argument that may be a signal: options are few. Bytes would have a member for each of them. */
const MOST_OPTIONS = 1000

function optionsIn(argument: unknown): readonly unknown[] {
  if (typeof argument !== 'object' || argument === null || ArrayBuffer.isView(argument)) return []
  const names = Object.keys(argument)
  return names.length > MOST_OPTIONS ? [] : names.map((name) => readOr(() => (argument as JsonObject)[name], undefined))
}

/** Levels of a value that are looked at. JSON has no cycle, so that one is found by its depth. */
const DEEPEST_SNAPSHOT = 90

/** Largest value in characters, and what tells the names of its members from data. */
export interface SnapshotLimits {
  readonly limit: number
  readonly isName: IsName
}

interface Walk extends Pick<SnapshotLimits, 'isName'> {
  /** Characters that are left. */
  left: number
}

/**
 * Copies a value as JSON, because its owner may change it later. What JSON lacks becomes an object with one member that names its type:
 * `{ Date: '2026-01-01T00:00:00.000Z' }`, `{ BigInt: '5' }`, `{ Map: [{ id: '"key"', value: 1 }] }`, `{ Set: [1, 2] }`. Members that are
 * undefined are left out, and `toJSON` is called, as `JSON.stringify` does. Returns why, if a value has no such form, and the characters
 * that the copy takes in memory.
 */
export function snapshotOf(value: unknown, { limit, isName }: SnapshotLimits): { readonly body: Captured; readonly size: number } {
  const walk: Walk = { left: limit, isName }
  try {
    const json = value === undefined ? undefined : jsonOf(value, '', 0, walk)
    return { body: { kind: 'json', value: json }, size: limit - walk.left }
  } catch (thrown) {
    if (walk.left < 0) return { body: { kind: 'too-large', limit }, size: 0 }
    return { body: { kind: 'no-value', because: whyNoValue(thrown) }, size: 0 }
  }
}

function whyNoValue(thrown: unknown): string {
  return readOr(() => {
    if (isObject(thrown) && typeof thrown.because === 'string') return thrown.because
    return `a value that cannot be read: ${String((thrown as Error)?.name)}`
  }, 'a value that cannot be read')
}

/** Reads what an object of somebody else says. A getter or a proxy may throw anything, also what throws again when it is read. */
export function readOr<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}

function noValue(what: string, at: string): Because {
  return { because: `${what}${at === '' ? '' : ` at ${at}`}, which cannot be compared; show it as JSON with the option show` }
}

function jsonOf(value: unknown, at: string, depth: number, walk: Walk): unknown {
  walk.left -= lengthOf(value)
  if (walk.left < 0 || depth > DEEPEST_SNAPSHOT) throw noValue('a value in a cycle, or one that is nested too deeply', '')
  if (value === null || value === undefined) return null
  if (typeof value === 'function' || typeof value === 'symbol') throw noValue(`a ${typeof value}`, at)
  if (typeof value === 'bigint') return { BigInt: String(value) }
  if (typeof value === 'number' && !Number.isFinite(value)) return { Number: String(value) }
  if (typeof value !== 'object') return value
  const below = (inner: unknown, name: string | number) => jsonOf(inner, `${at}/${walk.isName(String(name)) ? name : ANY}`, depth + 1, walk)
  if (Array.isArray(value)) {
    // A list may have a length and nothing else.
    if (value.length * LEAST > walk.left) {
      walk.left = -1
      throw noValue('a list that is too long', at)
    }
    return Array.from(value, below)
  }
  const typed = TYPED.find(([is]) => is(value))
  if (typed) return typed[1](value as never, below)
  if ('toJSON' in value && typeof value.toJSON === 'function') return below(value.toJSON(), 'toJSON')
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined)
  const maker: unknown = value.constructor
  if (members.length === 0 && typeof maker === 'function' && maker !== Object)
    throw noValue(`an object of the class ${maker.name} without members of its own`, at)
  for (const [name] of members) walk.left -= name.length
  return Object.fromEntries(members.map(([name, inner]) => [name, below(inner, name)]))
}

type Below = (inner: unknown, name: string | number) => unknown

/** What JSON lacks, in the order in which it is tried. The order within a Map or a Set has no meaning. */
const TYPED: readonly (readonly [is: (value: object) => boolean, write: (value: never, below: Below) => unknown])[] = [
  [types.isDate, (date: Date) => ({ Date: Number.isNaN(date.getTime()) ? 'invalid' : date.toISOString() })],
  [types.isMap, (map: Map<unknown, unknown>, below) => ({ Map: entriesOf(map, below) })],
  [types.isSet, (set: Set<unknown>, below) => ({ Set: sorted(Array.from(set, below)) })],
  [types.isRegExp, (pattern: RegExp) => ({ RegExp: String(pattern) })],
  [(value) => types.isNativeError(value) || value instanceof Error, (error: Error) => ({ Error: errorForm(error) })],
  [(value) => value instanceof AbortSignal, () => ({ AbortSignal: true })],
  [types.isAnyArrayBuffer, (bytes: ArrayBuffer, below) => below(new Uint8Array(bytes), 'bytes')],
  [
    ArrayBuffer.isView,
    (view: ArrayBufferView, below) => ({
      Bytes: below(Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString('base64'), 'bytes'),
    }),
  ],
]

function entriesOf(map: ReadonlyMap<unknown, unknown>, below: Below): readonly unknown[] {
  return sorted(Array.from(map, ([key, value]) => ({ id: canonical(below(key, 'key')), value: below(value, 'value') })))
}

function sorted(values: readonly unknown[]): readonly unknown[] {
  return values
    .map((value) => ({ value, text: canonical(value) }))
    .sort((a, b) => (a.text < b.text ? -1 : 1))
    .map(({ value }) => value)
}

/** A class that sets no name inherits the name Error. The name of the class then tells more. */
function errorName(thrown: unknown): string {
  return readOr(
    () => {
      const { name, constructor: maker } = (thrown ?? {}) as { name?: unknown; constructor?: { name?: unknown } }
      const known = name === 'Error' ? (maker?.name ?? name) : name
      return typeof known === 'string' && known !== '' ? known : typeof thrown
    },
    typeof thrown,
  )
}

/** The fewest characters of a value. */
const LEAST = 4

/** Returns the characters that a value takes without its members, at least. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value) ? value.byteLength : LEAST
}

/** Returns the name of an error and its code, which tell errors apart: `{ NotFoundError: true }`, `{ Error: { ENOENT: true } }`. */
function errorForm(thrown: unknown): Readonly<Record<string, unknown>> {
  const code = readOr(() => ((thrown ?? {}) as { code?: unknown }).code, undefined)
  return { [errorName(thrown)]: typeof code === 'string' ? { [code]: true } : typeof code === 'number' ? code : true }
}

/** What one side did, as it is compared, and the characters that it takes in memory. */
export interface SeenResult {
  readonly seen: SeenAnswer & { readonly did: string }
  readonly size: number
}

/** What a result is shown with. */
export interface ShownWith extends SnapshotLimits {
  readonly show: ((result: never) => unknown) | undefined
}

/** The statuses that stand in records for what a function did. No function answers over HTTP. */
const STATUS = { returned: 200, threw: 422, 'gave up': 499, late: 504 } as const

export function seenReturn(value: unknown, { show, ...limits }: ShownWith): SeenResult {
  let shown: unknown
  try {
    shown = show ? show(value as never) : value
  } catch {
    return seenAs('returned', 'returned', { kind: 'no-value', because: 'a result that the option show cannot show' })
  }
  const { body, size } = snapshotOf(shown, limits)
  return { ...seenAs('returned', 'returned', body), size }
}

/** Errors are the same if they have the same name and code. Their messages often quote data, and are not compared. */
export function seenThrow(thrown: unknown, { isName }: ShownWith): SeenResult {
  const form = errorForm(thrown)
  const [name = ''] = Object.keys(form)
  return seenAs('threw', isName(name) ? `threw ${name}` : 'threw', { kind: 'json', value: { threw: form } })
}

export function seenLate(ms: number): SeenResult {
  return seenAs('late', `did not answer within ${ms} ms`)
}

/** The comparison ended before the side answered. */
export function seenGone(): SeenResult {
  return seenAs('gave up', 'was given up')
}

function seenAs(status: keyof typeof STATUS, did: string, body: SeenAnswer['body'] = { kind: 'json', value: undefined }): SeenResult {
  return { seen: { status: STATUS[status], headers: {}, body, did }, size: 0 }
}
