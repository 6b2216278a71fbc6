import type { Excerpt, RowRange } from '../../migrate/compare/excerpt.ts'
import type { ExampleReport } from '../report/difference.ts'

/** A masked text: nothing in its hash says where it differs. */
const MASKED = /text-\d+-[0-9a-f]{8}/

/** In a shorter line everybody sees what differs. */
const LONG = 48

/** Splits a line into the part that it shares with the other one, the part that differs, and the end that they share. */
export function differingSpan(text: string, other: string | undefined): readonly [before: string, differing: string, after: string] {
  if (other === undefined || other === text || text.length < LONG || MASKED.test(text) || text.includes('\n')) return [text, '', '']
  const most = Math.min(text.length, other.length)
  let start = 0
  while (start < most && text[start] === other[start]) start++
  let end = 0
  while (end < most - start && text.at(-1 - end) === other.at(-1 - end)) end++
  return [text.slice(0, start), text.slice(start, text.length - end), text.slice(text.length - end)]
}

export interface Cell {
  readonly text: string
  readonly mark: LineMark
  readonly depth: number
  /** The number of the row in its list, from 1. */
  readonly row?: number
}

/** `place`: the difference itself. `other`: it differs too. */
export type LineMark = 'same' | 'place' | 'other'

/** What is written, and where. */
interface Spot {
  readonly name?: string
  readonly depth: number
}

/** Writes a value as it stands in a list or in an object; a short one takes one line. */
function textLines(value: unknown, { name, depth }: Spot, mark: LineMark): readonly Cell[] {
  const start = name === undefined ? '' : `${JSON.stringify(name)}: `
  if (!isContainer(value) || isShort(value)) return [{ text: `${start}${inline(value)}`, depth, mark }]
  const [open, close] = Array.isArray(value) ? '[]' : '{}'
  const inner = entriesOf(value).flatMap(([one, member]) => memberLines(one, member, depth + 1, mark))
  return [{ text: `${start}${open}`, depth, mark }, ...inner, { text: close ?? '', depth, mark }]
}

/** Name of the member that counts those that were left out when the value was recorded. */
const LEFT_OUT = '…'

/** Most characters of a value that stands in one line. */
const SHORT = 72

/** Returns the names of an object, or the indices of a list, with their values. */
function entriesOf(value: object): readonly (readonly [string | number, unknown])[] {
  return Array.isArray(value) ? [...value.entries()] : Object.entries(value)
}

function memberLines(name: string | number, value: unknown, depth: number, mark: LineMark): readonly Cell[] {
  if (name === LEFT_OUT) return [{ text: `… ${value} members`, depth, mark }]
  return textLines(value, { depth, ...(typeof name === 'string' && { name }) }, mark)
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}

function isShort(value: unknown): boolean {
  return (JSON.stringify(value) ?? '').length <= SHORT
}

/** The item that counts those that were left out of a list when the value was recorded. */
const MORE = /^… \d+ more$/

/** Returns JSON in one line, with spaces between its parts. */
function inline(value: unknown): string {
  if (typeof value === 'string' && MORE.test(value)) return value
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`
  if (!isContainer(value)) return JSON.stringify(value) ?? ''
  const members = Object.entries(value).map(([name, inner]) =>
    name === LEFT_OUT ? `… ${inner}` : `${JSON.stringify(name)}: ${inline(inner)}`,
  )
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`
}

/** One line of JSON on both sides. */
export interface AlignedLine {
  /** Absent if that side has no such line. */
  readonly v1?: Cell
  readonly v2?: Cell
}

/** What one side has; undefined if it has nothing. */
interface ShownSide {
  readonly value: unknown
}

/** Both sides at one place. */
interface ShownSides {
  readonly v1?: ShownSide | undefined
  readonly v2?: ShownSide | undefined
}

export function sidesOf(values: { readonly v1?: unknown; readonly v2?: unknown }): ShownSides {
  const side = (name: 'v1' | 'v2') => (Object.hasOwn(values, name) ? { value: values[name] } : undefined)
  return { v1: side('v1'), v2: side('v2') }
}

interface Here extends Spot {
  /** Names that lead from here to the place; undefined if it is elsewhere. */
  readonly path?: readonly string[] | undefined
  /** True below the place, which `path` then no longer leads to. */
  readonly isWithin?: boolean
  /** What both sides have at the place, in full. */
  readonly whole?: ShownSides | undefined
}

