import { setImmediate } from 'node:timers/promises'
import { ApiError } from '../errors/api-error.ts'
import type { JsonObject } from '../tables/json.ts'
import { type Outcome, type Plan, type Reply, ROWS } from '../tables/plan/plan.ts'
import { countOf, isRowText, type RowText } from '../tables/text/row-text.ts'
import { type CallLimits, createCalls, type Send } from './calls.ts'

/** Bounds of one v1 request; the names are those of the configuration. */
export interface PlanLimits extends CallLimits {
  /** Rows kept back so that an error can still change the status; a longer list is streamed. */
  readonly bufferedRows: number
  /** Rows that one list may hold. */
  readonly rowsPerRequest: number
}

/** JSON text, written already: pieces of its bytes, or, when it is short, a text with a letter for each byte (Latin-1). */
export type Written = readonly Buffer[] | string

type Headers = Readonly<Record<string, string>>

/** A v1 answer ready to be sent: a value, its text, or pieces of that to come, whose failure must break the connection (design §4). */
export type Answer =
  | { readonly status: number; readonly headers: Headers; readonly body: unknown }
  | { readonly status: number; readonly headers: Headers; readonly written: Written }
  | { readonly status: number; readonly headers: Headers; readonly stream: AsyncIterable<Uint8Array> }

/** The bytes of a written text. */
export function bytesOf(written: Written): readonly Buffer[] {
  return typeof written === 'string' ? [Buffer.from(written, 'latin1')] : written
}

type Rows = readonly JsonObject[] | RowText

type Progress = { readonly rows: Rows } | { readonly reply: Reply }

/** The next rows that a plan sends on, or its reply; at once when no call has to be made for it. */
type Next = () => Progress | Promise<Progress>

/** Runs a plan: makes its calls with `send`, gives it the outcomes, and turns its reply into an answer. Throws what the plan throws. */
export async function execute(plan: Plan, send: Send, limits: PlanLimits): Promise<Answer> {
  const next = run(plan, send, limits)
  const held: Rows[] = []
  let rows = 0
  for (;;) {
    const going = next()
    const step = going instanceof Promise ? await going : going
    if ('reply' in step) return whole(step.reply, held)
    held.push(step.rows)
    rows += countOf(step.rows)
    if (rows > limits.bufferedRows) return { status: 200, headers: {}, stream: streamed(held, next) }
  }
}

/** Moves the plan on whenever it is called, and not before: a client that does not read holds up its own calls. */
function run(plan: Plan, send: Send, limits: PlanLimits): Next {
  const make = createCalls(send, limits)
  let rows = 0
  const go = (outcomes: readonly Outcome[]): Progress | Promise<Progress> => {
    const step = plan.next(outcomes)
    if (step.done) return { reply: step.value }
    if (step.value.kind === 'ask') return make(step.value).then(go)
    rows += countOf(step.value.rows)
    if (rows > limits.rowsPerRequest) throw tooManyRows(limits.rowsPerRequest)
    return step.value
  }
  return () => go([])
}

function tooManyRows(limit: number): ApiError {
  const message = `this list holds more rows than limits.rowsPerRequest (${limit}) allows; narrow its filter or raise the limit`
  return new ApiError('FAILED_PRECONDITION', message)
}

const NO_HEADERS = {}

/** A reply that stands by itself. */
export function answerOf(reply: Reply, { rowsPerRequest }: PlanLimits): Answer {
  const { status, headers = NO_HEADERS, body, text } = reply
  if (!text) return whole(reply, [])
  if (text.count > rowsPerRequest) throw tooManyRows(rowsPerRequest)
  return { status, headers, written: writtenOf([text], body) }
}

function whole({ status, headers = NO_HEADERS, body, rows }: Reply, held: readonly Rows[]): Answer {
  if (!rows) return { status, headers, body }
  if (held.every((batch) => !isRowText(batch))) return { status, headers, body: { [ROWS]: held.flat(), ...(body as JsonObject) } }
  return { status, headers, written: writtenOf(held, body) }
}

function writtenOf(held: readonly Rows[], body: unknown): Written {
  const [only] = held
  if (held.length === 1 && only && isRowText(only) && typeof only.bytes === 'string') {
    return `${BEGIN_TEXT}${only.bytes.slice(1)}${latin1Of(endOf(body))}`
  }
  return [...begun(held), Buffer.from(endOf(body))]
}

const BEGIN_TEXT = `{${JSON.stringify(ROWS)}:[`
const BEGIN = Buffer.from(BEGIN_TEXT)
const END = ']}'

/** What follows the rows: the rest of the envelope. */
function endOf(body: unknown): string {
  if (isEmpty(body)) return END
  const rest = JSON.stringify(body).slice(1)
  return rest === '}' ? END : `],${rest}`
}

/** Most envelopes hold nothing but their rows. */
function isEmpty(body: unknown): boolean {
  for (const _ in body as object) return false
  return true
}

/** A letter for each byte of the text. */
function latin1Of(text: string): string {
  return text === END ? text : Buffer.from(text).toString('latin1')
}

/** `{"items":[…rows…], …rest}` piece by piece, one for each batch; between two of them the event loop serves others. */
async function* streamed(held: Rows[], next: Next): AsyncGenerator<Uint8Array> {
  yield* begun(held)
  held.length = 0
  for (;;) {
    const step = await next()
    if ('reply' in step) {
      yield Buffer.from(endOf(step.reply.body))
      return
    }
    if (countOf(step.rows) > 0) yield textOf(step.rows)
    await setImmediate()
  }
}

/** The beginning of an answer and the rows that are there. */
function begun(held: readonly Rows[]): Buffer[] {
  const pieces: Buffer[] = [BEGIN]
  for (const rows of held) {
    if (countOf(rows) > 0) pieces.push(pieces.length === 1 ? textOf(rows).subarray(1) : textOf(rows))
  }
  return pieces
}

/** The rows, each with a comma before it. */
function textOf(rows: Rows): Buffer {
  if (!isRowText(rows)) return Buffer.from(rows.map((row) => `,${JSON.stringify(row)}`).join(''))
  return typeof rows.bytes === 'string' ? Buffer.from(rows.bytes, 'latin1') : rows.bytes
}
