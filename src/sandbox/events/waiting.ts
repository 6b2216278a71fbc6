import type { Clock } from '../world/clock.ts'

/** Tasks that wait for their time on the sandbox's clock. They can all be cancelled at once. */
export type Waiting = {
  readonly add: (ms: number, task: () => void) => void
  readonly size: () => number
  readonly clear: () => void
}

/** Creates an empty set of tasks. */
export const createWaiting = (clock: Clock): Waiting => {
  const cancels = new Set<() => void>()
  return {
    add: (ms, task) => {
      const cancel = clock.after(ms, () => {
        cancels.delete(cancel)
        task()
      })
      cancels.add(cancel)
    },
    size: () => cancels.size,
    clear: () => {
      for (const cancel of cancels) cancel()
      cancels.clear()
    },
  }
}
