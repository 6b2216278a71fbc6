import { once } from 'node:events'
import http2, { type Http2Server } from 'node:http2'
import net, { type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import { probe } from '../../src/serve/listen/http2.ts'
import { bytesOf, FLAG, frame, headerBlock, PREFACE, TYPE } from '../faults/frames.ts'

const SOON = { first: 10, again: 10, answer: 100 }
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

let server: Http2Server | undefined
let client: Socket | undefined
afterEach(() => {
  vi.useRealTimers()
  client?.destroy()
  server?.close()
})

/** A server that never answers its only stream, and a client that sends these bytes and answers nothing. */
async function connection(times: typeof SOON, ...frames: readonly Buffer[]) {
  server = http2.createServer({})
  server.on('session', (session) => session.on('stream', probe(session, times)))
  server.on('stream', (stream) => stream.on('error', () => {}))
  server.on('sessionError', () => {})
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const sessions = once(server, 'session')
  client = net.connect((server.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => {})
  client.resume()
  client.write(Buffer.concat([PREFACE, bytesOf(frame(TYPE.SETTINGS, 0, 0)), ...frames]))
  const [session] = (await sessions) as [http2.ServerHttp2Session]
  return session
}

/** Resolves however the session ends: some versions of Node emit an error first. */
function closed(session: http2.ServerHttp2Session): Promise<void> {
  session.on('error', () => {})
  return new Promise((resolve) => (session.closed && session.destroyed ? resolve() : session.once('close', () => resolve())))
}

it('ends a connection whose peer answers no PING while a stream waits', async () => {
  const session = await connection(SOON, bytesOf(REQUEST))
  await closed(session)
  expect(session.destroyed).toBe(true)
})

it('ends a connection that a frame error stopped, whatever Node does with it', async () => {
  const broken = bytesOf(frame(TYPE.SETTINGS, FLAG.ACK, 0, Buffer.alloc(6)))
  const session = await connection(SOON, bytesOf(REQUEST), broken)
  await closed(session)
  expect(session.destroyed).toBe(true)
})

it('repeats the PING while the peer answers, and lets the stream wait', async () => {
  const peer = http2.createServer()
  let pings = 0
  const asked = new Promise<void>((resolve) => {
    peer.on('session', (session) => session.on('ping', () => ++pings === 3 && resolve()))
  })
  peer.on('stream', () => {})
  peer.listen(0, '127.0.0.1')
  await once(peer, 'listening')
  const session = http2.connect(`http://127.0.0.1:${(peer.address() as AddressInfo).port}`)
  const stream = session.request({ ':path': '/' })
  probe(session, { ...SOON, answer: 10_000 })(stream)
  await asked
  expect([session.destroyed, stream.destroyed]).toEqual([false, false])
  session.destroy()
  peer.close()
})

it('sends no PING without an open stream', () => {
  vi.useFakeTimers()
  const ping = vi.fn()
  const session = { destroyed: false, once: () => {}, ping } as unknown as http2.Http2Session
  const closings: (() => void)[] = []
  const began = probe(session, SOON)
  const begin = () => began({ on: (_: string, closed: () => void) => closings.push(closed) } as unknown as http2.Http2Stream)
  begin()
  for (const closed of closings) closed()
  vi.advanceTimersByTime(2 * SOON.first)
  expect(ping).not.toHaveBeenCalled()
  begin()
  vi.advanceTimersByTime(2 * SOON.first)
  expect(ping).toHaveBeenCalledOnce()
})
