import { once } from 'node:events'
import http2, { type ServerHttp2Session } from 'node:http2'
import net, { type AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { refuseLate } from '../../src/serve/listen/http2.ts'
import { bytesOf, FLAG, type Frame, frame, GOAWAY, headers, PREFACE, readFrames, TYPE } from '../faults/frames.ts'
import { until } from '../stage/until.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

const ask = (stream: number) =>
  headers(
    stream,
    Object.entries({ ':method': 'GET', ':scheme': 'http', ':authority': 'x', ':path': '/' }),
    FLAG.END_STREAM | FLAG.END_HEADERS,
  )

/** Sends frames in one packet to a server that answers every stream that is not late. Returns what it did and what the client read. */
async function talk(frames: readonly Frame[], begun: (session: ServerHttp2Session) => void = () => {}) {
  const [served, refused]: [ids: (number | undefined)[], ids: (number | undefined)[]] = [[], []]
  const server = http2.createServer().on('session', (session) => {
    const isLate = refuseLate(session)
    session.on('stream', (stream) => {
      if (isLate(stream)) return void refused.push(stream.id)
      served.push(stream.id)
      stream.respond({ ':status': 204 }, { endStream: true })
    })
    begun(session)
  })
  // The first bytes have been read before the connection is handed over, as those of the proxy have.
  const front = net.createServer((socket) => {
    socket.once('data', (bytes) => {
      socket.pause().unshift(bytes)
      server.emit('connection', socket)
    })
  })
  closing.push(() => front.close())
  await new Promise<void>((listening) => front.listen(0, '127.0.0.1', listening))
  const socket = net.connect((front.address() as AddressInfo).port, '127.0.0.1')
  const pieces: Buffer[] = []
  socket.on('data', (piece) => void pieces.push(piece))
  socket.write(Buffer.concat([PREFACE, ...[frame(TYPE.SETTINGS, 0, 0), ...frames].map(bytesOf)]))
  await once(socket, 'close')
  const read = readFrames(Buffer.concat(pieces)).frames
  const covered = read.filter(({ type }) => type === TYPE.GOAWAY).map(({ payload }) => payload.readUInt32BE(0))
  return {
    served,
    refused,
    covered: new Set(covered),
    answered: read.filter(({ type }) => type === TYPE.HEADERS).map(({ stream }) => stream),
  }
}

it('serves the streams before the GOAWAY of a client, refuses those behind it in the same packet, and ends the connection', async () => {
  const heard = await talk([ask(1), GOAWAY, ask(3), ask(5)])
  expect(heard).toEqual({ served: [1], refused: [3, 5], covered: new Set([1]), answered: [1] })
})

it('refuses the streams that arrive before the GOAWAY of a server that stops has gone out', async () => {
  const heard = await talk([ask(1), ask(3)], (session) => session.close())
  expect(heard).toEqual({ served: [], refused: [1, 3], covered: new Set([0]), answered: [] })
})

it('answers what has arrived before the connection is closed', async () => {
  const closed: boolean[] = []
  const heard = await talk([ask(1), ask(3)], (session) => {
    session.on('stream', ({ id }) => {
      if (id === 3) session.close(() => closed.push(true))
    })
  })
  expect(heard).toEqual({ served: [1, 3], refused: [], covered: new Set([3]), answered: [1, 3] })
  await until(async () => closed.length === 1)
})
