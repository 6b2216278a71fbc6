import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readFirstBytes } from '../../src/serve/listen/listener.ts'

const PATIENCE = 200

let server: net.Server
/** Takes the decision about the next connection, and everything read from it afterwards. */
let decide: (seen: { isHttp2: boolean; bytes: string }) => void

beforeAll(async () => {
  server = net.createServer((socket) => {
    readFirstBytes(socket, PATIENCE, (isHttp2) => {
      let bytes = ''
      socket.on('data', (chunk) => {
        bytes += chunk
        if (bytes.endsWith('\n')) decide({ isHttp2, bytes })
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
})

afterAll(() => server.close())

const connect = async (): Promise<Socket> => {
  const socket = net.connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.setNoDelay(true)
  await once(socket, 'connect')
  return socket
}

/** Sends these pieces, each in a turn of the event loop of its own. */
async function send(pieces: readonly string[]): Promise<{ isHttp2: boolean; bytes: string }> {
  const decided = new Promise<{ isHttp2: boolean; bytes: string }>((resolve) => {
    decide = resolve
  })
  const socket = await connect()
  for (const piece of pieces) await new Promise((resolve) => socket.write(piece, () => setImmediate(resolve)))
  const seen = await decided
  socket.destroy()
  return seen
}

describe('the check of first bytes', () => {
  it.each(['PRI * HTTP/2.0\r\n', 'PRI\n'])('takes %j for HTTP/2', async (bytes) => {
    expect(await send([bytes])).toEqual({ isHttp2: true, bytes })
    expect(await send([...bytes])).toEqual({ isHttp2: true, bytes })
  })

  it.each(['GET / HTTP/1.1\r\n', 'POST /\n', 'PROPFIND /\n', 'PR /\n', 'P\n', '\n', '\0\0\n'])('takes %j for HTTP/1.1', async (bytes) => {
    expect(await send([bytes])).toEqual({ isHttp2: false, bytes })
    expect(await send([...bytes])).toEqual({ isHttp2: false, bytes })
  })

  it.each(['', 'PR'])('closes a connection after %j alone when it ends, resets or falls silent', async (bytes) => {
    for (const leave of [(socket: Socket) => socket.end(), (socket: Socket) => socket.resetAndDestroy(), () => {}]) {
      const accepted = once(server, 'connection')
      const socket = await connect()
      const [served] = (await accepted) as [Socket]
      const gone = new Promise<void>((resolve) => served.once('close', () => resolve()))
      socket.on('error', () => {})
      socket.write(bytes)
      leave(socket)
      await gone
      socket.destroy()
    }
  })
})
