import type { Column, RowTable, Slot } from './row.ts'
import { LOOK, type Look } from './scan.ts'

/** How rows look, and how rows of this look become v1 rows: by one regular expression, which is faster than reading them. */
export interface Layout {
  /** Matches one row, at `lastIndex`. */
  readonly row: RegExp
  /** Turns rows that matched, joined by commas, into v1 rows. */
  translate(rows: string): string
}

/** Layouts that are kept for one table; a list has few. */
const KEPT = 64

const STRING = String.raw`"[^"\\\x00-\x1f]*"`
const PATTERNS: Partial<Record<Look, string>> = {
  [LOOK.text]: STRING,
  [LOOK.texts]: String.raw`\[(?:${STRING}(?:,${STRING})*)?\]`,
  [LOOK.true]: '(?:true|false)',
  [LOOK.false]: '(?:true|false)',
  [LOOK.null]: 'null',
  [LOOK.integer]: String.raw`(?:0|-?[1-9]\d{0,14})`,
}

/** The text of a uid: below another one, whose uid is a group, or at the root. */
const BELOW = String.raw`"([^"\\\x00-\x1f]*)/[^"\\\x00-\x1f/]*"`
const ROOT = String.raw`"[^"\\\x00-\x1f/]*"`

/** Finds the layout of the row that a table has read last; undefined when such rows have to be read one by one. */
export function createLayouts({ columns, order }: RowTable): (text: string) => Layout | undefined {
  const known = new Map<string, Layout | undefined>()
  return (text) => {
    const patterns = order.map((slot) => patternOf(slot, columns, text))
    const signature = order.map(({ key, look, name }, at) => `${key}${look}${name < 0}${patterns[at]}`).join()
    if (known.size > KEPT) known.clear()
    if (!known.has(signature)) known.set(signature, layoutOf(columns, order, patterns, text))
    return known.get(signature)
  }
}

/** What the value of a member looks like in every row of the layout. An enum value is the same one in all of them. */
function patternOf(slot: Slot, columns: readonly Column[], text: string): string | undefined {
  const kinds = columns.filter((column) => column.slot === slot).map(({ member }) => member.kind)
  if (slot.look !== LOOK.text) return PATTERNS[slot.look]
  const value = text.slice(slot.begin, slot.end)
  if (kinds.includes('enum')) return escaped(value)
  if (!kinds.includes('parent')) return STRING
  return value.includes('/') ? BELOW : ROOT
}

/** Neighbours that are copied in one piece: places in the row's order. */
interface Run {
  readonly from: number
  to: number
}

/** A piece of a v1 row: a text, or a group of the expression. */
type Piece = { readonly text: string } | { readonly name: string; readonly run: Run } | { readonly name: string; readonly parentAt: number }

function layoutOf(
  columns: readonly Column[],
  order: readonly Slot[],
  patterns: readonly (string | undefined)[],
  text: string,
): Layout | undefined {
  const spaced = order.some(({ name }) => name < 0)
  if (spaced || new Set(order).size < order.length || patterns.includes(undefined)) return undefined
  const pieces = piecesOf(columns, order, patterns, text)
  if (!pieces) return undefined
  const { source, groupOf, parentGroupOf } = expressionOf(order, patterns as readonly string[], pieces)
  const parts = pieces.map((piece) => {
    if ('text' in piece) return piece.text.replaceAll('$', '$$$$')
    if ('run' in piece) return `${piece.name}$${groupOf.get(piece.run)}`
    return `${piece.name}"$${parentGroupOf.get(piece.parentAt)}"`
  })
  const template = `{${parts.join(',')}}`
  const rows = new RegExp(source, 'g')
  return { row: new RegExp(source, 'y'), translate: (run) => run.replace(rows, template) }
}

/** The pieces of a v1 row, or undefined when one depends on more than a copied value. */
function piecesOf(
  columns: readonly Column[],
  order: readonly Slot[],
  patterns: readonly (string | undefined)[],
  text: string,
): readonly Piece[] | undefined {
  const uses = (slot: Slot) => columns.filter((column) => column.slot === slot).length
  const pieces: Piece[] = []
  let last: Run | undefined
  for (const { member, slot } of columns) {
    const at = slot ? order.indexOf(slot) : -1
    const before = last
    last = undefined
    if (slot && at >= 0 && member.copied[slot.look]) {
      if (before && before.to === at - 1 && slot.key === member.name && uses(slot) === 1) {
        before.to = at
        last = before
        continue
      }
      const shared = pieces.flatMap((piece) => ('run' in piece && piece.run.from === at ? [piece.run] : []))[0]
      const run = shared ?? { from: at, to: at }
      last = uses(slot) === 1 ? run : undefined
      pieces.push({ name: member.name, run })
    } else if (slot && member.kind === 'parent' && patterns[at] === BELOW) {
      pieces.push({ name: member.name, parentAt: at })
    } else {
      const fixed = !slot || at < 0 || slot.look === LOOK.null || (slot.look === LOOK.text && member.kind !== 'value')
      if (!fixed) return undefined
      const written = member.write(
        at < 0 ? LOOK.absent : (slot?.look ?? LOOK.absent),
        slot && at >= 0 ? text.slice(slot.begin, slot.end) : '',
        undefined,
      )
      if (written !== undefined) pieces.push({ text: member.name + written })
    }
  }
  return pieces
}

/** The expression of one row, and the numbers of its groups. */
function expressionOf(order: readonly Slot[], patterns: readonly string[], pieces: readonly Piece[]) {
  const runs = new Set(pieces.flatMap((piece) => ('run' in piece ? [piece.run] : [])))
  const groupOf = new Map<Run, number>()
  const parentGroupOf = new Map<number, number>()
  let groups = 0
  let source = String.raw`\{`
  for (const [at, { key }] of order.entries()) {
    const begins = [...runs].find(({ from }) => from === at)
    const ends = [...runs].some(({ to }) => to === at)
    if (begins) groupOf.set(begins, ++groups)
    if (patterns[at] === BELOW) parentGroupOf.set(at, ++groups)
    source += `${at > 0 ? ',' : ''}${escaped(key)}${begins ? '(' : ''}${patterns[at]}${ends ? ')' : ''}`
  }
  return { source: String.raw`${source}\}`, groupOf, parentGroupOf }
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
}
