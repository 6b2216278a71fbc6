import type { JsonObject } from '../json.ts'
import type { Env } from '../operations/operation.ts'
import { countOf, isRowText } from '../text/row-text.ts'
import type { Enrich } from './list-query.ts'
import type { Page } from './page.ts'
import { emit, type Plan, type Reply } from './plan.ts'
import { replied, type Turn, turnOf } from './turn.ts'
import type { Walked } from './walk.ts'

/** Returns the turn of rows that complete a list. */
export function sent(rows: Page['rows'], walked: Partial<Walked>, sending: Sending): Turn {
  if (sending.enrich) return turnOf(enriched(rows, walked, sending))
  const next = () => replied(items(sending.envelope(walked)))
  return countOf(rows) === 0 ? next() : { kind: 'rows', rows: isRowText(rows) ? rows : rows.map(sending.show), next }
}

function* enriched(rows: Page['rows'], walked: Partial<Walked>, sending: Sending): Plan {
  yield* sendRows(rows, sending)
  return items(sending.envelope(walked))
}

/** How the rows of one request become v1's, and the members beside them. */
export interface Sending {
  readonly show: (row: JsonObject) => JsonObject
  readonly enrich: Enrich | undefined
  readonly env: Env
  readonly origin: 'list' | 'get'
  readonly hasEnvelope: boolean
  readonly envelope: (walked: Partial<Walked>) => JsonObject | undefined
}

/** Sends rows in v1's form. */
export function* sendRows(rows: Page['rows'], { show, enrich, env, origin }: Sending): Plan<void> {
  if (isRowText(rows)) return yield* emit(rows)
  const complete = enrich ? yield* enrich(rows, env, origin) : rows
  yield* emit(complete.map(show))
}

/** Returns the v1 envelope; the rows that the plan emitted become its `items`. */
export function items(more: JsonObject = {}): Reply {
  return { status: 200, body: more, rows: true }
}
