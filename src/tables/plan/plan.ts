import type { ApiError } from '../../errors/api-error.ts'
import { notAnswer } from '../../errors/from-v2.ts'
import type { JsonObject } from '../json.ts'
import { countOf, type RowText } from '../text/row-text.ts'

/** One v2 request as data. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** An absolute, percent-encoded path without a query. */
  readonly path: string
  readonly query: readonly (readonly [name: string, value: string])[]
  readonly body?: JsonObject
  /** Reads the answer's bytes in the plan's preferred form. If it returns undefined, the plan gets the parsed answer. */
  readonly read?: (pieces: readonly Uint8Array[]) => JsonObject | undefined
  /** True for one of many calls of a request: it leaves a share of the connections to others. */
  readonly bulk?: true
  /**
   * Allows the answer to be cached: for the same caller (`caller`), or while this request runs (`request`).
   * An answer of `size` resources takes as many places; 1 unless it is given.
   */
  readonly keep?: { readonly key: string; readonly scope: 'caller' | 'request'; readonly size?: number }
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

/** The result of one Call: its JSON body (`{}` if v2 sent none), or the error. */
export type Outcome = { readonly ok: true; readonly body: JsonObject } | { readonly ok: false; readonly error: ApiError }

/**
 * One step of a plan: calls to make (several run in parallel), or finished v1 rows to send. `ahead` lists the next calls of the plan, in
 * order and as the same objects, and replaces an earlier list. An executor may begin them early or ignore them.
 */
export type Step =
  | { readonly kind: 'ask'; readonly calls: readonly Call[]; readonly ahead?: readonly Call[] }
  | { readonly kind: 'rows'; readonly rows: readonly JsonObject[] | RowText }

/** A plan yields Steps, gets the Outcomes of each `ask`, and returns its result. It does no I/O. */
export type Plan<T = Reply> = Generator<Step, T, readonly Outcome[]>

/** The expected answer to a call. */
export interface Expected {
  /** The test whether an object can be that answer. Any other object, `{}` included, comes from something before v2 and is no success. */
  readonly isAnswer: (body: JsonObject) => boolean
}

/** Returns the body of an answer. Throws its ApiError, or INTERNAL if it is not the expected answer. */
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

/** Makes several calls in parallel; returns all outcomes in the order of the calls, failures included. */
export function* askAll(calls: readonly Call[]): Plan<readonly Outcome[]> {
  return calls.length === 0 ? [] : yield { kind: 'ask', calls }
}

/** Sends finished v1 rows on towards the client. */
export function* emit(rows: readonly JsonObject[] | RowText): Plan<void> {
  if (countOf(rows) > 0) yield { kind: 'rows', rows }
}
