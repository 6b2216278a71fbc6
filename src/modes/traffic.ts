import type { Inventory } from '../diff/clients/inventory.ts'
import type { Caller, Entry } from '../diff/records/record.ts'
import type { Recorder } from '../diff/records/recorder.ts'
import type { Mode } from './choose/mode.ts'

/** Counts which caller uses which operation. */
export interface TrafficCounter {
  use(caller: Caller, operation: string, mode: Mode): void
  /** Records the counts since the last flush. */
  flush(): void
}

type Counted = Omit<Extract<Entry, { readonly kind: 'traffic' }>, 'at' | 'calls'> & { calls: number }

/** Records calls as sums: one line for each call would outnumber the comparisons. `now` returns milliseconds since 1970. */
export function createTraffic(inventory: Inventory, recorder: Recorder, now: () => number): TrafficCounter {
  /** By caller, operation and mode. */
  const since = new Map<string, Map<string, Map<string, Counted>>>()
  return {
    use(caller, operation, mode) {
      inventory.use(caller, { operation, mode, at: now() })
      const modes = within(within(since, caller.caller), operation)
      const counted = modes.get(mode)
      if (counted) counted.calls += 1
      else modes.set(mode, { kind: 'traffic', ...caller, operation, mode, calls: 1 })
    },
    flush() {
      const at = new Date(now()).toISOString()
      for (const operations of since.values()) {
        for (const modes of operations.values()) for (const counted of modes.values()) recorder.record({ ...counted, at })
      }
      since.clear()
    },
  }
}

function within<T>(maps: Map<string, Map<string, T>>, key: string): Map<string, T> {
  const known = maps.get(key)
  if (known) return known
  const made = new Map<string, T>()
  maps.set(key, made)
  return made
}
