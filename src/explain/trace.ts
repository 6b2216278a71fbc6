import { ApiError, asApiError, type CodeName } from '../errors.ts'
import type { JsonObject } from '../tables/json.ts'
import type { Env, Operation, V1Request } from '../tables/operation.ts'
import { type Call, type Make, type Outcome, run } from '../tables/turn.ts'
import { markerText } from './marker.ts'
import type { ShapeOf } from './placeholder.ts'

/** Imagined deviations of v2 from the ordinary case: success, one row in a list, no further page. */
export interface Scenario {
  /** The call with this number fails with this code. */
  readonly failing?: readonly [call: number, code: CodeName]
  /** The list call with this number has a further page. */
  readonly paged?: number
  /** Rows in every list. */
  readonly rows?: number
  /** Values of members, by the text of their marker. */
  readonly values?: ReadonlyMap<string, string>
}

/** The calls that an operation makes in a scenario, in order, and its error if it ends with one. */
export interface Trace {
  readonly calls: readonly Call[]
  readonly error: ApiError | undefined
}

/** The v1 request to explain. */
export interface ExplainedRequest {
  readonly operation: Operation
  readonly request: V1Request
  readonly env: Env
  readonly shapeOf: ShapeOf
}

/** Maximum calls of an operation; one that never ends stops here. */
const MOST_CALLS = 100

/** Runs a request against imagined answers. Nothing is sent. */
export function trace(subject: ExplainedRequest, scenario: Scenario = {}): Trace {
  const calls: Call[] = []
  const answer = (call: Call): Outcome => {
    calls.push(call)
    return outcomeOf(subject, call, calls.length, scenario)
  }
  return { calls, error: follow(subject, answer, () => calls.length < MOST_CALLS) }
}

/**
 * Runs a request to its end, or until `goOn` returns false. Each call is answered at once. Returns the error that the request ends with.
 */
export function follow(
  { operation, request, env }: Pick<ExplainedRequest, 'operation' | 'request' | 'env'>,
  answer: (call: Call) => Outcome,
  goOn: () => boolean,
): ApiError | undefined {
  const { begin } = operation
  if (!begin) return undefined
  let error: ApiError | undefined
  const make: Make = (turn, teller) => {
    if (goOn()) teller.told(turn.calls.map(answer))
  }
  const failed = (thrown: unknown) => {
    error = asApiError(thrown)
  }
  run(() => begin(request, env), make, { rows: () => true, ended() {}, failed })
  return error
}

function outcomeOf({ operation, shapeOf }: ExplainedRequest, call: Call, number: number, scenario: Scenario): Outcome {
  const [failingCall, code] = scenario.failing ?? []
  if (failingCall === number && code) return { ok: false, error: new ApiError(code, `call ${number} failed`) }
  const { plural, body } = shapeOf(operation, call)
  const known = (form: JsonObject) => withValues(form, scenario.values)
  if (plural === undefined) return { ok: true, body: known(body(number, 0)) }
  const rows = Array.from({ length: scenario.rows ?? 1 }, (_, at) => known(body(number, at + 1)))
  const nextPageToken = scenario.paged === number ? markerText({ call: number, row: 0, path: 'nextPageToken' }) : ''
  return { ok: true, body: { [plural]: rows, nextPageToken } }
}

/** Returns the form with known values in place of their markers. */
export function withValues(form: JsonObject, values: Scenario['values']): JsonObject {
  if (!values || values.size === 0) return form
  return JSON.parse(JSON.stringify(form), (_, value) => (typeof value === 'string' ? (values.get(value) ?? value) : value)) as JsonObject
}
