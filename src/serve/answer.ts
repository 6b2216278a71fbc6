import { setImmediate } from 'node:timers/promises'
import { ApiError, asApiError, type ErrorForm, invalidArgument, MOST_VIOLATIONS, toV1 } from '../errors.ts'
import type { JsonObject } from '../tables/json.ts'
import type { Env, Operation, V1Request } from '../tables/operation.ts'
import { spellings } from '../tables/query.ts'
import { countOf, isRowText } from '../tables/text/engine.ts'
import {
  type AskTurn,
  type Call,
  type CallReceiver,
  type Executor,
  type OutcomeReceiver,
  type Reply,
  ROWS,
  type RowsTurn,
  run,
  type Turn,
} from '../tables/turn.ts'
import { type CallLimits, ManyCalls, type Send, tooManyCalls } from './calls.ts'

/** JSON text: pieces of its bytes. A short one is a text with a letter for each byte (Latin-1). */
export type JsonText = readonly Buffer[] | string

/** The bytes of a written text. */
export function bytesOf(text: JsonText): readonly Buffer[] {
  return typeof text === 'string' ? [Buffer.from(text, 'latin1')] : text
}

/** The number of its bytes. */
export function lengthOf(text: JsonText): number {
  if (typeof text === 'string') return text.length
  let length = 0
  for (const piece of text) length += piece.length
  return length
}

/** One batch of rows. */
export type Rows = RowsTurn['rows']

const BEGIN_TEXT = `{${JSON.stringify(ROWS)}:[`
/** The first piece of a list that is written here. The others hold whole rows; those of a service may end anywhere. */
export const BEGIN = Buffer.from(BEGIN_TEXT)
const END = ']}'

/** The part after the rows: the rest of the envelope, which most lists do not have. */
export function endOf(body: unknown): string {
  const rest = JSON.stringify(body).slice(1)
  return rest === '}' ? END : `],${rest}`
}

/** Returns the beginning of an answer and the rows so far. */
export function begun(held: readonly Rows[]): Buffer[] {
  const pieces: Buffer[] = [BEGIN]
  for (const rows of held) {
    if (countOf(rows) > 0) pieces.push(pieces.length === 1 ? textOf(rows).subarray(1) : textOf(rows))
  }
  return pieces
}

/** Writes the rows, each after a comma. */
export function textOf(rows: Rows): Buffer {
  if (!isRowText(rows)) return Buffer.from(rows.map((row) => `,${JSON.stringify(row)}`).join(''))
  return typeof rows.bytes === 'string' ? Buffer.from(rows.bytes, 'latin1') : rows.bytes
}

/** Limits of one v1 request, named as in the configuration. */
interface AnswerLimits extends CallLimits {
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
  | { readonly status: number; readonly headers: Headers; readonly text: JsonText }
  | { readonly status: number; readonly headers: Headers; readonly stream: AsyncIterable<Uint8Array> }

const NO_HEADERS = {}

/**
 * Answers one request from v2: makes the calls of its operation (`run`), and turns its result into an answer. A list of more than
 * `bufferedRows` rows is streamed. A class, because every request has one.
 */
export abstract class Answering implements Executor {
  readonly #limits: AnswerLimits
  readonly #held: Rows[]
  #count: number
  #made: number
  /** Undefined while each turn had one call. */
  #many: ManyCalls | undefined

  constructor(limits: AnswerLimits) {
    this.#limits = limits
    this.#held = []
    this.#count = 0
    this.#made = 0
    this.#many = undefined
  }

  /** Takes the answer. */
  abstract done(answer: Answer): void

  /** Takes the error that the request ends with instead. */
  abstract failed(thrown: unknown): void

  /** Makes one call; see `Send`. */
  abstract send(call: Call, receiver: CallReceiver): void

