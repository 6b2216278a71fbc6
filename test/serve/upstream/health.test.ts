import { EventEmitter, once } from 'node:events'
import http2 from 'node:http2'
import net, { type Socket } from 'node:net'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { probe } from '../../../src/serve/listen/http2.ts'
import { createClockWatch, createHealth, type Service } from '../../../src/serve/upstream/health.ts'
import { bytesOf, FLAG, frame, headerBlock, PREFACE, TYPE } from '../../programs/faults/wire.ts'
import { startStage } from '../../stage/stage.ts'
import { listening, startUpstream } from '../../stage/upstream.ts'

describe('health', () => {
  /** Services that say what the test wants, and a clock that it sets. */
  function setUp(v1?: string) {
    const pings: string[] = []
    const said: Record<Service, string | undefined> = { v2: undefined, v1: undefined }
    const clock = { now: 0 }
    const ping = async (service: Service, base: string) => {
      pings.push(base)
      return said[service]
    }
    return { ask: createHealth({ v2: 'two', v1 }, ping, () => clock.now), pings, said, clock }
  }

  it('pings every configured service once a second, however many ask', async () => {
    const { ask, pings, clock } = setUp('one')
    await Promise.all(Array.from({ length: 50 }, ask))
    for (clock.now = 0; clock.now < 1000; clock.now += 10) await ask()
    expect(pings).toEqual(['two', 'one'])
    await Promise.all(Array.from({ length: 50 }, ask))
    expect(pings).toEqual(['two', 'one', 'two', 'one'])
  })

  it('counts the second from the answer', async () => {
    const { ask, pings, clock } = setUp()
    const first = ask()
    clock.now = 700
    await first
    clock.now = 1600
    await ask()
    expect(pings).toEqual(['two'])
  })

  it('is proven for good once a service was well', async () => {
    const { ask, said, clock } = setUp('one')
    said.v2 = 'dead'
    said.v1 = 'dead'
    expect((await ask()).proven).toBe(false)
    said.v1 = undefined
    clock.now = 1000
    expect((await ask()).proven).toBe(true)
    said.v1 = 'dead'
    clock.now = 2000
    expect(await ask()).toEqual({
      pulses: [
        { service: 'v2', problem: 'dead' },
        { service: 'v1', problem: 'dead' },
      ],
      proven: true,
    })
  })

  it('tells once that the clock of a service differs by more than a minute, and once that it no longer does', () => {
    const said: string[] = []
    const watch = createClockWatch(
      () => Date.UTC(2026, 0, 1, 12),
      (text) => void said.push(text),
    )
    const hear = (time: string) => watch.hear('v2', `Thu, 01 Jan 2026 ${time} GMT`)
    for (const time of ['12:00:59', '11:59:01', 'never']) hear(time)
    expect([said, watch.standing()]).toEqual([[], undefined])
    for (const time of ['12:05:00', '12:05:01', '12:06:00']) hear(time)
    watch.hear('v1', 'Thu, 01 Jan 2026 09:00:00 GMT')
    expect(said).toEqual([
      'the clock of v2 is some 5 min ahead of that of this machine: look at the time service of both machines',
      'the clock of v1 is some 3 h behind that of this machine: look at the time service of both machines',
    ])
    expect(watch.standing()).toBe(
      'the clock of v2 is some 6 min ahead of that of this machine; the clock of v1 is some 3 h behind that of this machine',
    )
    for (const time of ['12:00:59', '12:01:01', '12:00:31']) hear(time)
    expect(said).toHaveLength(2)
    hear('12:00:30')
    expect(said.at(-1)).toBe('the clocks of v2 and of this machine agree again')
    expect([...watch.ahead()]).toEqual([
      ['v2', 30_000],
      ['v1', -10_800_000],
    ])
  })

  it('tells the clock of v2 in /readyz, in a note and in a metric, unless a cache kept the answer', async () => {
    const kept: Record<string, string> = {}
    const v2 = await startUpstream((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json', date: new Date(Date.now() - 600_000).toUTCString(), ...kept })
      response.end('{"response":"pong"}')
    }, 'seen')
    const proxies = [await startStage({ v1: null, v2: v2.url }), await startStage({ v1: null, v2: v2.url })]
    const ready = async (nth: number) => (await fetch(`${proxies[nth]?.adminUrl}/readyz`)).json()
    const clock = 'the clock of v2 is some 10 min behind that of this machine'
    expect(await ready(0)).toEqual({ status: 'ok', v2: 'ok', clock })
    const note = { level: 40, what: 'clock', to: 'differs', msg: expect.stringContaining(clock) }
    expect(proxies[0]?.log).toContainEqual(expect.objectContaining(note))
    const metrics = await (await fetch(`${proxies[0]?.adminUrl}/metrics`)).text()
    expect(metrics).toMatch(/^crosswalk_clock_ahead_seconds\{of="v2"\} -(?:599|60[01])(?:\.\d+)?$/m)
    expect(metrics).toMatch(/^crosswalk_notes_total\{what="clock"\} 1$/m)
    kept.age = '600'
    expect(await ready(1)).toEqual({ status: 'ok', v2: 'ok' })
  })

  it('says in one line of the log why v2 cannot be reached', async () => {
    const proxy = await startStage({ v1: null, v2: 'http://127.0.0.1:9' })
    expect((await fetch(`${proxy.url}/iam/v1/groups`)).status).toBe(503)
    expect(await proxy.logged(({ msg }) => msg === 'request')).toMatchObject({ error: { cause: 'nothing listens (127.0.0.1:9)' } })
  })
})

