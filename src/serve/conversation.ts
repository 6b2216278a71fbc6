import { asApiError } from '../errors.ts'
import type { ClientRequest } from '../request/request.ts'
import type { Call } from '../tables/turn.ts'
import type { CallSpan } from '../tracing/tracing.ts'
import type { Answer, TakeAnswer } from '../translate/answer.ts'
import { refusal } from '../translate/translated.ts'
import type { CallContext, CallWatch } from '../upstream/v2/call-context.ts'
import type { AnswerDecision } from './choose.ts'
import type { Core } from './core.ts'
import type { RequestRecord } from './request-record.ts'
import type { Side } from './sides.ts'

/** A request that Crosswalk answers itself. */
export interface Serving {
  readonly decision: AnswerDecision
  readonly request: ClientRequest
  readonly record: RequestRecord
}

/** Writes answers in the client's protocol. */
export interface Writer {
  /** Takes the answer and the side that gave it. `isOwn`: nobody else reads the answer, now or later. */
  write(answer: Answer, by: Side, isOwn: boolean): void
  /** Takes the error that the request ends with instead. */
  failed(thrown: unknown): void
}

/**
 * The conversation of one request with v2. It names the caller, watches the calls and takes the answer. A class, because every request has one.
 */
export class Conversation implements CallContext, TakeAnswer {
  readonly headers: CallContext['headers']
  readonly credential: string
  readonly requestId: string
  readonly signal: CallContext['signal']
  readonly #core: Core
  readonly #serving: Serving
  readonly #writer: Writer

  constructor(core: Core, serving: Serving, writer: Writer) {
    const { request, record } = serving
    this.headers = request.raw.headers
    this.credential = request.credential
    this.requestId = record.id
    this.signal = request.signal
    this.#core = core
    this.#serving = serving
    this.#writer = writer
  }

  onAsk(): void {
    this.#serving.record.asked = true
  }

  onWritten(): void {
    this.#serving.record.written = true
  }

  onCall(call: Call): CallWatch {
    return new WatchedCall(this.#core, this.#serving, call)
  }

  onParsed(): void {
    this.#serving.record.parsedPages += 1
  }

  done(answer: Answer): void {
    this.#writer.write(answer, 'v2', true)
  }

  /** Answers with an error in v1's form. */
  failed(thrown: unknown): void {
    const { request, record } = this.#serving
    const error = asApiError(thrown)
    record.error = error
    this.done(refusal(request.operation, this.#core.settings, error))
  }
}

/** Counts and times one call, and makes it a child of the request's span. A class, because every call has one. */
class WatchedCall implements CallWatch {
  readonly traceparent: string | undefined
  readonly #core: Core
  readonly #request: ClientRequest
  readonly #started: number
  readonly #span: CallSpan | undefined

  constructor(core: Core, { request, record }: Serving, { method, path }: Call) {
    record.calls += 1
    this.#core = core
    this.#request = request
    this.#started = performance.now()
    this.#span = record.span?.call(method, path)
    this.traceparent = this.#span?.traceparent
  }

  ended(status: number | undefined): void {
    const { modes, endCall } = this.#core
    endCall(status, (performance.now() - this.#started) / 1000, this.#span?.recorded)
    this.#span?.end(status)
    if (status !== undefined) modes.heard(this.#request.operation, this.#request.credential, status)
  }
}
