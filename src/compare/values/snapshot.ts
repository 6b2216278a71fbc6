import { types } from 'node:util'
import { ANY, type Captured, canonical, type IsName } from '../../migrate/compare/compare.ts'
import { isObject } from '../../tables/json.ts'

/** Levels of a value that are looked at. JSON has no cycle, so that one is found by its depth. */
const DEPTH = 90

/** What `snapshotOf` throws and catches. */
interface NoValue {
  readonly because: string
}

/** A copy of a value, and the characters that it takes in memory. */
export interface Snapshot {
  readonly body: Captured
  readonly size: number
}

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
 * undefined are left out, and `toJSON` is called, as `JSON.stringify` does. Returns why, if a value has no such form.
 */
export function snapshotOf(value: unknown, { limit, isName }: SnapshotLimits): Snapshot {
  const walk: Walk = { left: limit, isName }
  try {
    const json = value === undefined ? undefined : jsonOf(value, '', 0, walk)
    return { body: { kind: 'json', value: json }, size: limit - walk.left }
  } catch (thrown) {
    if (walk.left < 0) return { body: { kind: 'too-large', limit }, size: 0 }
    const because = isNoValue(thrown) ? thrown.because : `a value that cannot be read: ${String((thrown as Error)?.name)}`
    return { body: { kind: 'no-value', because }, size: 0 }
  }
}

function isNoValue(thrown: unknown): thrown is NoValue {
  return isObject(thrown) && typeof thrown.because === 'string'
}

function noValue(what: string, at: string): NoValue {
  return { because: `${what}${at === '' ? '' : ` at ${at}`}, which cannot be compared; show it as JSON with the option show` }
}

function jsonOf(value: unknown, at: string, depth: number, walk: Walk): unknown {
  walk.left -= lengthOf(value)
  if (walk.left < 0 || depth > DEPTH) throw noValue('a value in a cycle, or one that is nested too deeply', '')
  if (value === null || value === undefined) return null
  if (typeof value === 'function' || typeof value === 'symbol') throw noValue(`a ${typeof value}`, at)
  if (typeof value === 'bigint') return { BigInt: String(value) }
  if (typeof value === 'number' && !Number.isFinite(value)) return { Number: String(value) }
  if (typeof value !== 'object') return value
  const below = (inner: unknown, name: string | number) => jsonOf(inner, `${at}/${walk.isName(String(name)) ? name : ANY}`, depth + 1, walk)
  if (Array.isArray(value)) return Array.from(value, below)
  const typed = TYPED.find(([is]) => is(value))
  if (typed) return typed[1](value as never, below)
  if (hasToJson(value)) return below(value.toJSON(), 'toJSON')
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
  [types.isSet, (set: Set<unknown>, below) => ({ Set: sorted([...set].map(below)) })],
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

function hasToJson(value: object): value is { toJSON(): unknown } {
  return typeof (value as { toJSON?: unknown }).toJSON === 'function'
}

/** A class that sets no name inherits the name Error. The name of the class then tells more. */
function errorName(thrown: unknown): string {
  const { name, constructor: maker } = (thrown ?? {}) as { name?: unknown; constructor?: { name?: unknown } }
  const known = name === 'Error' ? (maker?.name ?? name) : name
  return typeof known === 'string' && known !== '' ? known : typeof thrown
}

/** Returns the characters that a value takes without its members, at least. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 2
  return ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value) ? value.byteLength : 4
}

/** Returns the name of an error and its code, which tell errors apart: `{ NotFoundError: true }`, `{ Error: { ENOENT: true } }`. */
export function errorForm(thrown: unknown): Readonly<Record<string, unknown>> {
  const { code } = (thrown ?? {}) as { code?: unknown }
  return { [errorName(thrown)]: typeof code === 'string' ? { [code]: true } : typeof code === 'number' ? code : true }
}