describe('probe', () => {
  const SOON = { first: 10, again: 10, answer: 100, early: 1 }
  const REQUEST = frame(
    TYPE.HEADERS,
    FLAG.END_HEADERS | FLAG.END_STREAM,
    1,
    headerBlock([
      [':method', 'GET'],
      [':scheme', 'http'],
      [':path', '/'],
      [':authority', 'x'],
    ]),
  )

  let client: Socket | undefined
  afterEach(() => {
    vi.useRealTimers()
    client?.destroy()
  })

  /** A server that never answers its only stream, and a client that sends these bytes and answers nothing. */
  async function connection(...frames: readonly Buffer[]) {
    const server = http2.createServer({})
    server.on('session', (session) => session.on('stream', probe(session, SOON)))
    server.on('stream', (stream) => stream.on('error', () => {}))
    server.on('sessionError', () => {})
    const { port } = await listening(server)
    const sessions = once(server, 'session')
    client = net.connect(port, '127.0.0.1')
    client.on('error', () => {})
    client.resume()
    client.write(Buffer.concat([PREFACE, bytesOf(frame(TYPE.SETTINGS, 0, 0)), ...frames]))
    const [session] = (await sessions) as [http2.ServerHttp2Session]
    return session
  }

  it.each([
    ['whose peer answers no PING while a stream waits', []],
    ['that a frame error stopped, whatever Node does with it', [bytesOf(frame(TYPE.SETTINGS, FLAG.ACK, 0, Buffer.alloc(6)))]],
  ])('ends a connection %s', async (_, broken) => {
    const session = await connection(bytesOf(REQUEST), ...broken)
    // Some versions of Node emit an error first.
    session.on('error', () => {})
    if (!session.destroyed) await new Promise<void>((resolve) => session.once('close', resolve))
    expect(session.destroyed).toBe(true)
  })

  it('repeats the PING while the peer answers, and lets the stream wait', async () => {
    const peer = http2.createServer()
    let pings = 0
    const asked = new Promise<void>((resolve) => {
      peer.on('session', (session) => session.on('ping', () => ++pings === 3 && resolve()))
    })
    peer.on('stream', () => {})
    const session = http2.connect((await listening(peer)).url)
    const stream = session.request({ ':path': '/' })
    probe(session, { ...SOON, answer: 10_000 })(stream)
    await asked
    expect([session.destroyed, stream.destroyed]).toEqual([false, false])
    session.destroy()
  })

  /** A connection whose peer answers each PING at once; `begin` opens a stream, and returns what closes it with a code. */
  function quiet(times: Parameters<typeof probe>[1]) {
    vi.useFakeTimers()
    const ping = vi.fn((answered: () => void) => answered())
    const began = probe({ destroyed: false, once: () => {}, ping } as unknown as http2.Http2Session, times)
    const begin = () => {
      const stream = Object.assign(new EventEmitter(), { rstCode: 0 })
      began(stream as unknown as http2.Http2Stream)
      return (rstCode = 0) => Object.assign(stream, { rstCode }).emit('close')
    }
    return { ping, begin }
  }

  it('sends no PING without an open stream', () => {
    const { ping, begin } = quiet({ ...SOON, again: 1000 })
    begin()()
    vi.advanceTimersByTime(2 * SOON.first)
    expect(ping).not.toHaveBeenCalled()
    begin()
    vi.advanceTimersByTime(2 * SOON.first)
    expect(ping).toHaveBeenCalledOnce()
  })

  it('sends a peer that answers no stream two PINGs early, however many streams begin', () => {
    const { ping, begin } = quiet({ ...SOON, again: 1000, early: 2 })
    const afterStreams = (closed: (close: ReturnType<typeof begin>) => void) => {
      for (const _ of '12345') {
        closed(begin())
        begin()
        vi.advanceTimersByTime(2 * SOON.first)
      }
      return ping.mock.calls.length
    }
    expect(afterStreams((close) => close(http2.constants.NGHTTP2_CANCEL))).toBe(2)
    vi.advanceTimersByTime(1000)
    expect(ping).toHaveBeenCalledTimes(3)
    expect(afterStreams((close) => close())).toBe(8)
  })
})
