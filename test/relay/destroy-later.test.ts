import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { destroyLater } from '../../src/serve/listen/http2.ts'

it('leaves a connection open until the bytes that are being read have been read', async () => {
  const server = http2.createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  destroyLater(session)
  session.destroy()
  expect(session.destroyed).toBe(false)
  await setImmediate()
  expect(session.destroyed).toBe(true)
  server.close()
})
