import type { IncomingHttpHeaders } from 'node:http'
import { ApiError, asApiError, CODES } from '../../errors.ts'
import type { Deadline, Deadlines } from '../../serve/listen/times.ts'
import { type Closing, Firing, type OnClose, type Signal, whenClosed } from '../../serve/signals.ts'
import type { Inflated, WireSettings } from './framing.ts'
import { failureStatus } from './status.ts'

/** One unary call as a client sent it, whichever protocol carried it. Its message is bytes that the wire does not read. */
export interface WireCall {
  /** `/package.Service/Method`. */
  readonly path: string
  readonly protocol: 'grpc' | 'grpc-web' | 'connect'
  readonly codec: 'proto' | 'json'
  /** The client's headers, names in lower case. Values of `-bin` headers are still base64. */
  readonly headers: IncomingHttpHeaders
  /** The message without its frame, inflated; at most `requestBytes`. */
  readonly message: Buffer
  /** Milliseconds until the client gives up; undefined if it said nothing. */
  readonly timeoutMs: number | undefined
  /** True for a GET of Connect, which only methods without side effects serve. */
  readonly isGet: boolean
  /** Fires with an ApiError when the client goes away (CANCELLED) or its time is over (DEADLINE_EXCEEDED). */
  readonly signal: CallTimes
}

/** A google.rpc.Status. `type` is the full name of a message, as in `google.rpc.ErrorInfo`. */
export interface WireStatus {
  /** 1 to 16. */
  readonly code: number
  readonly message: string
  readonly details: readonly { readonly type: string; readonly value: Uint8Array }[]
}

/** Names and values of metadata; a repeated name has a list. Values of `-bin` names are base64. */
export type WireMetadata = Readonly<Record<string, string | readonly string[]>>

/**
 * The answer of a handler: the pieces of one message in the codec of the call, or an error. `isFramed` means that the pieces are any number
 * of messages with their frames, which only gRPC and gRPC-Web carry.
 */
export type WireReply = ({ readonly message: readonly Uint8Array[]; readonly isFramed?: true } | { readonly status: WireStatus }) & {
  readonly headers?: WireMetadata
  readonly trailers?: WireMetadata
}

/** Answers one call. A rejection with an ApiError is answered with its code; any other is INTERNAL and is reported. */
export type WireHandler = (call: WireCall) => Promise<WireReply>

/** What ends the work of a call. It fires with an ApiError. */
export interface CallTimes extends Signal {
  /**
   * Returns what fires for the client alone. From then on the time of `deadlines` ends the work, but not the call: the handler may still
   * answer, and the client waits for that.
   */
  client(): Signal
}

/**
 * Fires when the client goes away (CANCELLED), and when the time of the client or of `deadlines` is over (DEADLINE_EXCEEDED).
 * It is a class because every call has one.
 */
export class CallSignal extends Firing implements CallTimes, Deadline, OnClose {
  next: OnClose | undefined
  due: number
  older: Deadline | undefined
  newer: Deadline | undefined
  #isAnswered: boolean
  /** Why the client waits no more. */
  #left: Error | undefined
  #client: Firing | undefined
  readonly #timer: NodeJS.Timeout | undefined
  readonly #deadlines: Deadlines | undefined

  /** `ending` is the stream or the answer of the call; `timeoutMs` the time that the client gave. */
  constructor(ending: Closing, deadlines: Deadlines | undefined, timeoutMs: number | undefined) {
    super()
    this.next = undefined
    this.due = 0
    this.older = undefined
    this.newer = undefined
    this.#isAnswered = false
    this.#left = undefined
    this.#client = undefined
    this.#deadlines = deadlines
    this.#timer = timeoutMs === undefined || timeoutMs > LONGEST ? undefined : setTimeout(() => this.#leave(TOO_LATE), timeoutMs).unref()
    if (timeoutMs !== undefined && timeoutMs <= 0) this.#leave(TOO_LATE)
    deadlines?.watch(this)
    whenClosed(ending, this)
  }

