import { readFileSync } from 'node:fs'
import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { createRestedConnections } from '../../src/serve/listen/times.ts'
import { startProxy } from '../stage/proxy.ts'
import { startUpstream } from '../stage/upstream.ts'

describe('a refused connection', () => {
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  function setUp(perSecond: number) {
    const rests = createRestedConnections({ perSecond, longestMs: 1000 }, () => performance.now())
    const unread = new Set<number>()
    const refuse = (name: number) => rests.refused(sockets[name] as Socket)
    const sockets = Array.from({ length: 200 }, (_, name) => ({
      _handle: { readStop: () => void unread.add(name), readStart: () => void unread.delete(name) },
    })) as unknown as Socket[]
    return { rests, unread, refuse }
  }

  it('is read further while refusals are few', () => {
    const { refuse, unread } = setUp(100)
    for (let name = 0; name < 10; name++) refuse(name)
    expect(unread.size).toBe(0)
    refuse(10)
    expect([...unread]).toEqual([10])
  })

  it('resumes in its turn, so many a second', () => {
    const { refuse, unread } = setUp(100)
    for (let name = 0; name < 40; name++) refuse(name)
    expect(unread.size).toBe(30)
    vi.advanceTimersByTime(100)
    expect([...unread]).toEqual(Array.from({ length: 20 }, (_, at) => at + 20))
    vi.advanceTimersByTime(200)
    expect(unread.size).toBe(0)
  })

  it('resumes after the time it was told to wait, however many there are', () => {
    const { refuse, unread } = setUp(10)
    for (let name = 0; name < 200; name++) refuse(name)
    vi.advanceTimersByTime(990)
    expect(unread.size).toBeGreaterThan(180)
    vi.advanceTimersByTime(20)
    expect(unread.size).toBe(0)
  })

  it('rests once, however many of its requests were in flight', () => {
    const { refuse, unread } = setUp(1)
    refuse(0)
    for (let each = 0; each < 5; each++) refuse(1)
    vi.advanceTimersByTime(1005)
    expect(unread.size).toBe(0)
  })

  it('resumes at the end', () => {
    const { rests, refuse, unread } = setUp(1)
    for (let name = 0; name < 5; name++) refuse(name)
    expect(unread.size).toBe(4)
    rests.end()
    expect(unread.size).toBe(0)
    refuse(6)
    expect(unread.size).toBe(0)
  })

  it('never rests without a limit', () => {
    const { refuse, unread } = setUp(0)
    for (let name = 0; name < 200; name++) refuse(name)
    expect(unread.size).toBe(0)
  })
})

describe('over HTTP', () => {
  const open: { close(): unknown }[] = []

  afterEach(async () => {
    for (const each of open.splice(0)) await each.close()
  })

  function connect(url: string) {
    const { port, protocol } = new URL(url)
    const to = { port: Number(port), host: '127.0.0.1', servername: 'localhost', ca: readFileSync('test/certificates/localhost.crt') }
    const socket = (protocol === 'https:' ? tls.connect(to) : net.connect(to)).setEncoding('latin1')
    open.push({ close: () => socket.destroy() })
    return {
      send: () => void socket.write('GET /iam/v1/groups HTTP/1.1\r\nhost: v1\r\n\r\n'),
      status: () => new Promise<string>((resolve) => socket.once('data', (text: unknown) => resolve(String(text).slice(9, 12)))),
    }
  }

  it.each([
    ['plain text', {}],
    ['TLS', { 'tls.key': 'test/certificates/localhost.key', 'tls.cert': 'test/certificates/localhost.crt' }],
  ])('%s: gets an answer to what it asks at rest once there is room again', async (_, certificate) => {
    const held: (() => void)[] = []
    let arrived = () => {}
    const v2 = await startUpstream((_, response) => {
      held.push(() => void response.end('{"groups":[]}'))
      arrived()
    })
    const proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.requestsInFlight': 1, 'limits.refusalsPerSecond': 1, ...certificate })
    open.push(proxy, v2)
    const waiting = new Promise<void>((resolve) => {
      arrived = resolve
    })
    const [first, second] = [connect(proxy.url), connect(proxy.url)]
    first.send()
    await waiting
    for (let each = 0; each < 2; each++) {
      second.send()
      expect(await second.status()).toBe('503')
    }
    second.send()
    // After two answers of the admin port, a connection that is read would have been read.
    for (let each = 0; each < 2; each++) await fetch(`${proxy.adminUrl}/healthz`)
    const next = second.status()
    arrived = () => held.at(-1)?.()
    held[0]?.()
    expect(await first.status()).toBe('200')
    expect(await next).toBe('200')
    expect(await (await fetch(`${proxy.adminUrl}/metrics`)).text()).toContain('crosswalk_refused_total{reason="overload"} 2')
  })
})
