import http from 'node:http'
import { afterEach, expect, it } from 'vitest'
import { startProxy, startUpstream, type Upstream } from './support.ts'

let v2: Upstream | undefined

afterEach(async () => {
  await v2?.close()
  v2 = undefined
})

it('a request under way is finished, a new one is not accepted', async () => {
  let release = () => {}
  v2 = await startUpstream((_, response) => {
    release = () => response.end('{"groups":[]}')
  })
  const proxy = await startProxy({ 'upstream.v2': v2.url })
  const arrived = new Promise((resolve) => v2?.server.once('request', resolve))
  const answer = fetch(`${proxy.url}/iam/v1/groups`)
  await arrived
  const closed = proxy.close()
  await expect(fetch(`${proxy.url}/iam/v1/groups`)).rejects.toThrow()
  release()
  expect(await (await answer).json()).toEqual({ items: [] })
  await closed
})

it('a request that takes too long is cut off', async () => {
  v2 = await startUpstream(() => {})
  const proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.shutdownMs': 50 })
  const arrived = new Promise((resolve) => v2?.server.once('request', resolve))
  const answer = fetch(`${proxy.url}/iam/v1/groups`).catch(() => 'cut off')
  await arrived
  await proxy.close()
  expect(await answer).toBe('cut off')
})

it('connections that are kept alive do not hold it up', async () => {
  v2 = await startUpstream((_, response) => void response.end('{"groups":[]}'))
  const proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.shutdownMs': 60_000 })
  const agent = new http.Agent({ keepAlive: true })
  await new Promise<void>((resolve) => {
    http.get(`${proxy.url}/iam/v1/groups`, { agent }, (answer) => answer.resume().once('end', resolve))
  })
  await proxy.close()
  agent.destroy()
})
