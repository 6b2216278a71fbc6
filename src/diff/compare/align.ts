import { isObject } from '../../tables/json.ts'
import { checkDepth } from './json-path.ts'

/** Two rows that belong together, by index. A row without a partner has undefined on the other side. */
export interface Pair {
  readonly v1: number | undefined
  readonly v2: number | undefined
  /** Identifies the pair: the row's id, or its position if it has no id. */
  readonly id: string
}

export interface Alignment {
  readonly pairs: readonly Pair[]
  /** Ids of the first common rows whose order differs; undefined if the order agrees. */
  readonly order: { readonly v1: string; readonly v2: string } | undefined
}

type Rows = readonly unknown[]

/**
 * Pairs the rows of two lists. It pairs them by id if `key` names a member that every row has.
 * Otherwise it pairs equal rows, and then the remaining rows in their order. Repeated rows are paired one by one, so that a duplicate
 * shows.
 */
export function align(v1: Rows, v2: Rows, key: string | undefined): Alignment {
  const id = keyed(v1, v2, key)
  return inStep(v1, v2, id) ?? alignLabels(v1, v2, id)
}

type Id = (row: unknown) => string

const whole: Id = (row) => canonical(row)

/** A fast path for the usual case: the same rows in the same order. Rows without ids must be equal plain values. */
function inStep(v1: Rows, v2: Rows, id: Id | undefined): Alignment | undefined {
  if (v1.length !== v2.length) return undefined
  const pairs: Pair[] = []
  for (let at = 0; at < v1.length; at++) {
    const name = id?.(v1[at])
    if (id ? name !== id(v2[at]) : v1[at] !== v2[at]) return undefined
    pairs.push({ v1: at, v2: at, id: name ?? `#${at}` })
  }
  return { pairs, order: undefined }
}

function alignLabels(v1: Rows, v2: Rows, id: Id | undefined): Alignment {
  const left = labels(v1, id ?? whole)
  const right = labels(v2, id ?? whole)
  const at = new Map(right.map((label, index) => [label, index]))
  const common = left.filter((label) => at.has(label))
  const known = new Set(common)
  const order = firstMoved(
    common,
    right.filter((label) => known.has(label)),
  )
  const paired = left.flatMap((label, index) => (known.has(label) ? [{ v1: index, v2: at.get(label), id: id ? label : `#${index}` }] : []))
  const rest = leftOver(
    left.flatMap((label, index) => (known.has(label) ? [] : [index])),
    right.flatMap((label, index) => (known.has(label) ? [] : [index])),
    id && { left, right },
  )
  return {
    pairs: [...paired, ...rest],
    order: order && (id ? order : { v1: `#${left.indexOf(order.v1)}`, v2: `#${left.indexOf(order.v2)}` }),
  }
}

/** Leaves rows with ids without a partner. Rows without ids count as changed and are paired in their order. */
function leftOver(
  v1: readonly number[],
  v2: readonly number[],
  ids: { left: readonly string[]; right: readonly string[] } | undefined,
): Pair[] {
  if (ids) {
    return [
      ...v1.map((index) => ({ v1: index, v2: undefined, id: ids.left[index] ?? '' })),
      ...v2.map((index) => ({ v1: undefined, v2: index, id: ids.right[index] ?? '' })),
    ]
  }
  return Array.from({ length: Math.max(v1.length, v2.length) }, (_, nth) => ({ v1: v1[nth], v2: v2[nth], id: `#${v1[nth] ?? v2[nth]}` }))
}

/** Returns the function that reads a row's id, or undefined if a row has none. Without a table, the id is `id` or `uid`. */
function keyed(v1: Rows, v2: Rows, key: string | undefined): Id | undefined {
  const name = (key === undefined ? ['id', 'uid'] : [key]).find((member) =>
    [v1, v2].every((rows) => rows.every((row) => hasId(row, member))),
  )
  return name === undefined ? undefined : (row) => String((row as Record<string, unknown>)[name])
}

function hasId(row: unknown, member: string): boolean {
  return isObject(row) && Object.hasOwn(row, member) && typeof row[member] === 'string' && row[member] !== ''
}

/** Labels every row. Repeated names get different labels. */
function labels(rows: Rows, name: Id): readonly string[] {
  const seen = new Map<string, number>()
  return rows.map((row) => {
    const text = name(row)
    const nth = (seen.get(text) ?? 0) + 1
    seen.set(text, nth)
    return nth === 1 ? text : `${text}~${nth}`
  })
}

function firstMoved(v1: readonly string[], v2: readonly string[]): Alignment['order'] {
  const index = v1.findIndex((label, at) => label !== v2[at])
  return index < 0 ? undefined : { v1: v1[index] ?? '', v2: v2[index] ?? '' }
}

/**
 * Writes JSON text that does not depend on the order of members, which has no meaning (facts §16.8).
 * `depth` is the depth of the value in its answer. Throws a RangeError if the value is nested too deeply.
 */
export function canonical(value: unknown, depth = 0): string {
  checkDepth(depth)
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item, depth + 1)).join()}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'nothing'
  const members = Object.keys(value).sort()
  return `{${members.map((name) => `${JSON.stringify(name)}:${canonical(value[name], depth + 1)}`).join()}}`
}
