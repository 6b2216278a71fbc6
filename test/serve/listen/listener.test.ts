import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import net, { type Socket } from 'node:net'
import tls from 'node:tls'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createListener, readFirstBytes } from '../../../src/serve/listen/listener.ts'
import { listening } from '../../stage/upstream.ts'

describe('connection limit', () => {
  const CERTIFICATE = {
    key: readFileSync('test/certificates/localhost.key', 'utf8'),
    cert: readFileSync('test/certificates/localhost.crt', 'utf8'),
  }
  const LIMITS = { headerBytes: 16_384, headersTimeoutMs: 5000, idleTimeoutMs: 5000, maxStreams: 10, connections: 2, isShared: true }

  /** A port that several processes share, with room for two connections, and what it closed at once. */
  async function startPort(certificate: typeof CERTIFICATE | undefined) {
    let dropped = 0
    const listener = createListener(() => false, { certificate, ...LIMITS })
    const server = listener.create({
      request: (_, response) => void response.end('served'),
      expectation: (_, response) => void response.end(),
      failed: () => {},
      dropped: () => {
        dropped += 1
      },
    })
    const { port } = await listening(server)
    onTestFinished(() => listener.cut())
    const connect = () =>
      certificate ? tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }) : net.connect(port, '127.0.0.1')
    return { connect, dropped: () => dropped }
  }

  /** Sends a request; resolves with `served`, or `closed`. */
  function ask(socket: Socket): Promise<string> {
    socket.write('GET / HTTP/1.1\r\nhost: h\r\n\r\n')
    return new Promise((resolve) => {
      socket.on('data', () => resolve('served'))
      socket.on('error', () => {})
      socket.on('close', () => resolve('closed'))
    })
  }

  it.each([
    ['plain text', undefined],
    ['TLS', CERTIFICATE],
  ])('closes connections beyond the limit of a shared port at once, in %s', async (_, certificate) => {
    const { connect, dropped } = await startPort(certificate)
    const [one, other] = [connect(), connect()]
    expect(await Promise.all([ask(one), ask(other)])).toEqual(['served', 'served'])
    expect(await ask(connect())).toBe('closed')
    expect(dropped()).toBe(1)
    one.destroy()
    await new Promise((resolve) => one.once('close', resolve))
    let later = 'closed'
    // The server learns of the end a moment later.
    while (later === 'closed') later = await ask(connect())
    expect(later).toBe('served')
    other.destroy()
  })
})

describe('first bytes', () => {
  const PATIENCE = 200

  let server: net.Server
  let port: number
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
    ;({ port } = await listening(server))
  })

  const connect = async (): Promise<Socket> => {
    const socket = net.connect(port, '127.0.0.1')
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
})
