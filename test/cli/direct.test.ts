import { once } from 'node:events'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { getGlobalDispatcher, ProxyAgent, setGlobalDispatcher } from 'undici'
import { expect, it, onTestFinished } from 'vitest'
import { startUpstream } from '../stage/upstream.ts'
import { runCommand } from './support.ts'

it('asks the admin port directly, whatever proxy Node takes from the environment', async () => {
  const asked: (string | undefined)[] = []
  const proxy = http.createServer((request, response) => {
    asked.push(request.url)
    response.writeHead(502).end()
  })
  proxy.on('connect', (request, socket) => {
    asked.push(request.url)
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n')
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  const admin = await startUpstream((_, response) => response.setHeader('content-type', 'application/json').end('[]'))
  const before = getGlobalDispatcher()
  // NODE_USE_ENV_PROXY does this in Node 24.
  setGlobalDispatcher(new ProxyAgent(`http://127.0.0.1:${(proxy.address() as AddressInfo).port}`))
  onTestFinished(async () => {
    setGlobalDispatcher(before)
    proxy.close()
    await admin.close()
  })
  await fetch(admin.url).catch(() => {})
  expect(asked).toHaveLength(1)
  expect(await runCommand(['rollouts', '--admin', admin.url])).toMatchObject({ code: 0, out: 'No rule has a rollout.' })
  expect(asked).toHaveLength(1)
})
