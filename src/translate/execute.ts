import pLimit from 'p-limit'
import { ApiError } from '../errors/api-error.ts'
import { asApiError } from '../errors/to-v1.ts'
import type { JsonObject } from '../mapping/json.ts'
import { type Call, type Outcome, type Plan, type Reply, ROWS } from '../mapping/plan.ts'

/** Makes one v2 call: its JSON body, or an ApiError. */
export type Send = (call: Call) => Promise<JsonObject>

/** Bounds of one v1 request; the names are those of the configuration. */
export interface PlanLimits {
  /** v2 calls that one request may cost. */
  readonly callsPerRequest: number
  /** v2 calls of one request under way at the same time. */
  readonly parallelCalls: number
  /** Rows kept back so that an error can still change the status; a longer list is streamed. */
  readonly bufferedRows: number
}

/** A v1 answer ready to be written: whole, or as pieces of JSON text whose failure must break the connection (design §4). */
export type Answer =
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: unknown }
  | { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly stream: AsyncIterable<string> }

type Driver = AsyncGenerator<readonly JsonObject[], Reply, void>

/** Runs a plan: makes its calls with `send`, gives it the outcomes, and turns its reply into an answer. Throws what the plan throws. */
export async function execute(plan: Plan, send: Send, limits: PlanLimits): Promise<Answer> {
  const driver = drive(plan, send, limits)
  const held: JsonObject[] = []
  for (;;) {
    const step = await driver.next()
    if (step.done) return whole(step.value, held)
    held.push(...step.value)
    if (held.length > limits.bufferedRows) return { status: 200, headers: {}, stream: streamed(held, driver) }
  }
}

/** The plan as a stream of row batches that ends with its reply. */
async function* drive(plan: Plan, send: Send, limits: PlanLimits): Driver {
  const limit = pLimit(limits.parallelCalls)
  let calls = 0
  let outcomes: readonly Outcome[] = []
  for (;;) {
    const step = plan.next(outcomes)
    if (step.done) return step.value
    outcomes = []
    if (step.value.kind === 'rows') {
      yield step.value.rows
    } else {
      calls += step.value.calls.length
      if (calls > limits.callsPerRequest) throw tooManyCalls(limits.callsPerRequest)
      outcomes = await limit.map(step.value.calls, (call) => outcomeOf(send(call)))
    }
  }
}

async function outcomeOf(answer: Promise<JsonObject>): Promise<Outcome> {
  try {
    return { ok: true, body: await answer }
  } catch (error) {
    return { ok: false, error: asApiError(error) }
  }
}

function tooManyCalls(limit: number): ApiError {
  return new ApiError(
    'FAILED_PRECONDITION',
    `this request needs more v2 calls than limits.callsPerRequest (${limit}) allows; narrow its filter or raise the limit`,
  )
}

function whole({ status, headers = {}, body, rows }: Reply, held: readonly JsonObject[]): Answer {
  return { status, headers, body: rows ? { [ROWS]: held, ...(body as JsonObject) } : body }
}

/** `{"items":[…rows…], …rest}` piece by piece, one for each batch. */
async function* streamed(held: JsonObject[], driver: Driver): AsyncGenerator<string> {
  yield `{${JSON.stringify(ROWS)}:[${rowsText(held)}`
  held.length = 0
  for (;;) {
    const step = await driver.next()
    if (step.done) {
      const rest = JSON.stringify(step.value.body).slice(1)
      yield rest === '}' ? ']}' : `],${rest}`
      return
    }
    if (step.value.length > 0) yield `,${rowsText(step.value)}`
  }
}

function rowsText(rows: readonly JsonObject[]): string {
  return rows.map((row) => JSON.stringify(row)).join(',')
}
