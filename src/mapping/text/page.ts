import type { Fields } from '../field.ts'
import type { JsonObject } from '../json.ts'
import type { Dialect } from '../names.ts'
import { ROW_TEXT, type RowText } from '../row-text.ts'
import { createLayouts, type Layout } from './layout.ts'
import { compileRow, type RowTable } from './row.ts'
import {
  CLOSE_LIST,
  CLOSE_OBJECT,
  COMMA,
  expect,
  LOOK,
  OPEN_LIST,
  OPEN_OBJECT,
  peek,
  readName,
  readValue,
  type Scan,
  SURPRISE,
  scanOf,
} from './scan.ts'

/** Reads the text of a v2 answer; undefined when it is not as expected. */
export type ReadText = (text: string) => JsonObject | undefined

/**
 * A reader of v2 list answers that turns the rows into v1 text on the way. The result is the answer's envelope with that text in place of
 * the rows: byte for byte what parsing and writing them would give, and undefined wherever that is not certain. Undefined instead of a
 * reader: the table has members that need whole rows.
 */
export function compilePage(plural: string, fields: Fields, dialect: Dialect): ReadText | undefined {
  const table = compileRow(fields, dialect)
  if (!table) return undefined
  const layoutFor = createLayouts(table)
  return (text) => {
    try {
      return readPage(scanOf(text), plural, (scan) => readRows(scan, table, layoutFor))
    } catch {
      return undefined
    }
  }
}

function readPage(scan: Scan, plural: string, rows: (scan: Scan) => RowText): JsonObject {
  const body: Record<string, unknown> = {}
  expect(scan, OPEN_OBJECT)
  for (let code = COMMA; code !== CLOSE_OBJECT; scan.at += 1) {
    const name = readName(scan)
    if (name === '__proto__' || Object.hasOwn(body, name)) throw SURPRISE
    body[name] = name === plural ? rows(scan) : readPlain(scan)
    code = peek(scan)
    if (code !== COMMA && code !== CLOSE_OBJECT) throw SURPRISE
  }
  peek(scan)
  if (scan.at !== scan.text.length || !Object.hasOwn(body, plural)) throw SURPRISE
  return body
}

/** A value of the envelope. */
function readPlain(scan: Scan): unknown {
  peek(scan)
  const begin = scan.at
  return readValue(scan) === LOOK.other ? scan.value : JSON.parse(scan.text.slice(begin, scan.at))
}

/** Reads the list of rows: the first one, those after it that look the same all at once, and so on with each that looks different. */
function readRows(scan: Scan, table: RowTable, layoutFor: (text: string) => Layout | undefined): RowText {
  const pieces: string[] = []
  let count = 0
  let first = ''
  let last = -1
  let layout: Layout | undefined
  expect(scan, OPEN_LIST)
  let code = peek(scan)
  if (code === CLOSE_LIST) scan.at += 1
  for (; code !== CLOSE_LIST; scan.at += 1) {
    peek(scan)
    const begin = scan.at
    const run = layout ? skipRun(scan, layout.row) : { rows: 0, last: begin }
    if (run.rows > 0 && layout) pieces.push(layout.translate(scan.text.slice(begin, scan.at)))
    else {
      pieces.push(table.write(scan))
      layout = layoutFor(scan.text)
      if (count === 0) first = table.uid(scan)
    }
    count += run.rows || 1
    last = run.last
    code = peek(scan)
    if (code !== COMMA && code !== CLOSE_LIST) throw SURPRISE
  }
  const lastUid = count > 1 ? uidAt(scan, last, table) : first
  return { [ROW_TEXT]: true, text: pieces.join(','), count, first, last: lastUid, second: (pieces[0]?.length ?? 0) + 1 }
}

/** Moves behind the rows that match, as long as nothing but a comma stands between them; how many, and where the last one begins. */
function skipRun(scan: Scan, row: RegExp): { readonly rows: number; readonly last: number } {
  let rows = 0
  let last = scan.at
  for (let next = scan.at; ; next += 1) {
    row.lastIndex = next
    if (!row.test(scan.text)) return { rows, last }
    rows += 1
    last = next
    scan.at = row.lastIndex
    if (scan.text.charCodeAt(scan.at) !== COMMA) return { rows, last }
    next = scan.at
  }
}

/** The uid of the row that begins at this place. */
function uidAt({ text }: Scan, at: number, table: RowTable): string {
  const scan = scanOf(text, at)
  table.write(scan)
  return table.uid(scan)
}
