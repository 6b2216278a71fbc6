import { isObject } from '../../tables/json.ts'
import { canonical } from '../compare/align.ts'
import type { Both, JsonPath } from '../compare/json-path.ts'
import type { Redacted } from '../redact/redacted.ts'
import { NAMING } from './enclosing.ts'
import type { Excerpt } from './excerpt.ts'
import { isSecret, pointerTo } from './place.ts'
import type { Size } from './size.ts'

type Rows = readonly unknown[]

/** Shows the rows before and after a row that one side lacks, or that has another value. */
export function rowsAround(place: JsonPath, redacted: Redacted, size: Size): Excerpt | undefined {
  const list = place.up
  if (!list || isSecret(list)) return undefined
  const [v1, v2] = [rowsOf(list.v1), rowsOf(list.v2)]
  const index = Number(place.at)
  const isIn1 = v1 !== undefined && place.v1 !== undefined
  const isIn2 = v2 !== undefined && place.v2 !== undefined
  const left = isIn1 ? index : gapIn(v1, v2, index)
  const right = !isIn2 ? gapIn(v2, v1, index) : isIn1 ? v2.indexOf(place.v2) : index
  return excerpt(list, redacted, size.rows, {
    v1: v1 && { rows: v1, first: left, last: isIn1 ? left : left - 1, ...(isIn1 && { at: left }) },
    v2: v2 && { rows: v2, first: right, last: isIn2 ? right : right - 1, ...(isIn2 && { at: right }) },
  })
}

/** Shows where the order of two lists parts. `ids` are the rows there; the place of v1's row is shown on both sides. */
export function movedRows(list: JsonPath, ids: Both, redacted: Redacted, size: Size): Excerpt | undefined {
  const [v1, v2] = [rowsOf(list.v1), rowsOf(list.v2)]
  if (!v1 || !v2 || isSecret(list)) return undefined
  const [first, other] = [keyAt(ids.v1, v1), keyAt(ids.v2, v1)]
  const [at, parts, moved] = [indexOf(v1, first), indexOf(v2, other), indexOf(v2, first)]
  return excerpt(list, redacted, 1, {
    v1: { rows: v1, first: at, last: at + size.moved - 2, at },
    v2: { rows: v2, first: parts, last: parts + size.moved - 2, at: moved },
  })
}

interface Shown {
  readonly rows: Rows
  /** The rows that are shown besides those before and after them. */
  readonly first: number
  readonly last: number
  readonly at?: number
}

function excerpt(
  list: JsonPath,
  redacted: Redacted,
  spare: number,
  sides: { readonly v1: Shown | undefined; readonly v2: Shown | undefined },
): Excerpt {
  const cut = (side: 'v1' | 'v2') => {
    const one = sides[side]
    if (!one) return undefined
    const from = Math.max(0, one.first - spare)
    const rows = one.rows.slice(from, one.last + 1 + spare).map((row) => brief(row, list.at, redacted))
    return { rows, range: { from, of: one.rows.length, ...(one.at !== undefined && { at: one.at }) } }
  }
  const [v1, v2] = [cut('v1'), cut('v2')]
  return {
    at: pointerTo(list, redacted),
    ...(v1 && { v1: v1.rows }),
    ...(v2 && { v2: v2.rows }),
    rows: { ...(v1 && { v1: v1.range }), ...(v2 && { v2: v2.range }) },
  }
}

const BRIEF = { text: 80, items: 1, members: 2, depth: 0 }

/** Returns the members that name a row, or its first ones. `name` is the list's own. */
function brief(row: unknown, name: string, redacted: Redacted): unknown {
  if (!isObject(row)) return redacted.value(row, name, BRIEF)
  const naming = NAMING.filter((one) => Object.hasOwn(row, one))
  const names = naming.length > 0 ? naming : Object.keys(row).slice(0, BRIEF.members)
  return Object.fromEntries(names.map((one) => [redacted.key(one), redacted.value(row[one], one, BRIEF)]))
}

function rowsOf(value: unknown): Rows | undefined {
  return Array.isArray(value) ? value : undefined
}

/** Identifies a row: by its id, or by all of it. */
function keyOf(row: unknown): string {
  const id = isObject(row) ? (row.id ?? row.uid) : undefined
  return typeof id === 'string' ? id : canonical(row)
}

/** Returns the key of a row that a finding names by its id, or by its index in v1. */
function keyAt(id: unknown, v1: Rows): string {
  const nth = /^#(\d+)$/.exec(String(id))?.[1]
  return nth === undefined ? String(id) : keyOf(v1[Number(nth)])
}

/** Returns the index of a row. A list that lacks it is shown from its beginning. */
function indexOf(rows: Rows, key: string): number {
  return Math.max(
    0,
    rows.findIndex((row) => keyOf(row) === key),
  )
}

/** Most neighbours that are looked for in the other list. */
const TRIES = 10

/** Returns the index at which a list lacks a row of the other list, which has it at `index`: behind a row that stands before it there. */
function gapIn(rows: Rows = [], others: Rows = [], index: number): number {
  const known = new Map(rows.map((row, nth) => [keyOf(row), nth]))
  for (let before = index - 1; before >= Math.max(0, index - TRIES); before--) {
    const found = known.get(keyOf(others[before]))
    if (found !== undefined) return found + 1
  }
  for (let after = index + 1; after <= Math.min(others.length - 1, index + TRIES); after++) {
    const found = known.get(keyOf(others[after]))
    if (found !== undefined) return found
  }
  return Math.min(index, rows.length)
}
