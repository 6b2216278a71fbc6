import { EventEmitter } from 'node:events'
import { describe, expect, it } from 'vitest'
import { exitCodeOf } from '../../../src/app/cli/command.ts'
import { createLine, errorOf, failureOf, SENT } from '../../../src/app/server/line.ts'
import { createCrew, DEATHS, UNANSWERED, type WorkerProcess, watchPulse } from '../../../src/app/server/workers.ts'
import { misuse } from '../../../src/errors.ts'
import { manualClocks, until } from '../../stage/clocks.ts'

describe('crew', () => {
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
    /** Answers pings. */
    answer(): void
    die(ending: string): void
    readonly asked: string[]
  }

  function puppet(place: number): Puppet {
    const listens = withResolvers<void>()
    const ended = withResolvers<string>()
    const answered = withResolvers<void>()
    listens.promise.catch(() => {})
    const asked: string[] = []
    return {
      place,
      listens: listens.promise,
      left: ended.promise,
      ended: ended.promise,
      leave: (isReplaced) => void asked.push(isReplaced ? 'leave, you are replaced' : 'leave'),
      offPort: () => void asked.push('off the port'),
      ping() {
        if (asked.at(-1) !== 'ping') asked.push('ping')
        return answered.promise
      },
      answer: () => answered.resolve(),
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

  function stage(workers: number, drainMs = 1) {
    const forked: Puppet[] = []
    const said: string[] = []
    const clock = { now: 0 }
    const fork = (place: number) => {
      const worker = puppet(place)
      forked.push(worker)
      return worker
    }
    const say = (text: string) => said.push(text)
    const crew = createCrew({ workers, fork, ticks: () => clock.now, drainMs: () => drainMs, warn: say, givenUp: say })
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
    expect(await rolled).toBe(true)
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

  it('does not say that all were replaced if they leave meanwhile', async () => {
    const { crew, started, nth } = stage(1)
    await started()
    const rolled = crew.roll()
    const retired = crew.retire()
    nth(1).fail('it was killed')
    nth(0).die('exit code 0')
    await retired
    expect(await rolled).toBe(false)
  })

  it('lets all workers finish, replaces nobody then, and waits for nobody who has gone', async () => {
    const { crew, forked, started, nth } = stage(2, 600_000)
    await started()
    const retired = crew.retire()
    expect(forked.map(({ asked }) => asked)).toEqual([['leave'], ['leave']])
    nth(0).die('exit code 0')
    nth(1).die('exit code 0')
    await retired
    expect(forked).toHaveLength(2)
  })

  it('closes the port when each worker has taken what was sent to it', async () => {
    const { crew, started, nth } = stage(2)
    await started()
    const retired = crew.retire()
    await until(async () => nth(1).asked.includes('ping'), 'they are asked')
    nth(0).answer()
    await settled()
    expect([nth(0).asked, nth(1).asked]).toEqual([
      ['leave', 'ping'],
      ['leave', 'ping'],
    ])
    nth(1).answer()
    await until(async () => nth(1).asked.at(-1) === 'off the port', 'the port is closed')
    expect(nth(0).asked).toContain('off the port')
    nth(0).die('exit code 0')
    nth(1).die('exit code 0')
    await retired
  })

  it('ends a worker that is still starting when all leave', async () => {
    const { crew, said, started, nth } = stage(2)
    await started()
    nth(0).die('signal SIGKILL')
    await settled()
    const retired = crew.retire()
    nth(1).answer()
    expect([nth(1).asked[0], nth(2).asked]).toEqual(['leave', ['end']])
    await until(async () => nth(1).asked.at(-1) === 'off the port', 'the port is closed')
    nth(1).die('exit code 0')
    await retired
    expect(said).toHaveLength(1)
  })
})

describe('pulse', () => {
  const SECOND = 1000

  /** A worker that answers pings, or does not. */
  function stage() {
    const clocks = manualClocks()
    const said: string[] = []
    const state = { answers: true, pings: 0, kills: 0 }
    let listen = () => {}
    let die = (_: string) => {}
    const listens = new Promise<void>((resolve) => {
      listen = resolve
    })
    const ended = new Promise<string>((resolve) => {
      die = resolve
    })
    const kill = () => {
      state.kills += 1
    }
    const ping = () => {
      state.pings += 1
      return state.answers ? Promise.resolve() : new Promise(() => {})
    }
    watchPulse({ place: 2, listens, ended, ping, kill }, { repeat: clocks.repeat, warn: (text) => void said.push(text) })
    return { clocks, said, state, listen, die: () => die('exit code 0') }
  }

  it('leaves a worker alone that answers', async () => {
    const { clocks, said, state, listen } = stage()
    listen()
    await clocks.pass(60 * SECOND)
    expect([state.kills, said]).toEqual([0, []])
  })

  it('kills a worker once that answers no ping in a row of ten, and says so', async () => {
    const { clocks, said, state, listen } = stage()
    listen()
    await clocks.pass(5 * SECOND)
    state.answers = false
    await clocks.pass(UNANSWERED * SECOND)
    expect(state.kills).toBe(0)
    await clocks.pass(10 * SECOND)
    expect(state.kills).toBe(1)
    expect(said).toEqual(['worker 2 has answered no ping for 10 seconds: its event loop stands, so it is killed'])
  })

  it('forgives a worker that answers again in time', async () => {
    const { clocks, state, listen } = stage()
    listen()
    for (let times = 0; times < 5; times += 1) {
      state.answers = false
      await clocks.pass((UNANSWERED - 2) * SECOND)
      state.answers = true
      await clocks.pass(2 * SECOND)
    }
    expect(state.kills).toBe(0)
  })

  it('asks nothing before the worker listens, and nothing after its end', async () => {
    const { clocks, state, listen, die } = stage()
    state.answers = false
    await clocks.pass(60 * SECOND)
    expect([state.pings, state.kills]).toEqual([0, 0])
    listen()
    await clocks.pass(3 * SECOND)
    die()
    await clocks.pass(60 * SECOND)
    expect([state.pings, state.kills]).toEqual([3, 0])
  })
})

describe('line', () => {
  /** Two ends of one channel. Messages are copied, as between processes. */
  function channel() {
    const [one, other] = [new EventEmitter(), new EventEmitter()]
    const to = (end: EventEmitter) => (message: unknown) => {
      const copy = structuredClone(message)
      setImmediate(() => end.emit('message', copy))
    }
    return [Object.assign(one, { send: to(other) }), Object.assign(other, { send: to(one) })] as const
  }

  it('answers questions, whatever their order', async () => {
    const [here, there] = channel()
    const [asking, answering] = [createLine(here), createLine(there)]
    const held: (() => void)[] = []
    answering.on('double', (value) => new Promise((resolve) => void held.push(() => resolve(2 * (value as number)))))
    const answers = Promise.all([asking.ask('double', 1), asking.ask('double', 2)])
    while (held.length < 2) await new Promise((resolve) => void setImmediate(resolve))
    for (const release of held.reverse()) release()
    expect(await answers).toEqual([2, 4])
  })

  it('passes a problem on to the side that asked', async () => {
    const [here, there] = channel()
    createLine(there).on('fail', () => {
      throw new Error('there is no such thing')
    })
    await expect(createLine(here).ask('fail')).rejects.toThrow('there is no such thing')
  })

  it('keeps apart what a user can mend and other failures of a start', () => {
    const codes = [misuse('OTEL_EXPORTER_OTLP_ENDPOINT is wrong.'), new Error('x')].map((error) => exitCodeOf(errorOf(failureOf(error))))
    expect(codes).toEqual([2, 1])
  })

  it('ignores messages of others', async () => {
    const [here, there] = channel()
    const line = createLine(here)
    createLine(there).on('name', () => 'mine')
    there.send({ cmd: 'NODE_CLUSTER' })
    there.send(undefined)
    expect(await line.ask('name')).toBe('mine')
  })

  it('rejects what waits, and what comes later, when the other side is gone', async () => {
    const [here, there] = channel()
    const line = createLine(here)
    createLine(there).on('never', () => new Promise(() => {}))
    const asked = line.ask('never')
    line.end()
    await expect(asked).rejects.toThrow('the other process is gone')
    await expect(line.ask('never')).rejects.toThrow('the other process is gone')
  })

  it.each([
    ['no hint', undefined],
    ['a hint of another form', { lines: 5, waiting: 'x' }],
    ['a very large one', { lines: Array.from({ length: 100_000 }, () => 1), waiting: 0 }],
  ])('tells of a hint that its listener does not take: %s', async (_, value) => {
    const [here, there] = channel()
    const wrong: string[] = []
    const line = createLine(here, (topic) => wrong.push(topic))
    line.on('records', (sent) => SENT.records.parse(sent))
    const other = createLine(there)
    other.tell('records', value)
    await expect(other.ask('records', value)).rejects.toThrow()
    expect(wrong).toEqual(['records'])
  })

  it.each([
    ['metrics', [{ name: 'a', values: [{ value: 1, labels: {} }] }], [{ name: 'a', values: 5 }]],
    ['metrics', [{ name: 'a', values: [{ value: Number.NaN, labels: {} }] }], [{ name: 'a', values: [{ value: '1', labels: {} }] }]],
    ['failed', { message: 'a', code: 'EADDRINUSE' }, null],
    ['listens', 'http://127.0.0.1:1', { toString: 1 }],
    ['records', { lines: ['a'], waiting: 0 }, { lines: [{}], waiting: 0 }],
  ] as const)('takes of a worker only what %s may be', (topic, right, wrong) => {
    expect([SENT[topic].safeParse(right).success, SENT[topic].safeParse(wrong).success]).toEqual([true, false])
  })
})
