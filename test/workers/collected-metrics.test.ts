import { Counter, Registry } from 'prom-client'
import { expect, it } from 'vitest'
import { metricsText } from '../../src/admin/metrics-text.ts'
import { createCollectedMetrics, type MeasuredWorker } from '../../src/app/server/workers.ts'

/** A worker that counts to a number. */
function counting() {
  const registry = new Registry()
  const counter = new Counter({ name: 'requests_total', help: 'Requests', registers: [registry] })
  // Between processes, values are copied.
  const metrics = async () => structuredClone(await registry.getMetricsAsJSON())
  return { place: 1, metrics, count: (requests: number) => counter.inc(requests) }
}

function collected(...present: MeasuredWorker[]) {
  const inTime = <T>(promise: Promise<T>) =>
    Promise.race([promise, new Promise<undefined>((resolve) => void setImmediate(() => resolve(undefined)))])
  const metrics = createCollectedMetrics({ workers: () => present, listening: () => present.length, inTime })
  const text = async () => metricsText(await metrics.values([]), 'prometheus')
  const requests = async () => /^requests_total (\d+)$/m.exec(await text())?.[1]
  const leave = (worker: MeasuredWorker, isDeath: boolean) => {
    present.splice(present.indexOf(worker), 1)
    metrics.ended(worker, isDeath)
  }
  return { ...metrics, present, text, requests, leave }
}

it('counts what a worker said last, when it has died', async () => {
  const [one, other] = [counting(), counting()]
  const { collect, leave, requests, text } = collected(one, other)
  one.count(3)
  other.count(4)
  await collect()
  one.count(100)
  leave(one, true)
  expect(await requests()).toBe('7')
  expect(await text()).toContain('crosswalk_worker_deaths_total 1')
})

it('counts all that a worker served which was let go', async () => {
  const [one, other] = [counting(), counting()]
  const { said, leave, requests } = collected(one, other)
  one.count(3)
  const late = requests()
  one.count(4)
  said(one, await one.metrics())
  await late
  leave(one, false)
  expect(await requests()).toBe('7')
})

it('does not wait for a worker that does not answer', async () => {
  const hanging = counting()
  hanging.count(5)
  let isHanging = false
  const worker = { place: 1, metrics: () => (isHanging ? new Promise<never>(() => {}) : hanging.metrics()) }
  const { requests } = collected(worker)
  expect(await requests()).toBe('5')
  isHanging = true
  expect(await requests()).toBe('5')
})