/** Writes two values as lines of JSON, so that the same member stands in the same line. Members of both sides stand in the order of v1. */
export function alignedLines(v1: ShownSide | undefined, v2: ShownSide | undefined, here: Here): readonly AlignedLine[] {
  if (here.path?.length === 0 && here.whole) return alignedLines(here.whole.v1, here.whole.v2, { ...here, whole: undefined })
  const [left, right] = [v1?.value, v2?.value]
  if (here.name === LEFT_OUT) return [sameLine(`… ${left ?? right} members`, here.depth)]
  const isSame = v1 !== undefined && v2 !== undefined && JSON.stringify(left) === JSON.stringify(right)
  const isBoth = isContainer(left) && isContainer(right) && Array.isArray(left) === Array.isArray(right)
  const isOneLine = isShort(left) && isShort(right) && !here.path?.length
  if (isBoth && !isOneLine) return containerLines(left, right, here)
  // Both sides may be hidden alike at the place itself.
  const isPlace = here.path?.length === 0 && !(isSame && here.isWithin)
  const mark = isPlace ? 'place' : isSame ? 'same' : 'other'
  return zipped(v1 && textLines(v1.value, here, mark), v2 && textLines(v2.value, here, mark))
}

/** Puts lines of both sides next to each other. */
function zipped(v1: readonly Cell[] = [], v2: readonly Cell[] = []): readonly AlignedLine[] {
  return Array.from({ length: Math.max(v1.length, v2.length) }, (_, nth) => {
    const [left, right] = [v1[nth], v2[nth]]
    return { ...(left && { v1: left }), ...(right && { v2: right }) }
  })
}

/** Writes two values that are not compared, each as one cell of several lines. */
export function wholes(v1: ShownSide | undefined, v2: ShownSide | undefined): readonly AlignedLine[] {
  const cells = (side: ShownSide | undefined): readonly Cell[] => {
    const text = side && textLines(side.value, { depth: 0 }, 'place').map(({ text, depth }) => `${'  '.repeat(depth)}${text}`)
    return text ? [{ text: text.join('\n'), depth: 0, mark: 'place' }] : []
  }
  return zipped(cells(v1), cells(v2))
}

function containerLines(v1: object, v2: object, { name, depth, path, whole }: Here): readonly AlignedLine[] {
  const [open, close] = Array.isArray(v1) ? '[]' : '{}'
  const [left, right] = [new Map(entriesOf(v1)), new Map(entriesOf(v2))]
  const names = union([...left.keys()], [...right.keys()])
  const inner = names.flatMap((one) => {
    const isOnWay = path !== undefined && (path.length === 0 || path[0] === String(one))
    const below = {
      depth: depth + 1,
      whole,
      isWithin: path?.length === 0,
      path: isOnWay ? path.slice(1) : undefined,
      ...(typeof one === 'string' && { name: one }),
    }
    return alignedLines(sideOf(left, one), sideOf(right, one), below)
  })
  return [sameLine(`${name === undefined ? '' : `${JSON.stringify(name)}: `}${open}`, depth), ...inner, sameLine(close ?? '', depth)]
}

function sideOf(entries: ReadonlyMap<string | number, unknown>, name: string | number): ShownSide | undefined {
  return entries.has(name) ? { value: entries.get(name) } : undefined
}

function sameLine(text: string, depth: number): AlignedLine {
  const cell = { text, depth, mark: 'same' } as const
  return { v1: cell, v2: cell }
}

/** Returns all names in the order of v1. A name that only v2 has comes after the one before it. */
function union<T>(v1: readonly T[], v2: readonly T[]): readonly T[] {
  const all = [...v1]
  const known = new Set(v1)
  for (const [nth, name] of v2.entries()) {
    if (!known.has(name)) all.splice(nth === 0 ? 0 : all.indexOf(v2[nth - 1] as T) + 1, 0, name)
  }
  return all
}

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
  if (!isOrder) return paired(v1, v2).flatMap(linesOf)
  // In an order only the row that moved is marked, because all others move with it.
  const most = Math.max(v1.length, v2.length)
  return Array.from({ length: most }, (_, nth) => nameLines([v1[nth], v2[nth]], 'same')).flat()
}

type Pair = readonly [v1: Row | undefined, v2: Row | undefined]

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
