import { once } from 'node:events'
import net from 'node:net'
import { expect, it } from 'vitest'
import { startProxy } from '../../stage/proxy.ts'

/** The most connections of the admin port. */
const ALL = 256

it('answers a probe beside as many connections as it takes, all of which wait for a next request', async () => {
  const proxy = await startProxy({ 'upstream.v2': 'http://127.0.0.1:9' })
  const port = Number(new URL(proxy.adminUrl).port)
  const sockets: net.Socket[] = []
  for (let nth = 0; nth < ALL + 20; nth += 1) {
    const socket = net.connect(port, '127.0.0.1')
    sockets.push(socket.on('error', () => {}))
    await once(socket, 'connect')
    socket.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n')
    const [answer] = (await Promise.race([once(socket, 'data'), once(socket, 'close').then(() => ['closed'])])) as [Buffer | string]
    expect(String(answer).slice(0, 15)).toBe('HTTP/1.1 200 OK')
  }
  expect((await fetch(`${proxy.adminUrl}/healthz`)).status).toBe(200)
  for (const socket of sockets) socket.destroy()
  await proxy.close()
})
