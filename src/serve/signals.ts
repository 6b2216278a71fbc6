/** Anything that closes once: a response, an HTTP/2 stream. It emits `close` however it ended. */
export interface Closing {
  on(event: 'close', listener: () => void): unknown
}

/** A close listener. It is also a node of a linked list, so it can watch only one thing. */
export interface OnClose {
  over(): void
  next: OnClose | undefined
}

const FIRST = Symbol('first')
const LAST = Symbol('last')

/**
 * Calls a listener on close, after earlier ones. Half a dozen places need this for every request.
 * They share one listener, because Node's listeners cost more than the work that most of them do.
 */
export function whenClosed(ending: Closing, over: OnClose): void {
  const known = ending as Closing & { [FIRST]?: OnClose | undefined; [LAST]?: OnClose | undefined }
  if (known[LAST]) known[LAST].next = over
  else {
    known[FIRST] = over
    ending.on('close', () => {
      for (let each = known[FIRST]; each; each = each.next) each.over()
      // Node keeps a stream of HTTP/2 for some time after its end, and with it what it holds.
      known[FIRST] = undefined
      known[LAST] = undefined
    })
  }
  known[LAST] = over
}

/**
 * Wraps an event handler so that it cannot throw: an exception would end the process and every other request.
 * `thrown` takes the exception and the handler's arguments, and ends what the event was about.
 */
export function guarded<A extends unknown[]>(handler: (...given: A) => void, thrown: (error: unknown, ...given: A) => void) {
  return (...given: A): void => {
    try {
      handler(...given)
    } catch (error) {
      thrown(error, ...given)
    }
  }
}

/** A listener as an AbortSignal takes it. */
type AbortListener = (() => void) | { handleEvent(): void }

/**
 * The part of an AbortSignal that is used here. Every request has one, and a real AbortSignal, an EventTarget, costs up to a tenth of a
 * small request. `abortSignalOf` makes one for libraries.
 */
export interface Signal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: AbortListener): void
  removeEventListener(type: 'abort', listener: AbortListener): void
}

/** A Signal that fires once; later calls have no effect. It is a class because every request has one. */
export class Firing implements Signal {
  aborted = false
  reason: unknown
  // One or two listeners at a time, so a list costs less than a set.
  readonly #listeners: AbortListener[] = []

  addEventListener(_: 'abort', listener: AbortListener): void {
    this.#listeners.push(listener)
  }

  removeEventListener(_: 'abort', listener: AbortListener): void {
    const at = this.#listeners.lastIndexOf(listener)
    if (at >= 0 && at === this.#listeners.length - 1) this.#listeners.pop()
    else if (at >= 0) this.#listeners.splice(at, 1)
  }

  /** Forgets all listeners, because nobody waits any more. */
  forget(): void {
    this.#listeners.length = 0
  }

  abort(reason: Error): void {
    if (this.aborted) return
    this.aborted = true
    this.reason = reason
    for (const listener of [...this.#listeners]) {
      if (typeof listener === 'function') listener()
      else listener.handleEvent()
    }
  }
}

/** Returns a signal that fires with another one or after `ms` milliseconds; `end` releases both. */
export function within(signal: Signal, ms: number, late: () => Error): { readonly signal: Signal; end(): void } {
  const over = new Firing()
  const give = () => over.abort(signal.reason as Error)
  const timer = setTimeout(() => over.abort(late()), ms)
  if (signal.aborted) give()
  else signal.addEventListener('abort', give)
  return {
    signal: over,
    end() {
      clearTimeout(timer)
      signal.removeEventListener('abort', give)
    },
  }
}

/** Returns an AbortSignal that fires with the signal, for the same reason. */
export function abortSignalOf(signal: Signal): AbortSignal {
  if (signal instanceof AbortSignal) return signal
  if (signal.aborted) return AbortSignal.abort(signal.reason)
  const controller = new AbortController()
  signal.addEventListener('abort', () => controller.abort(signal.reason))
  return controller.signal
}
