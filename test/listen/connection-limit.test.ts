import { readFileSync } from 'node:fs'
import net, { type AddressInfo, type Socket } from 'node:net'
import tls from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { createListener } from '../../src/serve/listen/listener.ts'

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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
    listener.cut()
  })
  const { port } = server.address() as AddressInfo
  const connect = () => (certificate ? tls.connect({ port, host: '127.0.0.1', rejectUnauthorized: false }) : net.connect(port, '127.0.0.1'))
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
