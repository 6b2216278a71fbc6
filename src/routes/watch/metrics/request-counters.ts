import { Counter, type CounterConfiguration, type Registry } from 'prom-client'
import type { RequestRecord } from '../../../serve/core.ts'
import type { RequestOutcome } from '../../../serve/watch/access-log.ts'

/** The sums of one operation. */
interface OperationCounts {
  /** Requests by mode and outcome. */
  readonly requests: Map<string, Record<RequestOutcome, number>>
  calls: number
  parsedPages: number
  dropped: number
}

/** Counts requests by hand and updates the counters on demand: see `createDurations`. */
export function createRequestCounters(registry: Registry) {
  const counts = new Map<string, OperationCounts>()
  const registers = [registry]
  const labelNames = ['operation'] as const
  new Counter({
    name: 'crosswalk_requests_total',
    help: 'Requests by operation, mode and outcome',
    labelNames: ['operation', 'mode', 'outcome'],
    registers,
    collect() {
      this.reset()
      for (const [operation, { requests }] of counts) {
        for (const [mode, outcomes] of requests) {
          for (const [outcome, count] of Object.entries(outcomes)) if (count > 0) this.inc({ operation, mode, outcome }, count)
        }
      }
    },
  })
  const sum = (name: string, help: string, of: (count: OperationCounts) => number) => {
    const collect: CounterConfiguration<'operation'>['collect'] = function () {
      this.reset()
      for (const [operation, count] of counts) if (of(count) > 0) this.inc({ operation }, of(count))
    }
    new Counter({ name, help, labelNames, registers, collect })
  }
  sum('crosswalk_v2_calls_total', 'Calls made to v2', ({ calls }) => calls)
  sum('crosswalk_parsed_pages_total', PARSED, ({ parsedPages }) => parsedPages)
  sum('crosswalk_unknown_parameters_total', DROPPED, ({ dropped }) => dropped)
  return {
    add({ operation, mode, calls, parsedPages, dropped }: RequestRecord, outcome: RequestOutcome) {
      const count = counts.get(operation) ?? { requests: new Map(), calls: 0, parsedPages: 0, dropped: 0 }
      counts.set(operation, count)
      const outcomes = count.requests.get(mode) ?? { ok: 0, refused: 0, cancelled: 0, failed: 0 }
      count.requests.set(mode, outcomes)
      outcomes[outcome] += 1
      count.calls += calls
      count.parsedPages += parsedPages
      count.dropped += dropped.length
    },
  }
}

const PARSED = 'Answers of v2 (pages of lists, single rows) that were not as the fast path expects them and were parsed instead'

const DROPPED = 'Query parameters that were dropped because the operation does not know them'
