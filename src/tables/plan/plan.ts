import type { ApiError } from '../../errors/api-error.ts'
import { notAnswer } from '../../errors/from-v2.ts'
import type { JsonObject } from '../json.ts'
import { countOf, type RowText } from '../text/row-text.ts'

/** One v2 request as data. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Absolute, percent-encoded, without a query. */
  readonly path: string
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly body?: JsonObject
  /** How the plan would rather read the answer's bytes than parsed; undefined where it cannot, and then it gets it parsed. */
  readonly read?: (pieces: readonly Uint8Array[]) => JsonObject | undefined
  /** One of many that one request needs: it leaves a share of the connections to others. */
  readonly bulk?: true
  /** The answer may be kept: for the same caller (`caller`), or only while this request runs (`request`). */
  readonly keep?: { readonly key: string; readonly scope: 'caller' | 'request' }
}

/** The envelope member that holds the rows of every v1 list (facts §10.1). */
export const ROWS = 'items'

/** One v1 response as data. With `rows`, the rows that the plan emitted become the `items` of the envelope and `body` is its rest. */
export interface Reply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body: unknown
  readonly rows?: true
}

/** What became of one Call: its JSON body (`{}` when v2 sent none), or the error. */
export type Outcome = { readonly ok: true; readonly body: JsonObject } | { readonly ok: false; readonly error: ApiError }

/**
 * What a plan yields: calls it wants made (side by side when there are several), or finished v1 rows to send on. `ahead` lists the calls
 * that it is going to ask for next, in that order and as these same objects, and takes back what was listed before: an executor may begin
 * them already, or ignore them.
 */
export type Step =
  | { readonly kind: 'ask'; readonly calls: readonly Call[]; readonly ahead?: readonly Call[] }
  | { readonly kind: 'rows'; readonly rows: readonly JsonObject[] | RowText }

/** A plan yields Steps, gets the Outcomes of each `ask` back, and returns its result. It does no I/O. */
export type Plan<T = Reply> = Generator<Step, T, readonly Outcome[]>

/** What v2 answers to a call. */
export interface Expected {
  /** Whether an object can be that answer. Anything else, `{}` included, came from something before v2 and is no success. */
  readonly isAnswer: (body: JsonObject) => boolean
}

/** The body of an answer; throws its ApiError, or INTERNAL where it is not the answer expected. */
export function bodyOf(outcome: Outcome, expected: Expected): JsonObject {
  if (!outcome.ok) throw outcome.error
  if (!expected.isAnswer(outcome.body)) throw notAnswer(outcome.body)
  return outcome.body
}

/** Makes one call; returns the body of the expected answer or throws its ApiError. `ahead` as in Step. */
export function* ask(call: Call, expected: Expected, ahead?: readonly Call[]): Plan<JsonObject> {
  const [outcome] = yield { kind: 'ask', calls: [call], ...(ahead && { ahead }) }
  if (!outcome) throw new Error('the executor gave no outcome')
  return bodyOf(outcome, expected)
}

/** Makes several calls side by side; every outcome comes back in the order of the calls, failures included. */
export function* askAll(calls: readonly Call[]): Plan<readonly Outcome[]> {
  return calls.length === 0 ? [] : yield { kind: 'ask', calls }
}

/** Sends finished v1 rows on towards the client. */
export function* emit(rows: readonly JsonObject[] | RowText): Plan<void> {
  if (countOf(rows) > 0) yield { kind: 'rows', rows }
}
