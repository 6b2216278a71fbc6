import http2 from 'node:http2'
import net from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beforeAll, describe, expect, it } from 'vitest'
import { createCrosswalk } from '../../../src/index.ts'
import { createPool } from '../../../src/serve/upstream/exchange.ts'
import { createSend } from '../../../src/serve/upstream/send.ts'
import type { JsonObject } from '../../../src/tables/json.ts'
import { ROWS_MEMORY } from '../../../src/tables/text/engine.ts'
import type { Call } from '../../../src/tables/turn.ts'
import { encodeMessage } from '../../contract/rpc/call.ts'
import { methods } from '../../contract/rpc/protojson.ts'
import { bytesOf, FLAG, type Frame, frame, headers, PREFACE, readFrames, TYPE, talk, uint32 } from '../../programs/faults/wire.ts'
import { sampled } from '../../sample.ts'
import { until } from '../../stage/clocks.ts'
import { type Stage, startStage } from '../../stage/stage.ts'
import { closedLater, type Handler, listening, startUpstream, type Upstream } from '../../stage/upstream.ts'
import { promised } from '../sends.ts'

describe('page memory', () => {
  const ROWS = 200
  /** Answers that no socket takes at once: some 7 MB, in one pipeline. */
  const ASKED = 50

  /** A page in which every row holds the name that was asked for, so that rows of another page can be told. */
  function pageOf(name: string): string {
    const tags = Array.from({ length: ROWS }, (_, at) => ({ uid: `a/b/${at}`, name, digest: name.repeat(20) }))
    return JSON.stringify({ tags, totalCount: String(ROWS) })
  }
  let proxy: Stage<null, Handler>

  beforeAll(async () => {
    proxy = await startStage({
      v1: null,
      v2: ({ url }, response) => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(pageOf(new URL(url ?? '', 'http://v2').searchParams.get('name') ?? ''))
      },
    })
  })

  const nameOf = (who: string, nth: number) => `${who}-${String(nth).padStart(20, '0')}`
  const pathOf = (name: string) => `/registry/v1/tags?limit=${ROWS}&name=${name}`

  function expectPage(text: string, name: string): void {
    const { items } = JSON.parse(text) as { items: readonly { id: string; name: string; digest: string }[] }
    expect(items).toHaveLength(ROWS)
    for (const [at, row] of items.entries()) expect(row).toMatchObject({ id: `a/b/${at}`, name, digest: name.repeat(20) })
  }

  it('uses no memory of an answer again before the client has taken it', async () => {
    const names = Array.from({ length: ASKED }, (_, nth) => nameOf('slow', nth))
    const asked = names.map((name) => `GET ${pathOf(name)} HTTP/1.1\r\nhost: crosswalk\r\n`).join('\r\n')
    let slow: net.Socket | undefined
    const speak = (socket: net.Socket) => {
      slow = socket.pause()
      socket.write(`${asked}connection: close\r\n\r\n`)
    }
    const answered = talk(proxy.url, speak, () => false)
    const quick = async (who: number) => {
      for (let nth = 0; nth < ASKED; nth += 1) {
        const name = nameOf(`quick${who}`, nth)
        expectPage(await (await fetch(proxy.url + pathOf(name))).text(), name)
      }
    }
    await Promise.all([0, 1].map(quick))
    slow?.resume()
    const { answers } = await answered
    expect(answers).toHaveLength(ASKED)
    for (const [nth, { body }] of answers.entries()) expectPage(body, names[nth] ?? '')
  })

  it('uses memory again after a client left in the middle of an answer', async () => {
    const { hostname, port } = new URL(proxy.url)
    const leaving = Array.from({ length: 20 }, (_, who) => {
      const socket = net.connect(Number(port), hostname)
      for (let nth = 0; nth < 20; nth += 1) socket.write(`GET ${pathOf(nameOf(`gone${who}`, nth))} HTTP/1.1\r\nhost: crosswalk\r\n\r\n`)
      return new Promise<void>((gone) => socket.once('data', () => socket.destroy()).once('close', () => gone()))
    })
    await Promise.all(leaving)
    for (let nth = 0; nth < 50; nth += 1) {
      const name = nameOf('stays', nth)
      expectPage(await (await fetch(proxy.url + pathOf(name))).text(), name)
    }
  })
})

