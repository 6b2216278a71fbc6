import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../errors.ts'
import type { JsonObject } from '../tables/json.ts'
import { countOf, isRowText } from '../tables/text/engine.ts'
import { type Make, type Reply, ROWS, type RowsTurn, run, type Taker, type Turn } from '../tables/turn.ts'
import type { CallLimits } from './send-call.ts'
import { begun, endOf, type Rows, textOf, type Written, writtenOf } from './written.ts'

/** Limits of one v1 request, named as in the configuration. */
export interface AnswerLimits extends CallLimits {
  /** The number of rows held back so that an error can still change the status. A longer list is streamed. */
  readonly bufferedRows: number
  /** The maximum number of rows in one list. */
  readonly rowsPerRequest: number
}

type Headers = Readonly<Record<string, string | string[]>>

/**
 * An answer in v1's form: a value, its JSON text, or a stream of pieces of that. A stream's failure must break the connection (design §4).
 */
export type Answer =
  | { readonly status: number; readonly headers: Headers; readonly body: unknown }
  | { readonly status: number; readonly headers: Headers; readonly written: Written }
  | { readonly status: number; readonly headers: Headers; readonly stream: AsyncIterable<Uint8Array> }

/** Takes an answer, or the error that the request ends with instead. */
export interface TakeAnswer {
  done(answer: Answer): void
  failed(thrown: unknown): void
}

/** Runs an operation and turns its result into an answer. A list of more than `bufferedRows` rows is streamed. */
export function answer(begin: () => Turn, make: Make, limits: AnswerLimits, answered: TakeAnswer): void {
  run(begin, make, new Answering(make, limits, answered))
}

/** Gathers the rows of one answer. A class, because every request has one. */
class Answering implements Taker {
  readonly #make: Make
  readonly #limits: AnswerLimits
  readonly #answered: TakeAnswer
  readonly #held: Rows[]
  #count: number

  constructor(make: Make, limits: AnswerLimits, answered: TakeAnswer) {
    this.#make = make
    this.#limits = limits
    this.#answered = answered
    this.#held = []
    this.#count = 0
  }

  rows(turn: RowsTurn): boolean {
    this.#held.push(turn.rows)
    this.#count += countOf(turn.rows)
    if (this.#count > this.#limits.rowsPerRequest) this.failed(tooManyRows(this.#limits))
    else if (this.#count <= this.#limits.bufferedRows) return true
    else this.#answered.done({ status: 200, headers: {}, stream: this.#streamed(turn) })
    return false
  }

  ended(reply: Reply): void {
    this.#answered.done(whole(reply, this.#held))
  }

  failed(thrown: unknown): void {
    this.#answered.failed(thrown)
  }

  #streamed(turn: RowsTurn): AsyncGenerator<Uint8Array> {
    return streamed(this.#held, turn, this.#make, { count: this.#count, limits: this.#limits })
  }
}

function tooManyRows({ rowsPerRequest }: AnswerLimits): ApiError {
  const message = `this list holds more rows than limits.rowsPerRequest (${rowsPerRequest}) allows; narrow its filter or raise the limit`
  return new ApiError('FAILED_PRECONDITION', message)
}

const NO_HEADERS = {}

function whole({ status, headers = NO_HEADERS, body, rows }: Reply, held: readonly Rows[]): Answer {
  if (!rows) return { status, headers, body }
  if (held.every((batch) => !isRowText(batch))) return { status, headers, body: { [ROWS]: held.flat(), ...(body as JsonObject) } }
  return { status, headers, written: writtenOf(held, body) }
}

interface Progress {
  /** Rows so far. */
  readonly count: number
  readonly limits: AnswerLimits
}

/**
 * Yields `{"items":[…rows…], …rest}` one batch at a time; the event loop serves others in between.
 * The generator continues the operation only when a piece is asked for. A client that does not read therefore stops its own calls.
 */
async function* streamed(held: Rows[], from: RowsTurn, make: Make, { count, limits }: Progress): AsyncGenerator<Uint8Array> {
  yield* begun(held)
  held.length = 0
  let rows = count
  let turn = await after(from, make)
  while ('next' in turn) {
    rows += countOf(turn.rows)
    if (rows > limits.rowsPerRequest) throw tooManyRows(limits)
    if (countOf(turn.rows) > 0) yield textOf(turn.rows)
    await setImmediate()
    turn = await after(turn, make)
  }
  yield Buffer.from(endOf(turn.body))
}

/** Returns the next rows, or the reply. */
function after(turn: RowsTurn, make: Make): Promise<RowsTurn | Reply> {
  return new Promise((resolve, reject) => {
    const taker: Taker = {
      rows(rows) {
        resolve(rows)
        return false
      },
      ended: resolve,
      failed: reject,
    }
    run(turn.next, make, taker)
  })
}
