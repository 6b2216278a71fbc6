import type { JsonObject } from '../../json.ts'
import { type Field, type Fields, made } from '../field.ts'

/** Stands in a v2 form for a value that v2 hid from this caller. It is equal in every copy of this module. */
export const WITHHELD: unique symbol = Symbol.for('crosswalk.withheld')
/** A row that is absent where the v2 form holds `WITHHELD`: `mayBeWithheld(object('role', role.fields))`. */
export const mayBeWithheld = <F extends Field>(row: F): F => ({ ...row, mayBeWithheld: true })
/** A message of which the caller may know only these members; the others are absent where they are withheld. */
export const knownBy = (names: readonly string[], fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, row]) => [name, names.includes(name) || row.presence === 'optional' ? row : mayBeWithheld(row)]),
  )
/** The v2 form of such a message with all those members withheld. */
export const withheld = (fields: Fields): JsonObject =>
  Object.fromEntries(
    Object.values(fields).flatMap((row) => (row.mayBeWithheld && typeof row.source === 'string' ? [[row.source, WITHHELD]] : [])),
  )
/** A message of which the main answer shows only the members `names`, and the call that shows the others. */
export const restIn = (call: string, names: readonly string[], fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, row]) => [name, names.includes(name) ? row : made(`${row.source} of ${call}`, row)]),
  )
