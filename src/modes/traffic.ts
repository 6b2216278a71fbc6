import type { Inventory } from '../diff/clients/inventory.ts'
import type { KindOf, RequestKind, SampledKind } from '../diff/clients/request-kind.ts'
import type { Caller, TrafficEntry } from '../diff/records/record.ts'
import type { Recorder } from '../diff/records/recorder.ts'
import type { KeepRequest, Mode } from '../serve/sides.ts'

/** Counts which caller uses which operation. */
export interface TrafficCounter {
  /** Returns a function that takes the parameters of the request, if they are worth a look. */
  use(caller: Caller, operation: string, mode: Mode, protocol?: string): KeepRequest | undefined
  /** Records the counts since the last flush. */
  flush(): void
}

type Counted = Omit<TrafficEntry, 'at' | 'calls' | 'requests'> & { calls: number; requests?: (SampledKind & { samples: number })[] }

export interface TrafficSettings {
  readonly inventory: Inventory
  readonly recorder: Recorder
  readonly kindOf: KindOf
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Records calls as sums: one line for each call would outnumber the comparisons. */
export function createTraffic({ inventory, recorder, kindOf, now }: TrafficSettings): TrafficCounter {
  /** By caller, operation, and mode with protocol. */
  const since = new Map<string, Map<string, Map<string, Counted>>>()
  return {
    use(caller, operation, mode, protocol) {
      const isWorthALook = inventory.use(caller, { operation, mode, protocol, at: now() })
      const ways = within(within(since, caller.caller), operation)
      const way = protocol === undefined ? mode : `${mode} ${protocol}`
      const known = ways.get(way)
      const counted: Counted = known ?? {
        kind: 'traffic',
        ...caller,
        operation,
        mode,
        ...(protocol !== undefined && { protocol }),
        calls: 0,
      }
      counted.calls += 1
      if (!known) ways.set(way, counted)
      if (!isWorthALook) return undefined
      return (described, request) => {
        const kind = kindOf(described, request)
        inventory.look(caller.caller, operation, kind)
        addTo(counted, kind)
      }
    },
    flush() {
      const at = new Date(now()).toISOString()
      for (const operations of since.values()) {
        for (const ways of operations.values()) for (const counted of ways.values()) recorder.record({ ...counted, at })
      }
      since.clear()
    },
  }
}

/** Kinds of requests in one record. The inventory keeps no more of them. */
const KINDS = 8

function addTo(counted: Counted, kind: RequestKind): void {
  counted.requests ??= []
  const known = counted.requests.find(({ shape }) => shape === kind.shape)
  if (known) known.samples += 1
  else if (counted.requests.length < KINDS) counted.requests.push({ ...kind, samples: 1 })
}

function within<T>(maps: Map<string, Map<string, T>>, key: string): Map<string, T> {
  const known = maps.get(key)
  if (known) return known
  const made = new Map<string, T>()
  maps.set(key, made)
  return made
}
