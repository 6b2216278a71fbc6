import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { status } from '@grpc/grpc-js'
import { afterEach, expect, it } from 'vitest'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { connect, unary } from './client.ts'

const PREFACE_BYTES = 24
const HEAD_BYTES = 9
const [DATA, HEADERS, SETTINGS] = [0, 1, 4]
const [ACK, END_HEADERS] = [1, 4]

/** Frame of HTTP/2 (RFC 9113 §4.1). */
function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(HEAD_BYTES)
  head.writeUIntBE(payload.length, 0, 3)
  head[3] = type
  head[4] = flags
  head.writeUInt32BE(stream, 5)
  return Buffer.concat([head, payload])
}

/** A head with nothing but its status: a literal with the name of index 8 (RFC 7541 §6.2.2). */
const headOf = (stream: number, text: string) => frame(HEADERS, END_HEADERS, stream, Buffer.from(`\x08\x03${text}`, 'latin1'))

/** Answers each call with heads of these statuses, then with data, and never ends it. */
function serve(socket: Socket, statuses: readonly string[]): void {
  let received = Buffer.alloc(0)
  let at = PREFACE_BYTES
  socket.on('error', () => {})
  socket.write(Buffer.concat([frame(SETTINGS, 0, 0, Buffer.alloc(0)), frame(SETTINGS, ACK, 0, Buffer.alloc(0))]))
  socket.on('data', (piece) => {
    received = Buffer.concat([received, piece])
    while (received.length >= at + HEAD_BYTES && received.length >= at + HEAD_BYTES + received.readUIntBE(at, 3)) {
      if (received[at + 3] === HEADERS) {
        const stream = received.readUInt32BE(at + 5)
        socket.write(Buffer.concat([...statuses.map((one) => headOf(stream, one)), frame(DATA, 0, stream, Buffer.alloc(5))]))
      }
      at += HEAD_BYTES + received.readUIntBE(at, 3)
    }
  })
}

let proxy: TestProxy
const server = net.createServer()

afterEach(async () => {
  await proxy.close()
  server.close()
})

it('ends a call whose service answers with a status below 100 behind an informational one', async () => {
  server.on('connection', (socket) => serve(socket, ['100', '103', '020'])).listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy = await startProxy({ 'upstream.v2': `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
  const client = connect(proxy.url)
  const { status: end } = await unary(client, 'Unary', 'a').answer
  expect(end).toMatchObject({ code: status.INTERNAL })
  client.close()
})
