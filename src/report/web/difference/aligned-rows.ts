import type { Excerpt, RowRange } from '../../../migrate/compare/excerpt.ts'
import type { ExampleReport } from '../../difference.ts'
import { type AlignedLine, alignedLines, type ShownSide, sidesOf, zipped } from './aligned.ts'
import type { LineMark } from './json-cells.ts'

/** A row of a list, with its place in it. */
interface Row {
  readonly value: unknown
  /** Its number in the list, from 1. */
  readonly number: number
  readonly isPlace: boolean
}

/** Writes the rows around a difference as lines, so that the same row stands in the same line. An order is written row by row. */
export function alignedRows(around: Excerpt, example: ExampleReport, isOrder: boolean): readonly AlignedLine[] {
  const whole = sidesOf(example)
  const v1 = rowsOf(around.v1, around.rows?.v1, isOrder ? undefined : whole.v1)
  const v2 = rowsOf(around.v2, around.rows?.v2, isOrder ? undefined : whole.v2)
  return (isOrder ? inStep(v1, v2) : paired(v1, v2)).flatMap(isOrder ? orderLines : linesOf)
}

type Pair = readonly [v1: Row | undefined, v2: Row | undefined]

function inStep(v1: readonly Row[], v2: readonly Row[]): readonly Pair[] {
  return Array.from({ length: Math.max(v1.length, v2.length) }, (_, nth) => [v1[nth], v2[nth]])
}

/** Pairs the rows with the same id. The row of the difference has no partner, or the one that was found when they were compared. */
function paired(v1: readonly Row[], v2: readonly Row[]): readonly Pair[] {
  const pairs: Pair[] = []
  const others = new Map(v2.filter(({ isPlace }) => !isPlace).map((row) => [keyOf(row), row]))
  const place = v2.find(({ isPlace }) => isPlace)
  let next = 0
  const upTo = (end: number) => {
    for (; next < end; next++) pairs.push([undefined, v2[next]])
  }
  for (const left of v1) {
    const right = left.isPlace ? place : others.get(keyOf(left))
    const at = right ? v2.indexOf(right) : -1
    if (at >= next) upTo(at)
    pairs.push([left, at >= next ? right : undefined])
    if (at >= next) next = at + 1
  }
  upTo(v2.length)
  return pairs
}

function linesOf([left, right]: Pair): readonly AlignedLine[] {
  if (!left?.isPlace && !right?.isPlace) return nameLines([left, right], left && right ? 'same' : 'other')
  return numbered(alignedLines(left, right, { depth: 0, path: [] }), left, right)
}

/** In an order only the row that moved is marked, because all others move with it. */
function orderLines(pair: Pair): readonly AlignedLine[] {
  return nameLines(pair, 'same')
}

/** Rows that are only named take one line. */
function nameLines([left, right]: Pair, mark: LineMark): readonly AlignedLine[] {
  const side = (row: Row | undefined) => row && [{ text: nameOf(row), depth: 0, mark: row.isPlace ? ('place' as const) : mark }]
  return numbered(zipped(side(left), side(right)), left, right)
}

function nameOf({ value }: Row): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value)
  return Object.values(value)
    .map((one) => (typeof one === 'string' ? one : JSON.stringify(one)))
    .join('  ')
}

function numbered([first, ...rest]: readonly AlignedLine[], left: Row | undefined, right: Row | undefined): readonly AlignedLine[] {
  if (!first) return []
  const v1 = first.v1 && left && { ...first.v1, row: left.number }
  const v2 = first.v2 && right && { ...first.v2, row: right.number }
  return [{ ...(v1 && { v1 }), ...(v2 && { v2 }) }, ...rest]
}

/** `whole` is the row of the difference, which is only named in the excerpt. */
function rowsOf(value: unknown, range: RowRange | undefined, whole: ShownSide | undefined): readonly Row[] {
  if (!Array.isArray(value) || !range) return []
  return value.map((row: unknown, nth) => {
    const isPlace = range.from + nth === range.at
    return { value: isPlace && whole ? whole.value : row, number: range.from + nth + 1, isPlace }
  })
}

function keyOf({ value }: Row): string {
  const row = value as { readonly id?: unknown; readonly uid?: unknown } | null
  return JSON.stringify(row?.id ?? row?.uid ?? row)
}
