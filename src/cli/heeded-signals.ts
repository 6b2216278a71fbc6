import type { Process } from './command.ts'

type Signals = Pick<Process, 'untilStopped' | 'onHangup'>

/**
 * Listens to signals from now on, for a command that runs until it is stopped. What is asked for while it starts is done once it has:
 * without a listener, a signal would end the process at once.
 */
export function heededSignals({ untilStopped, onHangup }: Signals, heeds: 'SIGHUP' | undefined): Signals {
  const stopped = untilStopped()
  if (heeds === undefined || !onHangup) return { untilStopped: () => stopped }
  let isDue = false
  let take = () => {
    isDue = true
  }
  onHangup(() => take())
  return {
    untilStopped: () => stopped,
    onHangup(listener) {
      take = listener
      if (isDue) listener()
    },
  }
}
