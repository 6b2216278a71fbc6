import { setTimeout as delay } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { processorMs, startOwnTime } from './clocks.ts'

/** Takes the processor away from this thread. */
const sleep = (ms: number) => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)

function compute(ms: number): void {
  const before = process.cpuUsage()
  while (process.cpuUsage(before).user < 1000 * ms);
}

it('does not count the time in which the process had no processor', () => {
  const took = startOwnTime()
  sleep(300)
  expect(took()).toBeLessThan(150)
})

it('counts the time in which the process computes', () => {
  const took = startOwnTime()
  compute(100)
  expect(took()).toBeGreaterThan(80)
})

it('counts the time in which the process waits for an event', async () => {
  const took = startOwnTime()
  await delay(300)
  expect(took()).toBeGreaterThan(30)
})

it('measures processor time alone', () => {
  expect(processorMs(() => sleep(300))).toBeLessThan(150)
  expect(processorMs(() => compute(20))).toBeGreaterThan(15)
})