describe('reset memory', () => {
  const ROWS = 200
  /** Pages of some 220 kB use memory again, and those of 600 kB do not. */
  const [REUSED, LARGE] = [40, 110]
  /** Bytes of an answer that its stream takes: a part, so that the stream does not end. */
  const WINDOW = 200_000
  const STREAMS = 40
  const CUT_OFF = 300

  /** Returns the frames that ask for the page of a name on a stream. */
  type Ask = (stream: number, name: string) => readonly Frame[]

  let v2: Upstream
  const served = new Map<string, Awaited<ReturnType<typeof startHosted>>>()

  beforeAll(async () => {
    v2 = await startUpstream(({ url }, response) => {
      const name = new URL(url ?? '', 'http://v2').searchParams.get('name') ?? ''
      const digest = name.repeat(name.startsWith('large') ? LARGE : REUSED)
      const tags = Array.from({ length: ROWS }, (_, at) => ({ uid: `a/b/${at}`, name, digest }))
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ tags, totalCount: String(ROWS) }))
    })
    served.set('itself', await startItself())
    served.set('in a server of somebody else', await startHosted())
  })

  async function startItself() {
    const limits = { 'limits.writeTimeoutMs': CUT_OFF, 'limits.messagesBytes': 2 ** 30 }
    const proxy = await startStage({ v1: null, v2: v2.url, proxy: { ...limits, 'log.level': 'silent' } })
    return { url: proxy.url, metrics: async () => (await fetch(`${proxy.adminUrl}/metrics`)).text() }
  }

  async function startHosted() {
    const v1 = await createCrosswalk({ upstream: { v2: v2.url }, limits: { writeTimeoutMs: CUT_OFF } })
    closedLater(() => v1.close())
    const server = http2.createServer((request, response) => v1.handler(request as never, response as never))
    return { url: (await listening(server)).url, metrics: v1.metrics }
  }

  const overRest: Ask = (stream, name) => {
    const path = `/registry/v1/tags?limit=${ROWS}&name=${name}`
    const fields = Object.entries({ ':method': 'GET', ':scheme': 'http', ':authority': 'x', ':path': path })
    return [headers(stream, fields, FLAG.END_STREAM | FLAG.END_HEADERS)]
  }

  const LIST_TAGS = '/chainguard.platform.registry.Registry/ListTags'

  const overGrpc: Ask = (stream, name) => {
    const fields = { ':method': 'POST', ':scheme': 'http', ':authority': 'x', ':path': LIST_TAGS, 'content-type': 'application/grpc' }
    const message = encodeMessage(methods.find(({ path }) => path === LIST_TAGS)?.input ?? '', { name })
    const body = Buffer.concat([Buffer.of(0), uint32(message.length), message])
    return [headers(stream, Object.entries({ ...fields, te: 'trailers' })), frame(TYPE.DATA, FLAG.END_STREAM, stream, body)]
  }

  /** Asks for pages of these names, each of whose streams takes `window` bytes. */
  function ask(url: string, by: Ask, names: readonly string[], window: number) {
    const { hostname, port } = new URL(url)
    const socket = net.connect(Number(port), hostname).on('error', () => {})
    const settings = Buffer.concat([Buffer.of(0, 4), uint32(window)])
    const asked = names.flatMap((name, nth) => by(2 * nth + 1, name))
    const begin = [frame(TYPE.SETTINGS, 0, 0, settings), frame(TYPE.WINDOW_UPDATE, 0, 0, uint32(2 ** 30)), ...asked]
    socket.write(Buffer.concat([PREFACE, ...begin.map(bytesOf)]))
    const read: Frame[] = []
    let rest: Buffer = Buffer.alloc(0)
    socket.on('data', (bytes: Buffer) => {
      const found = readFrames(Buffer.concat([rest, bytes]))
      rest = found.rest
      read.push(...found.frames)
    })
    return { socket, frames: () => read }
  }

  const streamsWith = (frames: readonly Frame[], type: number) =>
    new Set(frames.filter((one) => one.type === type).map(({ stream }) => stream))

  const NAMES = Array.from({ length: STREAMS }, (_, nth) => `${nth % 2 === 0 ? 'large' : 'small'}-${String(nth).padStart(20, '0')}`)

  /** Writes something else into all memory of answers that is free, whoever freed it. Returns that memory, which must be kept. */
  function writeIntoFreed(): readonly Buffer[] {
    setFlagsFromString('--expose-gc')
    runInNewContext('gc')()
    const sizes = Array.from({ length: 10 }, (_, at) => 70_000 * (at + 1))
    return sizes.flatMap((size) => Array.from({ length: STREAMS }, () => ROWS_MEMORY.take(size).fill('?')))
  }

  /** Reads what is left on a connection. Resolves when its streams are reset, or when it is closed. */
  async function readRest(slow: ReturnType<typeof ask>): Promise<readonly Frame[]> {
    slow.socket.resume()
    await until(async () => slow.socket.closed || streamsWith(slow.frames(), TYPE.RST_STREAM).size === STREAMS)
    slow.socket.destroy()
    return slow.frames()
  }

  /** Reads the whole answers, as a client does that takes everything. */
  async function readWhole(url: string, by: Ask): Promise<readonly Frame[]> {
    const client = ask(url, by, NAMES, 2 ** 24)
    await until(async () => client.frames().filter(({ flags, type }) => type <= TYPE.HEADERS && flags & FLAG.END_STREAM).length === STREAMS)
    client.socket.destroy()
    return client.frames()
  }

  function dataOf(frames: readonly Frame[]): ReadonlyMap<number, Buffer> {
    const streams = Array.from({ length: STREAMS }, (_, nth) => 2 * nth + 1)
    const ofStream = (one: number) => frames.filter(({ type, stream }) => type === TYPE.DATA && stream === one)
    return new Map(streams.map((stream) => [stream, Buffer.concat(ofStream(stream).map(({ payload }) => payload))]))
  }

  const READERS = [
    { server: 'itself', protocol: 'REST', end: 'its streams are reset' },
    { server: 'itself', protocol: 'REST', end: 'its connection is ended' },
    { server: 'itself', protocol: 'gRPC', end: 'its streams are reset' },
    { server: 'in a server of somebody else', protocol: 'REST', end: 'its connection is ended' },
  ]

  it.each(sampled(READERS, 4, 2))(
    'a client of HTTP/2 without TLS that asks Crosswalk $server over $protocol, and reads only when $end, gets nothing but its own answers',
    async ({ server, protocol, end }) => {
      const { url, metrics } = served.get(server)!
      const by = protocol === 'REST' ? overRest : overGrpc
      const counted = async (metric: RegExp) => Number(metric.exec(await metrics())?.[1] ?? 0)
      const cutOff = () => counted(/crosswalk_cut_total\{reason="write"\} (\d+)/)
      const inFlight = () => counted(/crosswalk_requests_in_flight (\d+)/)
      const before = await cutOff()
      const slow = ask(url, by, NAMES, WINDOW)
      slow.socket.pause()
      await until(async () => (await cutOff()) === before + STREAMS)
      if (end === 'its connection is ended') await until(async () => (await inFlight()) === 0)
      const kept = writeIntoFreed()
      const seen = dataOf(await readRest(slow))
      // What is cut off later would count in the next case.
      await until(async () => (await inFlight()) === 0)
      const whole = dataOf(await readWhole(url, by))
      const strange = [...seen].filter(([stream, data]) => !whole.get(stream)?.subarray(0, data.length).equals(data))
      expect(kept).not.toHaveLength(0)
      expect(seen.get(1)?.length).toBeGreaterThan(0)
      expect(strange.map(([stream]) => stream)).toEqual([])
    },
  )
})

