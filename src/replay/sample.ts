import type { Operation, V1Request } from '../tables/operation.ts'
import { asParam } from '../tables/query.ts'
import { variablesOf } from '../tables/uid.ts'

const ROOT = '0'.repeat(40)
const CHILD = `${ROOT}/${'0'.repeat(16)}`

/** One value of each class that `shapeOf` distinguishes. */
const VALUES: Readonly<Record<string, string>> = {
  empty: '',
  flag: 'true',
  zero: '0',
  negative: '-1',
  small: '50',
  large: '1000',
  root: ROOT,
  child: CHILD,
  deep: `${CHILD}/${'0'.repeat(16)}`,
  digest: `sha256:${'0'.repeat(64)}`,
  time: '2026-01-01T00:00:00Z',
  descending: 'name desc',
}

const BODY_VALUES: Readonly<Record<string, unknown>> = { ...VALUES, boolean: true, number: 1, null: null, none: [], list: [], object: {} }

/** Builds a request of this shape. Its way through the tables is that of the recorded request. */
export function sampleOf(operation: Operation, shape = operation.id): V1Request {
  const parts = shape
    .slice(operation.id.length + 1)
    .split('&')
    .filter((part) => part !== '')
  const named = parts.map((part) => [part.slice(0, part.lastIndexOf('=')), part.slice(part.lastIndexOf('=') + 1)] as const)
  const given = named.filter(([name]) => !/^[{.(]/.test(name))
  const members = named.filter(([name]) => name.startsWith('.'))
  const params = Object.fromEntries(variablesOf(operation.template).map((name) => [name, VALUES[classIn(named, `{${name}}`)] ?? CHILD]))
  return {
    params,
    query: new Map(given.map(([name, of]) => [name, valuesOf(operation, name, of)])),
    body: operation.request ? Object.fromEntries(members.map(([name, of]) => [name.slice(1), BODY_VALUES[of] ?? 'text'])) : undefined,
  }
}

function classIn(named: readonly (readonly [string, string])[], wanted: string): string {
  return named.find(([name]) => name === wanted)?.[1] ?? 'child'
}

function valuesOf(operation: Operation, name: string, of: string): readonly string[] {
  const row = operation.params[name]
  const choice = row === undefined ? undefined : asParam(row).of?.rows[0]?.[0]
  const value = VALUES[of] ?? (typeof choice === 'string' ? choice : CHILD)
  return of === 'several' ? [value, value] : [value]
}
