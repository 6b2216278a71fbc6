import { Gauge, type Registry } from 'prom-client'
import type { Agent } from 'undici'
import type { Health } from '../../../serve/upstream/health.ts'

const POOL_STATES = ['connected', 'free', 'pending', 'queued', 'running'] as const

export function watchPool(pool: Agent, registers: Registry[]): void {
  new Gauge({
    name: 'crosswalk_pool',
    help: 'Connections (connected, free) and requests (pending, queued, running) of the pool, by origin',
    labelNames: ['origin', 'state'],
    registers,
    collect() {
      this.reset()
      for (const [origin, stats] of Object.entries(pool.stats)) {
        const known = stats as Partial<Record<(typeof POOL_STATES)[number], number | boolean>>
        for (const state of POOL_STATES) this.set({ origin, state }, Number(known[state] ?? 0))
      }
    },
  })
}

export function watchHealth(health: () => Promise<Health>, registers: Registry[]): void {
  new Gauge({
    name: 'crosswalk_upstream_up',
    help: '1 where the service answers its ping as it should',
    labelNames: ['service'],
    registers,
    aggregator: 'min',
    async collect() {
      const { pulses } = await health()
      for (const { service, problem } of pulses) this.set({ service }, problem === undefined ? 1 : 0)
    },
  })
}
