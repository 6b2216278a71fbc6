import net from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { startOwnTime } from '../stage/own-time.ts'
import { hasRedis } from '../stage/redis.ts'
import { until } from '../stage/until.ts'
import { adding, back, listen, open, refusal, start } from './failing-store.ts'

describe.runIf(hasRedis())('a Redis that fails', () => {
  it('is refused within its time when it is frozen, and is caught up with within 2 s', async () => {
    const redis = await start()
    const store = await open(redis.url)
    await store.replace('modes', 0, 'first')
    await store.exchange(adding('frozen'))
    redis.freeze()
    const replaced = await refusal(store.replace('modes', 1, 'second'))
    expect(replaced.sentence).toBe(`the store at ${redis.url} did not answer within 250 ms`)
    expect(replaced.ms).toBeLessThan(300)
    const batch = adding('frozen')
    const exchanged = await refusal(store.exchange(batch))
    expect(exchanged.ms).toBeLessThan(1100)
    for (let time = 0; time < 3; time += 1) expect((await refusal(store.exchange(batch))).ms).toBeLessThan(1100)
    redis.thaw()
    expect(await back(store, batch)).toBeLessThan(2000)
    const [sums, modes] = await store.read([
      { kind: 'sums', name: 'frozen' },
      { kind: 'document', name: 'modes' },
    ])
    // The batch was sent four times, and counts once. What was refused to a person does not come true later.
    expect(sums?.value).toEqual({ n: 2 })
    expect(modes?.value).toEqual({ version: 1, text: 'first' })
  })

  it('is refused at once when it is dead, and has everything again with its file', async () => {
    const redis = await start({ settings: { appendonly: 'yes', appendfsync: 'always' } })
    const store = await open(redis.url)
    await store.exchange(adding('dead'))
    const known = (await store.read([{ kind: 'sums', name: 'dead' }]))[0]?.stamp ?? 0
    await redis.kill()
    const batch = adding('dead')
    await refusal(store.exchange(batch))
    const dead = await until(async () => {
      const { sentence, ms } = await refusal(store.exchange(batch))
      return sentence.includes('nothing listens') && { sentence, ms }
    })
    expect(dead.sentence).toBe(
      `the store at ${redis.url} cannot be reached: nothing listens (127.0.0.1:${redis.port}); start Redis there, or correct store.url`,
    )
    expect(dead.ms).toBeLessThan(50)
    expect((await refusal(store.replace('modes', 0, ''))).ms).toBeLessThan(50)
    await redis.start()
    expect(await back(store, batch)).toBeLessThan(2000)
    const [found] = await store.read([{ kind: 'sums', name: 'dead', known }])
    expect(found?.value).toEqual({ n: 2 })
  })

  it('says that it lost everything, by the stamp 0', async () => {
    const redis = await start()
    const store = await open(redis.url)
    await store.exchange(adding('lost'))
    const [before] = await store.read([{ kind: 'sums', name: 'lost' }])
    await redis.kill()
    await redis.start()
    await back(store, { ...adding('another'), reads: [] })
    expect(await store.read([{ kind: 'sums', name: 'lost', known: before?.stamp ?? 0 }])).toEqual([{ stamp: 0, value: {} }])
  })

  it('is there for a replica that started before it', async () => {
    const redis = await start()
    await redis.kill()
    const took = startOwnTime()
    const store = await open(redis.url)
    expect(took()).toBeLessThan(1200)
    await refusal(store.exchange(adding('early')))
    await redis.start()
    expect(await back(store, adding('early'))).toBeLessThan(2000)
  })

  it('lets a replica start while it is frozen', async () => {
    const redis = await start()
    redis.freeze()
    const took = startOwnTime()
    const store = await open(redis.url)
    expect(took()).toBeLessThan(1200)
    await refusal(store.exchange(adding('cold')))
    redis.thaw()
    expect(await back(store, adding('cold'))).toBeLessThan(2000)
  })

  it('is refused within its time when each answer takes a second', async () => {
    const redis = await start()
    const port = await listen((socket) => {
      const behind = net.connect(redis.port, '127.0.0.1').on('error', () => {})
      socket.on('data', (data) => void delay(500).then(() => behind.write(data)))
      behind.on('data', (data) => void delay(500).then(() => socket.destroyed || socket.write(data)))
      socket.on('close', () => behind.destroy())
    })
    const store = await open(`redis://127.0.0.1:${port}`)
    for (let time = 0; time < 3; time += 1) {
      expect((await refusal(store.exchange(adding('slow')))).ms).toBeLessThan(1100)
      expect((await refusal(store.replace('modes', 0, ''))).ms).toBeLessThan(300)
    }
  })

  it('keeps nothing of what it did not answer, because its connection is closed', async () => {
    const redis = await start()
    let isFrozen = false
    let closed = 0
    const port = await listen((socket) => {
      const behind = net.connect(redis.port, '127.0.0.1').on('error', () => {})
      socket.on('data', (data) => isFrozen || behind.write(data))
      behind.on('data', (data) => socket.destroyed || socket.write(data))
      socket.on('close', () => {
        closed += 1
        behind.destroy()
      })
    })
    const store = await open(`redis://127.0.0.1:${port}`)
    await store.exchange(adding('kept'))
    isFrozen = true
    const batch = adding('kept')
    for (let time = 0; time < 2; time += 1) await refusal(store.exchange(batch))
    await until(async () => closed > 0, 'the connection is closed')
    isFrozen = false
    expect(await back(store, batch)).toBeLessThan(2000)
    expect((await store.read([{ kind: 'sums', name: 'kept' }]))[0]?.value).toEqual({ n: 2 })
  })
})
