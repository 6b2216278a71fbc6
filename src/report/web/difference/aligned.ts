import { type Cell, entriesOf, isContainer, isShort, LEFT_OUT, type Spot, textLines } from './json-cells.ts'

/** One line of JSON on both sides. */
export interface AlignedLine {
  /** Absent if that side has no such line. */
  readonly v1?: Cell
  readonly v2?: Cell
}

/** What one side has; undefined if it has nothing. */
export interface ShownSide {
  readonly value: unknown
}

/** Both sides at one place. */
export interface ShownSides {
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
export function zipped(v1: readonly Cell[] = [], v2: readonly Cell[] = []): readonly AlignedLine[] {
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
