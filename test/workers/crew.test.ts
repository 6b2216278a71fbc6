import { expect, it } from 'vitest'
import { createCrew, DEATHS, type WorkerProcess } from '../../src/app/server/workers.ts'

/** Node 20 has no `Promise.withResolvers`. */
function withResolvers<T>() {
  let [resolve, reject]: [(value: T) => void, (reason: Error) => void] = [() => {}, () => {}]
  const promise = new Promise<T>((...both) => {
    ;[resolve, reject] = both
  })
  return { promise, resolve, reject }
}

/** A worker that a test moves by hand. */
interface Puppet extends WorkerProcess {
  listen(): void
  fail(reason: string): void
  die(ending: string): void
  readonly asked: string[]
}

function puppet(place: number): Puppet {
  const listens = withResolvers<void>()
  const ended = withResolvers<string>()
  listens.promise.catch(() => {})
  const asked: string[] = []
  return {
    place,
    listens: listens.promise,
    left: ended.promise,
    ended: ended.promise,
    leave: (isReplaced) => void asked.push(isReplaced ? 'leave, you are replaced' : 'leave'),
    kill() {
      asked.push('end')
      ended.resolve('signal SIGKILL')
    },
    listen: listens.resolve,
    fail: (reason) => listens.reject(new Error(reason)),
    die: ended.resolve,
    asked,
  }
}

/** Lets every promise that is settled be noticed. */
const settled = () => new Promise<void>((resolve) => void setImmediate(resolve))

function stage(workers: number) {
  const forked: Puppet[] = []
  const said: string[] = []
  const clock = { now: 0 }
  const fork = (place: number) => {
    const worker = puppet(place)
    forked.push(worker)
    return worker
  }
  const crew = createCrew({ workers, fork, ticks: () => clock.now, warn: (text) => said.push(text), givenUp: (text) => said.push(text) })
  const started = async () => {
    const starting = crew.start()
    for (const worker of forked) worker.listen()
    await starting
  }
  const nth = (at: number) => forked[at] as Puppet
  const places = () => crew.listening().map(({ place }) => place)
  return { crew, forked, said, clock, started, nth, places }
}

it('starts when all workers listen', async () => {
  const { crew, nth, places } = stage(2)
  let isStarted = false
  const starting = crew.start().then(() => {
    isStarted = true
  })
  nth(0).listen()
  await settled()
  expect(isStarted).toBe(false)
  nth(1).listen()
  await starting
  expect(places()).toEqual([1, 2])
})

it.each([
  ['cannot listen', (worker: Puppet) => worker.fail('Port 80 is taken'), 'Port 80 is taken'],
  ['ends', (worker: Puppet) => worker.die('exit code 7'), 'worker 2 ended with exit code 7'],
])('leaves no worker behind if one %s at the start', async (_, goWrong, reason) => {
  const { crew, forked, nth } = stage(3)
  const starting = crew.start()
  nth(0).listen()
  goWrong(nth(1))
  await expect(starting).rejects.toThrow(reason)
  expect(nth(2).asked).toEqual(['end'])
  expect(forked).toHaveLength(3)
})

it('replaces a worker that dies, in its place', async () => {
  const { forked, said, started, nth, places } = stage(2)
  await started()
  nth(0).die('signal SIGKILL')
  await settled()
  expect(places()).toEqual([2])
  expect(forked.map(({ place }) => place)).toEqual([1, 2, 1])
  expect(said).toEqual(['worker 1 ended with signal SIGKILL and is replaced'])
  nth(2).listen()
  await settled()
  expect(places()).toEqual([2, 1])
})

it('gives up after five deaths within a minute, and replaces nobody then', async () => {
  const { forked, said, clock, started, nth } = stage(1)
  await started()
  for (let death = 0; death < DEATHS.most; death += 1) {
    nth(death).die('exit code 1')
    await settled()
    clock.now += 10_000
  }
  expect(said.at(-1)).toBe('5 workers ended within a minute, the last with exit code 1')
  expect(forked).toHaveLength(DEATHS.most)
})

it('does not give up while deaths are rare', async () => {
  const { forked, clock, started, nth } = stage(1)
  await started()
  for (let death = 0; death < 2 * DEATHS.most; death += 1) {
    nth(death).die('exit code 1')
    await settled()
    clock.now += DEATHS.withinMs / 4
  }
  expect(forked).toHaveLength(2 * DEATHS.most + 1)
})

it('replaces workers one by one, each after its successor listens', async () => {
  const { crew, forked, said, started, nth, places } = stage(2)
  await started()
  const rolled = crew.roll()
  expect(forked).toHaveLength(3)
  expect(nth(0).asked).toEqual([])
  nth(2).listen()
  await settled()
  expect(nth(0).asked).toEqual(['leave, you are replaced'])
  expect(forked).toHaveLength(3)
  nth(0).die('exit code 0')
  await settled()
  nth(3).listen()
  await settled()
  nth(1).die('exit code 0')
  await rolled
  expect(places()).toEqual([1, 2])
  expect(said).toEqual([])
})

it('keeps the workers that are there if a successor cannot listen', async () => {
  const { crew, forked, said, started, nth, places } = stage(2)
  await started()
  const rolled = crew.roll()
  nth(2).fail('tls.cert is no certificate')
  nth(2).die('exit code 1')
  await expect(rolled).rejects.toThrow('worker 1 was not replaced: tls.cert is no certificate')
  expect(places()).toEqual([1, 2])
  expect(forked).toHaveLength(3)
  expect(said).toEqual([])
})

it('lets all workers finish, and replaces nobody then', async () => {
  const { crew, forked, started, nth } = stage(2)
  await started()
  const retired = crew.retire()
  expect(forked.map(({ asked }) => asked)).toEqual([['leave'], ['leave']])
  nth(0).die('exit code 0')
  nth(1).die('exit code 0')
  await retired
  expect(forked).toHaveLength(2)
})
