import { ApiError } from '../../src/errors.ts'
import type { JsonObject } from '../../src/tables/json.ts'
import type { Query } from '../../src/tables/query.ts'
import { isRowText } from '../../src/tables/text/engine.ts'
import { type Call, run as drive, type Outcome, type Plan, type Turn, turnOf } from '../../src/tables/turn.ts'

/** Parses a query string into the form that plans see: decoded, with every occurrence. */
export function queryOf(search: string): Query {
  const query = new Map<string, string[]>()
  for (const [name, value] of new URLSearchParams(search)) query.set(name, [...(query.get(name) ?? []), value])
  return query
}

/** The result of an operation: its calls, its rows, and its reply. */
export interface Ran<T> {
  readonly calls: readonly Call[]
  readonly rows: readonly JsonObject[]
  readonly result: T
}

/** Runs a plan. Each call gets the next answer, a JSON object or an error. */
export function run<T>(plan: Plan<T>, answers: readonly (JsonObject | ApiError)[] = []): Ran<T> {
  return runFrom<T>(() => turnOf(plan as Plan), answers)
}

/** Runs an operation from its first turn. */
export function runFrom<T>(begin: () => Turn, answers: readonly (JsonObject | ApiError)[] = []): Ran<T> {
  const calls: Call[] = []
  const rows: JsonObject[] = []
  let result: unknown
  const outcomeOf = (call: Call): Outcome => {
    const answer = answers[calls.push(call) - 1]
    if (!answer) throw new Error(`no answer for call ${calls.length}: ${call.path}`)
    return answer instanceof ApiError ? { ok: false, error: answer } : { ok: true, body: answer }
  }
  drive(begin, {
    sendCalls: (turn, teller) => teller.settled(turn.calls.map(outcomeOf)),
    rows(turn) {
      if (isRowText(turn.rows)) throw new Error('rows that are text come only from answers that are')
      rows.push(...turn.rows)
      return true
    },
    ended(reply) {
      result = reply
    },
    failed(thrown) {
      throw thrown
    },
  })
  return { calls, rows, result: result as T }
}
