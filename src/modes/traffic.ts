import type { Inventory } from '../diff/inventory.ts'
import type { Caller, Entry } from '../diff/record.ts'
import type { Recorder } from '../diff/recorder.ts'
import type { Mode } from './mode.ts'

/** Counts who calls what. */
export interface Traffic {
  use(caller: Caller, operation: string, mode: Mode): void
  /** Records what was counted since the last time. */
  flush(): void
}

type Counted = Extract<Entry, { readonly kind: 'traffic' }>

/** Calls are recorded as sums, because a line for each would drown the comparisons. `now` is a time in milliseconds since 1970. */
export function createTraffic(inventory: Inventory, recorder: Recorder, now: () => number): Traffic {
  const since = new Map<string, Omit<Counted, 'at'>>()
  return {
    use(caller, operation, mode) {
      inventory.use({ ...caller, operation, mode, at: now() })
      const key = `${caller.caller} ${operation} ${mode}`
      const calls = (since.get(key)?.calls ?? 0) + 1
      since.set(key, { kind: 'traffic', ...caller, operation, mode, calls })
    },
    flush() {
      const at = new Date(now()).toISOString()
      for (const entry of since.values()) recorder.record({ ...entry, at })
      since.clear()
    },
  }
}