  client(): Signal {
    if (this.#client) return this.#client
    this.#client = new Firing()
    if (this.#left) this.#client.abort(this.#left)
    return this.#client
  }

  /** True if the call is over, unless it has its answer: nobody waits for one, or the handler may not answer so late. */
  isOver(): boolean {
    return this.aborted && (this.#left !== undefined || this.#client === undefined)
  }

  late(): void {
    const allowed = `limits.deadlineMs (${this.#deadlines?.ms})`
    if (!this.#isAnswered) this.abort(new ApiError('DEADLINE_EXCEEDED', `the call took longer than ${allowed} allows`))
  }

  over(): void {
    this.#leave(GONE)
    this.answered()
  }

  #leave(because: { readonly code: 'CANCELLED' | 'DEADLINE_EXCEEDED'; readonly message: string }): void {
    if (this.#isAnswered || this.#left) return
    this.#left = new ApiError(because.code, because.message, { http: CODES.CANCELLED.http })
    this.#client?.abort(this.#left)
    this.abort(this.#left)
  }

  /** The call has its answer, so nothing fires any more. */
  answered(): void {
    this.#isAnswered = true
    this.forget()
    this.#client?.forget()
    this.#deadlines?.forget(this)
    clearTimeout(this.#timer)
  }
}

const GONE = { code: 'CANCELLED', message: 'the client went away' } as const
const TOO_LATE = { code: 'DEADLINE_EXCEEDED', message: 'the deadline of the call has passed' } as const

/** The most milliseconds that Node's timers can wait. */
const LONGEST = 2 ** 31 - 1

/** One call of a protocol, and the way back to its client. */
export interface Carried {
  readonly call: Omit<WireCall, 'message' | 'signal' | 'timeoutMs'>
  /** The header with the client's timeout, and what reads it. That throws an ApiError if it is malformed. */
  readonly timeout: string | undefined
  readonly readTimeout: (header: string | undefined) => number | undefined
  /** Reads the message. Rejects with the ApiError for what is wrong with the request. */
  read(signal: Signal): Promise<Inflated>
  /** Sends the answer, if the client is still there. */
  write(reply: WireReply): void | Promise<void>
  readonly noted: Noted
}

/** Where the error is noted that ends a call in place of its handler. */
export interface Noted {
  failure: ApiError | undefined
}

/**
 * Serves one call until `ending`, its stream or its answer, is closed. The client gets exactly one answer, at the latest when the signal
 * fires, unless the handler may answer later.
 */
export function carry(carried: Carried, ending: Closing, handler: WireHandler, { deadlines, failed }: WireSettings): void {
  try {
    const timeoutMs = carried.readTimeout(carried.timeout)
    const signal = new CallSignal(ending, deadlines, timeoutMs)
    new Carrying(carried, signal, failed).serve(handler, timeoutMs).catch(failed)
  } catch (thrown) {
    carried.noted.failure = asApiError(thrown)
    void carried.write({ status: failureStatus(thrown) })
  }
}

/** A call until it has its answer. It is a class because every call has one. */
class Carrying {
  #isAnswered: boolean
  readonly #carried: Carried
  readonly #signal: CallSignal
  readonly #failed: (error: unknown) => void

  constructor(carried: Carried, signal: CallSignal, failed: (error: unknown) => void) {
    this.#isAnswered = false
    this.#carried = carried
    this.#signal = signal
    this.#failed = failed
  }

  async serve(handler: WireHandler, timeoutMs: number | undefined): Promise<void> {
    const { path, protocol, codec, headers, isGet } = this.#carried.call
    const signal = this.#signal
    if (signal.aborted) return this.handleEvent()
    let inflated: Inflated | undefined
    try {
      inflated = await this.#carried.read(signal)
      if (signal.aborted) return this.handleEvent()
      signal.addEventListener('abort', this)
      await this.#answer(await handler({ path, protocol, codec, headers, message: inflated.message, timeoutMs, isGet, signal }))
    } catch (thrown) {
      this.#fail(thrown)
    } finally {
      inflated?.release()
    }
  }

  /** The signal has fired, or the client has left a call that went on without it. */
  handleEvent(): void {
    const signal = this.#signal
    if (signal.isOver()) this.#fail(signal.reason)
    else signal.client().addEventListener('abort', this)
  }

  #fail(thrown: unknown): void {
    if (!(thrown instanceof ApiError)) this.#failed(thrown)
    if (!this.#isAnswered) this.#carried.noted.failure = asApiError(thrown)
    this.#answer({ status: failureStatus(thrown) })?.catch(this.#failed)
  }

  #answer(reply: WireReply): void | Promise<void> {
    if (this.#isAnswered) return
    this.#isAnswered = true
    this.#signal.answered()
    try {
      return this.#carried.write(reply)?.catch((unwritable) => this.#rescue(unwritable))
    } catch (unwritable) {
      return this.#rescue(unwritable)
    }
  }

  #rescue(unwritable: unknown): void | Promise<void> {
    this.#failed(unwritable)
    return this.#carried.write({ status: failureStatus(unwritable) })
  }
}
