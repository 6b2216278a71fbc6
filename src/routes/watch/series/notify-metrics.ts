import { Counter, Gauge, type Registry } from 'prom-client'
import type { NotifyCounts } from '../../../notify/notifier.ts'

/** Exposes what became of the events for `notify.url`. Without one, all are 0. */
export function watchNotify(counts: (() => NotifyCounts) | undefined, registers: Registry[]): void {
  new Counter({
    name: 'crosswalk_notifications_total',
    help: 'Events for notify.url by their end (sent, failed, dropped)',
    labelNames: ['end'],
    registers,
    collect() {
      this.reset()
      const { sent = 0, failed = 0, dropped = 0 } = counts?.() ?? {}
      for (const [end, value] of Object.entries({ sent, failed, dropped })) this.inc({ end }, value)
    },
  })
  new Gauge({
    name: 'crosswalk_notifications_waiting',
    help: 'Events that wait for notify.url to take them',
    registers,
    collect() {
      this.set(counts?.().waiting ?? 0)
    },
  })
}
