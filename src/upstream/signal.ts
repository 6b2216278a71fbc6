/**
 * What of an AbortSignal is listened to here. Every request has one, and a real AbortSignal, an EventTarget, costs as much as a tenth of a
 * small request; `abortSignalOf` makes one where a library wants it.
 */
export interface Signal {
  readonly aborted: boolean
  readonly reason: unknown
  addEventListener(type: 'abort', listener: () => void): void
  removeEventListener(type: 'abort', listener: () => void): void
}

/** A Signal and the function that fires it, once. */
export function createSignal(): { readonly signal: Signal; readonly abort: (reason: Error) => void } {
  // One or two at a time, so that a list costs less than a set.
  const listeners: (() => void)[] = []
  const signal = {
    aborted: false,
    reason: undefined as unknown,
    addEventListener: (_: 'abort', listener: () => void) => void listeners.push(listener),
    removeEventListener(_: 'abort', listener: () => void) {
      const at = listeners.lastIndexOf(listener)
      if (at >= 0) listeners.splice(at, 1)
    },
  }
  const abort = (reason: Error) => {
    if (signal.aborted) return
    signal.aborted = true
    signal.reason = reason
    for (const listener of [...listeners]) listener()
  }
  return { signal, abort }
}

/** An AbortSignal that fires with the signal, for the same reason. */
export function abortSignalOf(signal: Signal): AbortSignal {
  if (signal instanceof AbortSignal) return signal
  if (signal.aborted) return AbortSignal.abort(signal.reason)
  const controller = new AbortController()
  signal.addEventListener('abort', () => controller.abort(signal.reason))
  return controller.signal
}
