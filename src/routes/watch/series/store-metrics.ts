import { type Aggregator, Counter, Gauge, type Registry } from 'prom-client'
import { liveIn } from '../../../fleet/exchange.ts'
import type { Fleet, FleetState } from '../../../fleet/fleet.ts'
import { createDurations } from '../metrics/histogram.ts'

export interface StoreMetricsSources {
  readonly fleet: Pick<Fleet, 'state' | 'replicas' | 'unread'>
  onExchange(listener: (isAnswered: boolean, seconds: number) => void): void
}

/** Seconds: from a store on the same machine to one that does not answer in time. */
const BUCKETS = [0.001, 0.005, 0.02, 0.1, 0.5, 2]

/** Exposes how this replica stands with the store. Only replicas of a fleet have these metrics. */
export function watchStore({ fleet, onExchange }: StoreMetricsSources, registry: Registry): void {
  const registers = [registry]
  const gauge = (name: string, help: string, aggregator: Aggregator, read: (state: FleetState) => number) =>
    new Gauge({
      name,
      help,
      aggregator,
      registers,
      collect() {
        this.set(read(fleet.state()))
      },
    })
  gauge('crosswalk_store_up', '1 while the store answers', 'min', ({ succeeded, problem }) =>
    succeeded > 0 && problem === undefined ? 1 : 0,
  )
  gauge('crosswalk_store_silent_seconds', 'Time since the store last answered', 'max', ({ silentMs }) => silentMs / 1000)
  gauge('crosswalk_store_waiting', 'Observations that the store does not have yet', 'sum', ({ waiting }) => waiting)
  gauge('crosswalk_replicas', 'Replicas that the store heard of in the last seconds', 'first', () => liveIn(fleet))
  new Gauge({
    name: 'crosswalk_store_foreign_key',
    help: '1 for the key that somebody else wrote in the store, so that it takes nothing',
    labelNames: ['key'],
    aggregator: 'max',
    registers,
    collect() {
      this.reset()
      const { foreignKey } = fleet.state()
      if (foreignKey !== undefined) this.set({ key: foreignKey }, 1)
    },
  })
  new Counter({
    name: 'crosswalk_store_dropped_total',
    help: 'Observations that had no room while the store did not answer, by kind (clean, bad)',
    labelNames: ['kind'],
    registers,
    collect() {
      this.reset()
      const { dropped, lost } = fleet.state()
      this.inc({ kind: 'clean' }, dropped)
      this.inc({ kind: 'bad' }, lost)
    },
  })
  const durations = createDurations(registry, {
    name: 'crosswalk_store_exchange_duration_seconds',
    help: 'Time of an exchange with the store, by its end (answered, failed)',
    label: 'end',
    buckets: BUCKETS,
  })
  onExchange((isAnswered, seconds) => durations.observe(isAnswered ? 'answered' : 'failed', seconds))
}
