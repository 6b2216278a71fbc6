import { hasUid, isShownIn, nameIn } from '../compile.ts'
import type { Fields } from '../fields.ts'
import type { JsonObject } from '../json.ts'
import type { Dialect } from '../uid.ts'
import { type Member, memberOf, ROW_TEXT, tableOf, translatePage, translateRow } from './engine.ts'
import { parseJson } from './parse-json.ts'

/** Reads the bytes of a v2 answer; undefined if it is not as expected. */
export type ReadPageText = (pieces: readonly Uint8Array[]) => JsonObject | undefined

/**
 * Compiles a reader of v2 list answers that turns the rows into v1 text. Its result is the answer's envelope with that text in place of
 * the rows. The text equals parsed and rewritten rows byte for byte; wherever that is uncertain, the result is undefined, and the parser
 * reads the answer. A table with members that need whole rows has no reader.
 */
export function compilePage(plural: string, fields: Fields, dialect: Dialect): ReadPageText | undefined {
  const columns = columnsOf(fields, dialect)
  if (!columns) return undefined
  const table = tableOf(plural, columns, hasUid(fields))
  return (pieces) => {
    try {
      const page = translatePage(pieces, table)
      const body = page && envelopeOf(page.head, page.tail)
      if (!body || Object.hasOwn(body, plural)) return undefined
      const { rows, count, first, last, second } = page
      body[plural] = { [ROW_TEXT]: true, bytes: rows, count, first, last, second }
      return body
    } catch {
      return undefined
    }
  }
}

/** The same for the answer of a Get: its one row, under the key of a list's rows. */
export function compileRow(plural: string, fields: Fields, dialect: Dialect): ReadPageText | undefined {
  const columns = columnsOf(fields, dialect)
  if (!columns) return undefined
  const table = tableOf(plural, columns, hasUid(fields))
  return (pieces) => {
    try {
      const bytes = translateRow(pieces, table)
      return bytes === undefined
        ? undefined
        : { [plural]: { [ROW_TEXT]: true, bytes, count: 1, first: '', last: '', second: bytes.length } }
    } catch {
      return undefined
    }
  }
}

/** Returns the members of a v1 row, or undefined if one of them needs the whole v2 row. */
function columnsOf(fields: Fields, dialect: Dialect): readonly Member[] | undefined {
  const columns: Member[] = []
  for (const [name, field] of Object.entries(fields)) {
    if (!isShownIn(dialect, field)) continue
    const member = memberOf(nameIn(dialect, name, field), field, dialect)
    if (!member) return undefined
    columns.push(member)
  }
  return columns
}

/** The text that may follow the rows: the end, or a comma and more. */
const BEHIND = /^ *(?:\}|,(?! *\}))/

const LEADING_COMMA = /^ *,/

/** Parses the members around the rows, from the texts before their name and after their list. Throws if they are no JSON. */
function envelopeOf(head: string, tail: string): Record<string, unknown> | undefined {
  if (!BEHIND.test(tail)) return undefined
  const before = head.trimEnd()
  return parseJson(before === '{' ? before + tail.replace(LEADING_COMMA, '') : before.slice(0, -1) + tail) as Record<string, unknown>
}
