import { ApiError } from '../errors.ts'
import type { CallSignal } from './call-signal.ts'
import type { Inflated } from './framing/gzip.ts'
import { failureStatus } from './status/wire-failure.ts'
import type { WireCall, WireHandler, WireReply } from './wire-call.ts'

/** One call, and the way back to its client, whichever protocol carries it. */
export interface Carried {
  readonly call: Omit<WireCall, 'message' | 'signal'>
  readonly signal: CallSignal
  /** Reads the message. Rejects with the ApiError for what is wrong with the request. */
  read(): Promise<Inflated>
  /** Sends the answer, if the client is still there. */
  write(reply: WireReply): void | Promise<void>
}

/** Serves one call. The client gets exactly one answer, at the latest when the signal fires, unless the handler may answer later. */
export function carry(carried: Carried, handler: WireHandler, failed: (error: unknown) => void): Promise<void> {
  return new Carrying(carried, failed).serve(handler)
}

/** A call until it has its answer. It is a class because every call has one. */
class Carrying {
  #isAnswered: boolean
  readonly #carried: Carried
  readonly #failed: (error: unknown) => void

  constructor(carried: Carried, failed: (error: unknown) => void) {
    this.#isAnswered = false
    this.#carried = carried
    this.#failed = failed
  }

  async serve(handler: WireHandler): Promise<void> {
    const { call, signal } = this.#carried
    const { path, protocol, codec, headers, timeoutMs, isGet } = call
    if (signal.aborted) return this.handleEvent()
    signal.addEventListener('abort', this)
    let inflated: Inflated | undefined
    try {
      inflated = await this.#carried.read()
      if (signal.aborted) return
      await this.#answer(await handler({ path, protocol, codec, headers, message: inflated.message, timeoutMs, isGet, signal }))
    } catch (thrown) {
      this.#fail(thrown)
    } finally {
      inflated?.release()
    }
  }

  /** The signal has fired, or the client has left a call that went on without it. */
  handleEvent(): void {
    const { signal } = this.#carried
    if (signal.isOver()) this.#fail(signal.reason)
    else signal.client().addEventListener('abort', this)
  }

  #fail(thrown: unknown): void {
    if (!(thrown instanceof ApiError)) this.#failed(thrown)
    this.#answer({ status: failureStatus(thrown) })?.catch(this.#failed)
  }

  #answer(reply: WireReply): void | Promise<void> {
    if (this.#isAnswered) return
    this.#isAnswered = true
    this.#carried.signal.answered()
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
