import type { ApiError } from '../../src/errors/api-error.ts'
import type { JsonObject } from '../../src/tables/json.ts'
import type { Call, Plan } from '../../src/tables/plan/plan.ts'
import { isRowText } from '../../src/tables/text/row-text.ts'

/** What a plan did: the calls it asked for, the rows it sent on, and its result. */
export interface Ran<T> {
  readonly calls: readonly Call[]
  readonly rows: readonly JsonObject[]
  readonly result: T
}

/** Runs a plan by hand: each call gets the next answer, a JSON object or an error. */
export function run<T>(plan: Plan<T>, answers: readonly (JsonObject | ApiError)[] = []): Ran<T> {
  const calls: Call[] = []
  const rows: JsonObject[] = []
  let step = plan.next([])
  while (!step.done) {
    if (step.value.kind === 'rows') {
      if (isRowText(step.value.rows)) throw new Error('rows that are text come only from answers that are')
      rows.push(...step.value.rows)
      step = plan.next([])
      continue
    }
    const outcomes = step.value.calls.map((call) => {
      const answer = answers[calls.push(call) - 1]
      if (!answer) throw new Error(`no answer for call ${calls.length}: ${call.path}`)
      return answer instanceof Error ? { ok: false as const, error: answer } : { ok: true as const, body: answer }
    })
    step = plan.next(outcomes)
  }
  return { calls, rows, result: step.value }
}
