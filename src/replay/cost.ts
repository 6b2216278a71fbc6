import type { ApiError } from '../errors.ts'
import { ordinary } from '../explain/guards.ts'
import { type ExplainedRequest, follow, withValues } from '../explain/trace.ts'
import type { JsonObject } from '../tables/json.ts'
import type { Operation, V1Request } from '../tables/operation.ts'
import { PAGE_SIZE } from '../tables/pages.ts'
import type { Call, Outcome } from '../tables/turn.ts'
import { IDS } from '../tables/whole-list.ts'

/** The v2 calls that one v1 request makes. */
export interface Cost {
  readonly calls: number
  /** The calls whose answers the proxy keeps for the caller, so that it does not repeat them at once. */
  readonly kept: number
  /** The request is refused before v2 is asked. */
  readonly refused?: ApiError
}

/** Returns the cost of one request of an operation. */
export type CostOf = (operation: Operation, request: V1Request) => Cost

/** Maximum calls of an operation; one that never ends stops here. */
const MOST_CALLS = 100_000

/**
 * Counts the v2 calls of a request by running it against an imagined v2. Every call succeeds, and nothing is sent.
 * Every list that the request asks for holds `rows` rows and is served page by page. Every other list holds one row.
 */
export function costOf(subject: ExplainedRequest, rows: number): Cost {
  const { operation } = subject
  if (!operation.begin) return { calls: 0, kept: 0 }
  const values = ordinary(subject).base.values ?? new Map<string, string>()
  const answer = imagined(subject, operation.rows ? rows : 1, values)
  const made: Call[] = []
  const take = (call: Call) => {
    made.push(call)
    return answer(call, made.length)
  }
  const failed = follow(subject, take, () => made.length < MOST_CALLS)
  const kept = made.filter(({ keep }) => keep?.scope === 'caller').length
  return { calls: made.length, kept, ...(failed && made.length === 0 && { refused: failed }) }
}

/** A list by uids holds what is named. */
type AnswerCall = (call: Call, number: number) => Outcome

function imagined({ operation, shapeOf }: ExplainedRequest, rows: number, values: ReadonlyMap<string, string>): AnswerCall {
  const known = (form: JsonObject) => withValues(form, values)
  return (call, number) => {
    const { plural, body } = shapeOf(operation, call)
    if (plural === undefined) return { ok: true, body: known(body(number, 0)) }
    const uids = call.query.filter(([name]) => name === IDS).map(([, uid]) => uid)
    if (uids.length > 0) return { ok: true, body: { [plural]: uids.map((uid, nth) => ({ ...known(body(number, nth + 1)), uid })) } }
    const from = Math.min(rows, Number(parameter(call, 'page_token') ?? parameter(call, 'skip') ?? 0))
    const to = Math.min(rows, from + Number(parameter(call, 'page_size') ?? PAGE_SIZE))
    const page = Array.from({ length: to - from }, (_, nth) => identified(known(body(number, nth + 1)), from + nth))
    return { ok: true, body: { [plural]: page, nextPageToken: to < rows ? String(to) : '', totalCount: String(rows) } }
  }
}

function parameter({ query }: Call, name: string): string | undefined {
  return query.find(([given]) => given === name)?.[1]
}

/** Gives a row a uid that rises with its position, as in a list sorted by uid. */
function identified(row: JsonObject, nth: number): JsonObject {
  const uid = `${'0'.repeat(40)}/${nth.toString(16).padStart(16, '0')}`
  return { ...row, uid, id: uid }
}
