import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../errors/api-error.ts'
import type { JsonObject } from '../mapping/json.ts'
import { type Outcome, type Plan, type Reply, ROWS } from '../mapping/plan.ts'
import { type CallLimits, createCalls, type Send } from './calls.ts'

/** Bounds of one v1 request; the names are those of the configuration. */
export interface PlanLimits extends CallLimits {
  /** Rows kept back so that an error can still change the status; a longer list is streamed. */
  readonly bufferedRows: number
  /** Rows that one list may hold. */
  readonly rowsPerRequest: number
}

/** A v1 answer ready to be written: whole, or as pieces of JSON text whose failure must break the connection (design §4). */
export type Answer =
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: unknown }
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly stream: AsyncIterable<string> }

/** The next rows that a plan sends on, or its reply. */
type Next = () => Promise<{ readonly rows: readonly JsonObject[] } | { readonly reply: Reply }>

/** Runs a plan: makes its calls with `send`, gives it the outcomes, and turns its reply into an answer. Throws what the plan throws. */
export async function execute(plan: Plan, send: Send, limits: PlanLimits): Promise<Answer> {
  const next = run(plan, send, limits)
  const held: JsonObject[] = []
  for (;;) {
    const step = await next()
    if ('reply' in step) return whole(step.reply, held)
    for (const row of step.rows) held.push(row)
    if (held.length > limits.bufferedRows) return { status: 200, headers: {}, stream: streamed(held, next) }
  }
}

/** Moves the plan on whenever it is called, and not before: a client that does not read holds up its own calls. */
function run(plan: Plan, send: Send, limits: PlanLimits): Next {
  const make = createCalls(send, limits)
  let outcomes: readonly Outcome[] = []
  let rows = 0
  return async () => {
    for (;;) {
      const step = plan.next(outcomes)
      if (step.done) return { reply: step.value }
      outcomes = []
      if (step.value.kind === 'rows') {
        rows += step.value.rows.length
        if (rows > limits.rowsPerRequest) throw tooManyRows(limits.rowsPerRequest)
        return step.value
      }
      outcomes = await make(step.value)
    }
  }
}

function tooManyRows(limit: number): ApiError {
  const message = `this list holds more rows than limits.rowsPerRequest (${limit}) allows; narrow its filter or raise the limit`
  return new ApiError('FAILED_PRECONDITION', message)
}

function whole({ status, headers = {}, body, rows }: Reply, held: readonly JsonObject[]): Answer {
  return { status, headers, body: rows ? { [ROWS]: held, ...(body as JsonObject) } : body }
}

/** `{"items":[…rows…], …rest}` piece by piece, one for each batch; between two of them the event loop serves others. */
async function* streamed(held: JsonObject[], next: Next): AsyncGenerator<string> {
  yield `{${JSON.stringify(ROWS)}:[${rowsText(held)}`
  held.length = 0
  for (;;) {
    const step = await next()
    if ('reply' in step) {
      const rest = JSON.stringify(step.reply.body).slice(1)
      yield rest === '}' ? ']}' : `],${rest}`
      return
    }
    if (step.rows.length > 0) yield `,${rowsText(step.rows)}`
    await setImmediate()
  }
}

function rowsText(rows: readonly JsonObject[]): string {
  return rows.map((row) => JSON.stringify(row)).join(',')
}
