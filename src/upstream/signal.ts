/** As an AbortSignal takes it. */
export type AbortListener = (() => void) | { handleEvent(): void }

/**
 * What of an AbortSignal is listened to here. Every request has one, and a real AbortSignal, an EventTarget, costs as much as a tenth of a
 * small request; `abortSignalOf` makes one where a library wants it.
 */
export interface Signal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: AbortListener): void
  removeEventListener(type: 'abort', listener: AbortListener): void
}

/** A Signal that is fired here, once: every other time is without effect. A class because every request has one. */
export class Firing implements Signal {
  aborted = false
  reason: unknown
  // One or two at a time, so that a list costs less than a set.
  readonly #listeners: AbortListener[] = []

  addEventListener(_: 'abort', listener: AbortListener): void {
    this.#listeners.push(listener)
  }

  removeEventListener(_: 'abort', listener: AbortListener): void {
    const at = this.#listeners.lastIndexOf(listener)
    if (at >= 0 && at === this.#listeners.length - 1) this.#listeners.pop()
    else if (at >= 0) this.#listeners.splice(at, 1)
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

/** A signal that fires with another one, or when so many milliseconds are over; `end` lets go of both. */
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

/** An AbortSignal that fires with the signal, for the same reason. */
export function abortSignalOf(signal: Signal): AbortSignal {
  if (signal instanceof AbortSignal) return signal
  if (signal.aborted) return AbortSignal.abort(signal.reason)
  const controller = new AbortController()
  signal.addEventListener('abort', () => controller.abort(signal.reason))
  return controller.signal
}
