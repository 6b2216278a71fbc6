import { type ApiError, asApiError, lateError, notAnswer } from '../errors.ts'
import type { JsonObject } from './json.ts'
import { countOf, type RowText } from './text/engine.ts'

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

/** `/iam/v2/roles`: what stands before the names in a path. */
const COLLECTION = /^\/[^/]+\/v\d\w*\/[^/:]+/

/**
 * True if a call asks for a resource of this name: in its path, its query or its body. A name of several words, such as a digest and an
 * architecture, is asked for by all of them. A verb of a collection (`groups:lookupGroup`) finds resources by other things than their names.
 * A list that nothing limits asks for none.
 */
export function asksFor({ path, query, body }: Call, name: string): boolean {
  const behind = path.replace(COLLECTION, '')
  if (behind.startsWith(':')) return true
  const places = [decodeURIComponent(behind), ...query.map(([, value]) => value), ...(body ? [JSON.stringify(body)] : [])]
  const isHeld = (part: string) => part !== '' && places.some((place) => holdsName(place, part))
  return isHeld(name) || name.split(' ').every(isHeld)
}

/** True if the name stands in the text as a whole: between slashes, quotes or the text's ends. */
function holdsName(text: string, name: string): boolean {
  for (let at = text.indexOf(name); at >= 0; at = text.indexOf(name, at + 1)) {
    const [before, behind] = [text[at - 1], text[at + name.length]]
    if ((before === undefined || BOUNDS.has(before)) && (behind === undefined || BOUNDS.has(behind))) return true
  }
  return false
}

const BOUNDS: ReadonlySet<string> = new Set(['/', ':', '"', ','])

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

/** Lets others be served before a plan goes on: a turn without calls. */
export function* pause(): Plan<void> {
  yield { kind: 'ask', calls: [] }
}

/** Calls that an operation waits for. `next` throws the ApiError that ends the request. */
export interface AskTurn extends Extract<Step, { kind: 'ask' }> {
  readonly next: (outcomes: readonly Outcome[]) => Turn
  /** The turn holds data only: other callers may reuse it. */
  readonly again?: true
}

/** Finished v1 rows, and the continuation of the operation. */
export interface RowsTurn extends Extract<Step, { kind: 'rows' }> {
  readonly next: () => Turn
}

/** The state of an operation: it waits for calls, it has rows to send, or it has its reply. */
export type Turn = AskTurn | RowsTurn | { readonly kind: 'reply'; readonly reply: Reply }

/** Returns the last turn. */
export function replied(reply: Reply): Turn {
  return { kind: 'reply', reply }
}

/**
 * Returns a turn of one call.
 *
 *     asked({ method: 'GET', path: '/iam/v2/roles', query: [] }, ([outcome]) => replied(ok(bodyOf(outcome, role))))
 *
 * @param next makes the next turn from the call's outcome and nothing else, so that the turn can be reused
 */
export function asked(call: Call, next: (outcomes: readonly [Outcome]) => Turn): AskTurn {
  return { kind: 'ask', calls: [call], next: next as AskTurn['next'], again: true }
}

/** Returns the first turn of a plan. It can be used once: a generator keeps its own position. */
export function turnOf(plan: Plan): Turn {
  const next = (outcomes: readonly Outcome[]): Turn => {
    const step = plan.next(outcomes)
    return step.done ? replied(step.value) : { ...step.value, next: next as () => Turn }
  }
  return next([])
}

/** Takes the result of a call. */
export interface CallReceiver {
  received(body: JsonObject): void
  failed(error: Error): void
}

/** Takes the outcomes of a turn's calls, in order, or the result of its only call. */
export interface OutcomeReceiver extends CallReceiver {
  settled(outcomes: readonly Outcome[]): void
}

/** Makes the calls of an operation, and takes its results. */
export interface Executor {
  /** Makes the calls of a turn and delivers their outcomes, possibly at once. */
  sendCalls(turn: AskTurn, receiver: OutcomeReceiver): void
  /** Returns true if the run continues at once; otherwise `turn.next` continues it later. */
  rows(turn: RowsTurn): boolean
  ended(reply: Reply): void
  failed(thrown: unknown): void
}

/**
 * Runs an operation from a turn on. Serving, explaining, comparing and counting all use this driver. It never throws an error of a turn.
 */
export function run(begin: () => Turn, executor: Executor): void {
  new Run(executor).go({ next: begin }, NONE)
}

const NONE: readonly Outcome[] = []

/** A turn with a continuation. */
interface Going {
  readonly next: (outcomes: readonly Outcome[]) => Turn
}

/** One run of an operation. A class, because every request has one. */
class Run implements OutcomeReceiver {
  readonly #executor: Executor
  #asked: Going | undefined
  #settled: readonly Outcome[] | undefined
  #isMaking: boolean
  /** True once a call had its answer. */
  #hasShown: boolean

  constructor(executor: Executor) {
    this.#executor = executor
    this.#asked = undefined
    this.#settled = undefined
    this.#isMaking = false
    this.#hasShown = false
  }

  /** Continues until it waits. Calls that are answered at once continue in this loop, so that a long list does not grow the stack. */
  go(from: Going, outcomes: readonly Outcome[]): void {
    let going = from
    let settled: readonly Outcome[] | undefined = outcomes
    while (settled) {
      let turn: Turn
      try {
        turn = going.next(settled)
      } catch (thrown) {
        this.#executor.failed(this.#isLate(thrown, settled) ? lateError(thrown) : thrown)
        return
      }
      if (turn.kind === 'reply') {
        this.#executor.ended(turn.reply)
        return
      }
      for (const { ok } of settled) this.#hasShown ||= ok
      going = turn
      if (turn.kind === 'rows') settled = this.#executor.rows(turn) ? NONE : undefined
      else {
        this.#asked = turn
        this.#settled = undefined
        this.#isMaking = true
        this.#executor.sendCalls(turn, this)
        this.#isMaking = false
        settled = this.#settled
      }
    }
  }

  settled(outcomes: readonly Outcome[]): void {
    if (this.#isMaking) this.#settled = outcomes
    else if (this.#asked) this.go(this.#asked, outcomes)
  }

  received(body: JsonObject): void {
    this.settled([{ ok: true, body }])
  }

  failed(error: Error): void {
    this.settled([{ ok: false, error: asApiError(error) }])
  }

  /** True for the failure of a call if another one had its answer before it or beside it. */
  #isLate(thrown: unknown, outcomes: readonly Outcome[]): boolean {
    const isOfCall = outcomes.some((outcome) => !outcome.ok && outcome.error === thrown)
    return isOfCall && (this.#hasShown || outcomes.some(({ ok }) => ok))
  }
}
