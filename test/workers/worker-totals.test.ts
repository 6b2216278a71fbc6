import { expect, it } from 'vitest'
import { configWith } from '../../src/app/config/config.ts'
import { settingsOfWorker, WORKER_TOTALS } from '../../src/app/config/live.ts'

it('divides each total among the workers, and nothing else', () => {
  const whole = configWith({})
  const worker = settingsOfWorker(whole, 2)
  const changed = Object.keys(whole).filter((key) => worker[key as keyof typeof worker] !== whole[key as keyof typeof whole])
  expect(changed.sort()).toEqual([...WORKER_TOTALS].sort())
  expect(worker['limits.requestsInFlight']).toBe(whole['limits.requestsInFlight'] / 2)
})

it.each([1, 2, 3, 7, 64, 256])('never gives %i workers more than the setting, unless that is less than one each', (workers) => {
  const whole = configWith({})
  for (const key of WORKER_TOTALS) {
    const one = settingsOfWorker(whole, workers)[key]
    const least = key === 'limits.bodiesBytes' ? whole['limits.requestBytes'] : 1
    expect(one, key).toBeGreaterThanOrEqual(Math.min(least, whole[key]))
    if (one > least) expect(workers * one, key).toBeLessThanOrEqual(whole[key])
  }
})

it('leaves 0 as it is: none, or unlimited', () => {
  expect(settingsOfWorker(configWith({ 'diff.perSecond': 0, 'limits.requestsInFlight': 0 }), 4)).toMatchObject({
    'diff.perSecond': 0,
    'limits.requestsInFlight': 0,
  })
})
