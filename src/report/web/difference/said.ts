import type { Difference, ExampleReport } from '../../difference.ts'

/** Describes in one sentence what differs. */
export function said(kind: Difference['kind'], example: ExampleReport): string {
  const { v1Side, v2Side, around, differsAt } = example
  if (kind === 'status' || (kind === 'error' && v1Side)) return `v1 answered HTTP ${v1Side?.status ?? '?'}, v2 HTTP ${v2Side.status}.`
  if (kind === 'order') return saidOrder(example)
  if (around?.rows && (kind === 'missing' || kind === 'extra')) return saidRow(kind, around.rows)
  if (!Object.hasOwn(example, 'v1') && !Object.hasOwn(example, 'v2')) return ''
  const begin = differsAt === undefined ? '' : ` They begin to differ at character ${(differsAt + 1).toLocaleString('en-US')}.`
  return `v1 ${sayValue(example, 'v1')}, v2 ${sayValue(example, 'v2')}.${begin}`
}

type Rows = NonNullable<NonNullable<ExampleReport['around']>['rows']>

function saidOrder({ v1, around }: ExampleReport): string {
  const [left, right] = [around?.rows?.v1?.at, around?.rows?.v2?.at]
  const row = String(v1).startsWith('#') ? 'A row' : `Row ${String(v1)}`
  return left === undefined || right === undefined ? '' : `${row} is number ${left + 1} in v1 and number ${right + 1} in v2.`
}

function saidRow(kind: 'missing' | 'extra', { v1, v2 }: Rows): string {
  const [own, other, has, lacks] = kind === 'missing' ? ([v1, v2, 'v1', 'v2'] as const) : ([v2, v1, 'v2', 'v1'] as const)
  if (!own || !other) return ''
  return `${has} has ${own.of} rows, and number ${(own.at ?? 0) + 1} is not among the ${other.of} of ${lacks}.`
}

function sayValue(example: ExampleReport, side: 'v1' | 'v2'): string {
  if (!Object.hasOwn(example, side)) return 'leaves it out'
  const value = example[side]
  if (value === '') return 'has an empty text'
  if (Array.isArray(value)) return value.length === 0 ? 'has an empty list' : 'has a list'
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0 ? 'has an empty object' : 'has an object'
  const text = JSON.stringify(value)
  return text.length > LONG ? 'has a long text' : `has ${typeof value === 'number' ? 'the number ' : ''}${text}`
}

/** Longer texts are only shown in the JSON. */
const LONG = 60

const MASKED = /\btext-\d+-[0-9a-f]{8}\b/

/** True if the example holds texts as length and hash. */
export function isMasked({ request, v1, v2, around }: ExampleReport): boolean {
  return MASKED.test(JSON.stringify([request, v1, v2, around]))
}