describe('arrived memory', () => {
  async function setUp() {
    const upstream = await startUpstream((request, response) => {
      const text = JSON.stringify(contentOf(request.url ?? ''))
      const cut = request.url?.endsWith('0') ? Math.floor(text.length / 2) : 0
      response.write(text.slice(0, cut) || ' ')
      setImmediate(() => response.end(text.slice(cut)))
    })
    const pool = createPool({ connections: 8, connectTimeoutMs: 5000, callTimeoutMs: 5000 })
    closedLater(() => pool.destroy())
    const keep = { entries: 10, ttlMs: 0 }
    const make = createSend({ pool, base: upstream.url, answerBytes: 10 ** 6, keep, bulkCalls: 6 })
    return () => {
      const kept = { credential: 'c', since: undefined, by: undefined, own: undefined }
      const context = { headers: {}, requestId: 'r', signal: new AbortController().signal, onCall: () => undefined, ...kept }
      return promised((call, landing) => make(context, call, landing))
    }
  }

  const contentOf = (path: string): JsonObject => ({ rows: Array.from({ length: 3000 }, (_, at) => `${path} ${at}`) })

  const callOf = (path: string, more: Partial<Call> = {}): Call => ({ method: 'GET', path, query: [], ...more })

  it('holds each of many long answers whole that arrive at the same time, shared or not', async () => {
    const begin = await setUp()
    const paths = Array.from({ length: 60 }, (_, at) => `/${at % 40}`)
    const answers = await Promise.all(paths.map((path, at) => begin()(callOf(path, at % 3 === 0 ? { bulk: true } : {}))))
    expect(answers).toEqual(paths.map(contentOf))
  })

  it('uses memory again after an answer was read', async () => {
    const begin = await setUp()
    const used = new Set<ArrayBufferLike>()
    let long = 0
    const read = (pieces: readonly Uint8Array[]) => {
      for (const { buffer } of pieces.filter(({ length }) => length > 16 * 1024)) {
        used.add(buffer)
        long += 1
      }
      return {}
    }
    for (let at = 0; at < 60; at += 1) await begin()(callOf(`/${at}`, { read, bulk: true }))
    expect(long).toBeGreaterThan(20)
    expect(used.size).toBeLessThan(10)
  })
})
