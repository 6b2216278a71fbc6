import { type Mapping, type Operation, withV1Values } from '../tables/operation.ts'
import type { CostOf } from './cost.ts'
import { sampleOf } from './sample.ts'
import type { Summary, UnknownRequest } from './summary/summary.ts'
import type { Counted } from './traffic/recorded-traffic.ts'

/** Gathers the counts in records and logs of the proxy until all of them are read. */
export interface CountedItems {
  add(item: Counted): void
  /** Hands everything over to the summary. */
  finish(): void
}

interface Uses {
  /** Requests by client, from sums of traffic or from log lines. */
  readonly summed: Map<string, number>
  /** Requests by client that were recorded one by one. Sums include them where there are sums. */
  readonly single: Map<string, number>
  readonly shapes: Map<string, number>
}

export function createCounted(mappings: readonly Mapping[], cost: CostOf, summary: Summary): CountedItems {
  const known = new Map(withV1Values(mappings.flatMap(({ operations }) => operations)).map((operation) => [operation.id, operation]))
  const uses = new Map<string, Uses>()
  return {
    add({ operation, shape, times, client = '', at }) {
      summary.seenAt(at)
      const own = uses.get(operation) ?? { summed: new Map(), single: new Map(), shapes: new Map() }
      uses.set(operation, own)
      if (times > 0) own.summed.set(client, (own.summed.get(client) ?? 0) + times)
      else own.single.set(client, (own.single.get(client) ?? 0) + 1)
      if (shape !== undefined) own.shapes.set(shape, (own.shapes.get(shape) ?? 0) + 1)
    },
    finish() {
      for (const [id, { summed, single, shapes }] of uses) {
        const operation = known.get(id)
        const mean = operation && meanCost(operation, shapes, cost)
        for (const [client, times] of summed.size > 0 ? summed : single) {
          const use = { times, client: client === '' ? undefined : client }
          if (PASSED.has(id)) summary.native(use)
          else if (operation && mean) summary.operation({ ...use, operation, cost: mean })
          else summary.unknown(use, unknownOf(id))
        }
      }
    },
  }
}

/** The names of requests and of gRPC calls that passed to v2 untranslated. */
const PASSED: ReadonlySet<string> = new Set(['native', 'grpc'])

/** Returns the method and path of a request that v1 answered and no table has, as far as they are recorded. */
function unknownOf(id: string): UnknownRequest {
  const [, method, path] = /^unknown (\S+) (.*)$/s.exec(id) ?? []
  const isKnown = method !== undefined && path !== undefined
  const named = isKnown ? { method, path } : { method: '', path: `(${id === 'unknown' ? 'not recorded' : id})` }
  return { ...named, why: 'no operation', answered: isKnown || id === 'unknown' }
}

/** Returns the mean cost of the recorded shapes, or the cost of the operation's plainest request if there are none. */
function meanCost(operation: Operation, shapes: ReadonlyMap<string, number>, cost: CostOf) {
  const weighed = shapes.size > 0 ? [...shapes] : [[operation.id, 1] as const]
  const sum = { calls: 0, kept: 0, times: 0 }
  for (const [shape, times] of weighed) {
    const { calls, kept } = costOfShape(operation, shape, cost)
    sum.calls += times * calls
    sum.kept += times * kept
    sum.times += times
  }
  return { calls: sum.calls / sum.times, kept: sum.kept / sum.times }
}

/** The sample of a shape is made of classes of values, so it may be refused although the real request was not. */
function costOfShape(operation: Operation, shape: string, cost: CostOf) {
  const own = cost(operation, sampleOf(operation, shape))
  return own.refused ? cost(operation, sampleOf(operation)) : own
}