  sendCalls(turn: AskTurn, receiver: OutcomeReceiver): void {
    const [only] = turn.calls
    const limits = this.#limits
    if (this.#many || !only || turn.calls.length > 1 || turn.ahead) {
      this.#many ??= new ManyCalls((call, receiver) => this.send(call, receiver), limits, this.#made)
      this.#many.sendCalls(turn, receiver)
    } else if (this.#made === limits.callsPerRequest) receiver.failed(tooManyCalls(this.#made))
    else {
      this.#made += 1
      try {
        this.send(only, receiver)
      } catch (error) {
        receiver.failed(error as Error)
      }
    }
  }

  rows(turn: RowsTurn): boolean {
    this.#held.push(turn.rows)
    this.#count += countOf(turn.rows)
    if (this.#count > this.#limits.rowsPerRequest) this.failed(tooManyRows(this.#limits))
    else if (this.#count <= this.#limits.bufferedRows) return true
    else this.done({ status: 200, headers: {}, stream: this.#streamed(turn) })
    return false
  }

  ended({ status, headers = NO_HEADERS, body, rows }: Reply): void {
    const held = this.#held
    const [only] = held
    if (!rows) this.done({ status, headers, body })
    else if (held.length === 1 && only && isRowText(only) && typeof only.bytes === 'string') {
      const end = endOf(body)
      const rest = end === END ? end : Buffer.from(end).toString('latin1')
      this.done({ status, headers, text: `${BEGIN_TEXT}${only.bytes.slice(1)}${rest}` })
    } else if (held.some(isRowText)) this.done({ status, headers, text: [...begun(held), Buffer.from(endOf(body))] })
    else this.done({ status, headers, body: { [ROWS]: held.flat(), ...(body as JsonObject) } })
  }

  #streamed(turn: RowsTurn): AsyncGenerator<Uint8Array> {
    return streamed(this.#held, turn, (asked, receiver) => this.sendCalls(asked, receiver), { count: this.#count, limits: this.#limits })
  }
}

function tooManyRows({ rowsPerRequest }: AnswerLimits): ApiError {
  const message = `this list holds more rows than limits.rowsPerRequest (${rowsPerRequest}) allows; narrow the filter or raise the limit`
  return new ApiError('FAILED_PRECONDITION', message)
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
async function* streamed(
  held: Rows[],
  from: RowsTurn,
  sendCalls: Executor['sendCalls'],
  { count, limits }: Progress,
): AsyncGenerator<Uint8Array> {
  yield* begun(held)
  held.length = 0
  let rows = count
  let turn = await after(from, sendCalls)
  while ('next' in turn) {
    rows += countOf(turn.rows)
    if (rows > limits.rowsPerRequest) throw tooManyRows(limits)
    if (countOf(turn.rows) > 0) yield textOf(turn.rows)
    await setImmediate()
    turn = await after(turn, sendCalls)
  }
  yield Buffer.from(endOf(turn.body))
}

/** Returns the next rows, or the reply. */
function after(turn: RowsTurn, sendCalls: Executor['sendCalls']): Promise<RowsTurn | Reply> {
  return new Promise((resolve, reject) => {
    const executor: Executor = {
      sendCalls,
      rows(rows) {
        resolve(rows)
        return false
      },
      ended: resolve,
      failed: reject,
    }
    run(turn.next, executor)
  })
}

export interface TranslateSettings extends Env {
  readonly unknownParameters: 'drop' | 'refuse'
  readonly limits: AnswerLimits
  /** How the API writes errors; as a gRPC gateway unless it is given. */
  readonly errors?: ErrorForm | undefined
}

/** Returns the first turn of a request. Throws the ApiError with which the tables refuse it. */
export function begin(operation: Operation, request: V1Request, settings: TranslateSettings): Turn {
  if (!operation.begin) throw new Error(`operation ${operation.id} has no plan`)
  if (settings.unknownParameters === 'refuse') refuseUnknown(operation, request)
  return operation.begin(request, settings)
}

/** Answers one v1 request from v2: runs its operation from its first turn, and turns every error into v1's form. Never rejects. */
export function translated(operation: Operation, first: () => Turn, send: Send, settings: TranslateSettings): Promise<Answer> {
  return new Promise((done) => {
    const failed = (thrown: unknown) => done(refusal(operation, settings, asApiError(thrown)))
    answer(first, send, settings.limits, { done, failed })
  })
}

/** Takes an answer, or the error that the request ends with instead. */
interface TakeAnswer {
  done(answer: Answer): void
  failed(thrown: unknown): void
}

/** Runs an operation and turns its result into an answer, where no client waits for it. */
export function answer(first: () => Turn, send: Send, limits: AnswerLimits, answered: TakeAnswer): void {
  run(first, new Unwatched(send, limits, answered))
}

class Unwatched extends Answering {
  readonly send: Send
  readonly done: TakeAnswer['done']
  readonly failed: TakeAnswer['failed']

  constructor(send: Send, limits: AnswerLimits, { done, failed }: TakeAnswer) {
    super(limits)
    this.send = send
    this.done = done
    this.failed = failed
  }
}

/** The answer to a request that ends with an error, in v1's form. */
export function refusal(
  { missing, status, type, empty, fieldName }: Operation,
  { dialect, notFound, errors }: TranslateSettings,
  error: ApiError,
): Answer {
  return toV1(error, { missing, status, type, empty: empty(dialect), fieldName }, notFound, errors)
}

const NONE: readonly string[] = []

const known = new WeakMap<Operation, ReadonlySet<string>>()

/** Returns the query parameters that the operation does not know. v1 ignored them, so Crosswalk drops them (design §3). */
export function unknownParameters(operation: Operation, { query }: Pick<V1Request, 'query'>): readonly string[] {
  let names = known.get(operation)
  if (!names) {
    names = new Set([...Object.keys(operation.params), ...operation.ownParams].flatMap(spellings))
    known.set(operation, names)
  }
  if (query.size === 0) return NONE
  return [...query.keys()].filter((name) => !names.has(name))
}

function refuseUnknown(operation: Operation, request: V1Request): void {
  const names = unknownParameters(operation, request).slice(0, MOST_VIOLATIONS)
  if (names.length > 0) throw invalidArgument(...names.map((field) => ({ field, description: 'is not a parameter of this operation' })))
}
