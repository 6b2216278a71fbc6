import { isObject, type JsonObject } from '../../tables/json.ts'
import { ROWS } from '../../tables/turn.ts'
import type { Reading } from './reader.ts'

/**
 * Returns what the answer to a write would be if its list of texts held those that the read shows in a row, and all that the request asked
 * for. The order of the texts means nothing.
 */
export function expectedTexts({ uid, item, asked, table: { listed, readBack } }: Reading, read: unknown): JsonObject {
  if (!listed) return {}
  const rows = isObject(read) && Array.isArray(read[ROWS]) ? read[ROWS].filter(isObject) : []
  const shown = new Set(rows.map((row) => row[listed.row]))
  const list = item?.[listed.answer]
  const answered = new Set<unknown>(Array.isArray(list) ? list : [])
  const texts = [...[...answered].filter((text) => shown.has(text)), ...asked.filter((text) => !answered.has(text))]
  return { ...('param' in readBack.named && { [readBack.named.param]: uid }), [listed.answer]: texts }
}
