import { describe, expect, it } from 'vitest'
import { createBudget } from '../../../src/migrate/modes/serve.ts'
import { createQueue, type Job } from '../../../src/migrate/observe/observe.ts'

const settings = { waiting: 2, characters: 100, parallel: 1, deadlineMs: 60_000 }

/** A job that ends on command, or when it is given up. */
function held() {
  let end = () => {}
  let begin = () => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  const job: Job = (signal) =>
    new Promise((resolve) => {
      begin()
      end = resolve
      signal.addEventListener('abort', () => resolve())
    })
  return { job, begun, end: () => end() }
}

describe('the queue', () => {
  it('drops and counts jobs beyond its number', async () => {
    const queue = createQueue(settings, () => {})
    const first = held()
    queue.offer(first.job, 0, 'a')
    await first.begun
    for (let nth = 0; nth < 3; nth++) queue.offer(async () => {}, 0, 'a')
    expect(queue.counts()).toEqual({ waiting: 2, running: 1, done: 0, dropped: 1, failed: 0 })
    first.end()
    await queue.idle()
    expect(queue.counts()).toEqual({ waiting: 0, running: 0, done: 3, dropped: 1, failed: 0 })
  })

  it('knows its places, and who has them', async () => {
    const { places, offer, idle } = createQueue({ ...settings, waiting: 5 }, () => {})
    for (const operation of ['a', 'b', 'a']) offer(async () => {}, 0, operation)
    expect([places.most, places.left(), places.usedBy('a'), places.usedBy('c')]).toEqual([5, 2, 2, 0])
    await idle()
    expect([places.left(), places.usedBy('a')]).toEqual([5, 0])
  })

  it('goes by bounds that change', async () => {
    const bounds = { ...settings, waiting: 0 }
    const queue = createQueue(bounds, () => {})
    expect([queue.refuses(0), queue.places.most]).toEqual([true, 0])
    bounds.waiting = 1
    expect([queue.refuses(0), queue.places.left()]).toEqual([false, 1])
    bounds.characters = 5
    expect([queue.refuses(6), queue.refuses(5)]).toEqual([true, false])
  })

  it('drops jobs beyond its size, also while a large one runs', async () => {
    const queue = createQueue(settings, () => {})
    const first = held()
    queue.offer(first.job, 99, 'a')
    await first.begun
    expect([queue.refuses(2), queue.refuses(1)]).toEqual([true, false])
    queue.offer(async () => {}, 1, 'a')
    expect([queue.refuses(1), queue.refuses(0)]).toEqual([true, false])
    first.end()
    await queue.idle()
    expect(queue.refuses(100)).toBe(false)
  })

  it('gives a job up at its deadline and continues', async () => {
    const queue = createQueue({ ...settings, deadlineMs: 5 }, () => {})
    queue.offer(held().job, 0, 'a')
    await queue.idle()
    expect(queue.counts()).toMatchObject({ done: 1, running: 0 })
  })

  it('survives a job that throws', async () => {
    const told: unknown[] = []
    const queue = createQueue(settings, (error) => told.push(error))
    queue.offer(
      async () => {
        throw new Error('ours')
      },
      0,
      'a',
    )
    queue.offer(async () => {}, 0, 'a')
    await queue.idle()
    expect(queue.counts()).toMatchObject({ done: 1, failed: 1 })
    expect(told).toEqual([new Error('ours')])
  })

  it('starts nothing before the caller has continued', () => {
    const queue = createQueue(settings, () => {})
    let begun = false
    queue.offer(
      async () => {
        begun = true
      },
      0,
      'a',
    )
    expect(begun).toBe(false)
  })

  it('gives up running jobs and drops waiting ones when it is closed', async () => {
    const queue = createQueue(settings, () => {})
    const first = held()
    queue.offer(first.job, 0, 'a')
    await first.begun
    queue.offer(async () => {}, 0, 'a')
    await queue.close()
    expect(queue.refuses(0)).toBe(true)
    expect(queue.counts()).toMatchObject({ waiting: 0, running: 0, dropped: 2 })
  })
})

it('a budget allows as many per minute as it says and fills evenly', () => {
  let now = 0
  const budget = createBudget(2, () => now)
  const take = (times: number) => Array.from({ length: times }, () => budget.take(false))
  expect(take(3)).toEqual([true, true, false])
  now = 30_000
  expect(take(2)).toEqual([true, false])
  now = 3_600_000
  expect(take(3)).toEqual([true, true, false])
  expect(budget.counts).toEqual({ taken: 5, refused: 3, walks: 0 })
  expect(createBudget(0, () => now).take(false)).toBe(false)
})

it('a budget reserves half of itself from strangers', () => {
  const budget = createBudget(4, () => 0)
  expect([true, true, true, false, false, false].map((isStranger) => budget.take(isStranger))).toEqual([
    true,
    true,
    false,
    true,
    true,
    false,
  ])
  expect([createBudget(1, () => 0).take(true), createBudget(0, () => 0).take(true)]).toEqual([true, false])
})
