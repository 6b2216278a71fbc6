import net from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { bytesOf, FLAG, type Frame, frame, headers, PREFACE, readFrames, TYPE, uint32 } from '../faults/frames.ts'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { until } from '../stage/until.ts'
import { startUpstream, type Upstream } from '../stage/upstream.ts'

const ROWS = 200
/** Pages of some 220 kB use memory again, and those of 600 kB do not. */
const [REUSED, LARGE] = [40, 110]
/** Bytes of an answer that its stream takes: a part, so that the stream does not end. */
const WINDOW = 200_000
const STREAMS = 40
/** Milliseconds. */
const CUT_OFF = 300

let v2: Upstream
let proxy: TestProxy

beforeAll(async () => {
  v2 = await startUpstream(({ url }, response) => {
    const name = new URL(url ?? '', 'http://v2').searchParams.get('name') ?? ''
    const digest = name.repeat(name.startsWith('large') ? LARGE : REUSED)
    const tags = Array.from({ length: ROWS }, (_, at) => ({ uid: `a/b/${at}`, name, digest }))
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ tags, totalCount: String(ROWS) }))
  })
  proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.writeTimeoutMs': CUT_OFF, 'log.level': 'silent' })
})

afterAll(async () => {
  await proxy.close()
  await v2.close()
})

/** A connection of HTTP/2 that asks for pages. */
interface Asking {
  readonly socket: net.Socket
  /** The frames that it has read. */
  readonly frames: () => readonly Frame[]
}

/** Asks for pages of these names, each of whose streams takes `window` bytes. */
function ask(names: readonly string[], window: number): Asking {
  const { hostname, port } = new URL(proxy.url)
  const socket = net.connect(Number(port), hostname)
  const settings = Buffer.concat([Buffer.of(0, 4), uint32(window)])
  const get = (name: string, nth: number) => {
    const path = `/registry/v1/tags?limit=${ROWS}&name=${name}`
    const fields = Object.entries({ ':method': 'GET', ':scheme': 'http', ':authority': 'x', ':path': path })
    return headers(2 * nth + 1, fields, FLAG.END_STREAM | FLAG.END_HEADERS)
  }
  const begin = [frame(TYPE.SETTINGS, 0, 0, settings), frame(TYPE.WINDOW_UPDATE, 0, 0, uint32(2 ** 30)), ...names.map(get)]
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
const nameOf = (who: string, nth: number) => `${who}-${String(nth).padStart(20, '0')}`
const cutOff = async () =>
  Number(/crosswalk_cut_total\{reason="write"\} (\d+)/.exec(await (await fetch(`${proxy.adminUrl}/metrics`)).text())?.[1] ?? 0)

const inFlight = async () => Number(/crosswalk_requests_in_flight (\d+)/.exec(await (await fetch(`${proxy.adminUrl}/metrics`)).text())?.[1])
const names = (count: number, who: (nth: number) => string) => Array.from({ length: count }, (_, nth) => nameOf(who(nth), nth))

/** Asks for answers that are begun and never taken, so that they keep their memory. Resolves when all are begun. */
async function askOthers(): Promise<Asking> {
  const other = ask(
    names(STREAMS, () => 'other'),
    100,
  )
  await until(async () => streamsWith(other.frames(), TYPE.DATA).size === STREAMS)
  return other
}

/** Reads what is left on a connection. Resolves when its streams are reset, or when it is closed. */
async function readRest(slow: Asking): Promise<string> {
  slow.socket.resume()
  await until(async () => slow.socket.closed || streamsWith(slow.frames(), TYPE.RST_STREAM).size === STREAMS)
  slow.socket.destroy()
  return Buffer.concat(slow.frames().map(({ payload }) => payload)).toString('latin1')
}

// What the system takes of a blocked connection is some 4 MB. Memory is used again soon that held the first pages behind those.
it.each(['reset behind 17', 'reset behind 18', 'reset behind 19', 'ended behind 18'])(
  'a client of HTTP/2 that does not read, is %s large answers and then reads, gets nothing of answers to others',
  async (what) => {
    const large = Number(what.slice(-2))
    const before = await cutOff()
    const slow = ask(
      names(STREAMS, (nth) => (nth < large ? 'large' : 'slow')),
      WINDOW,
    )
    slow.socket.pause()
    await until(async () => (await cutOff()) === before + STREAMS)
    if (what.startsWith('ended')) await until(async () => (await inFlight()) === 0)
    const other = await askOthers()
    const seen = await readRest(slow)
    other.socket.destroy()
    // What is cut off later would count in the next case.
    await until(async () => (await inFlight()) === 0)
    expect(seen).toContain('large-000')
    expect(new Set(seen.match(/other-\d+/g))).toEqual(new Set())
  },
)
