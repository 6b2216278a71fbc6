import http from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { startProxy } from '../../stage/proxy.ts'
import { startUpstream, type Upstream } from '../../stage/upstream.ts'

let v2: Upstream | undefined

afterEach(async () => {
  await v2?.close()
  v2 = undefined
})

it('finishes a request in flight and accepts no new one', async () => {
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

it('cuts off a request that takes too long', async () => {
  v2 = await startUpstream(() => {})
  const proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.shutdownMs': 50 })
  const arrived = new Promise((resolve) => v2?.server.once('request', resolve))
  const answer = fetch(`${proxy.url}/iam/v1/groups`).catch(() => 'cut off')
  await arrived
  await proxy.close()
  expect(await answer).toBe('cut off')
})

it('does not wait for idle kept-alive connections', async () => {
  v2 = await startUpstream((_, response) => void response.end('{"groups":[]}'))
  const proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.shutdownMs': 60_000 })
  const agent = new http.Agent({ keepAlive: true })
  await new Promise<void>((resolve) => {
    http.get(`${proxy.url}/iam/v1/groups`, { agent }, (answer) => answer.resume().once('end', resolve))
  })
  await proxy.close()
  agent.destroy()
})

describe('a proxy behind a balancer', () => {
  const get = (url: string, agent: http.Agent) =>
    new Promise<{ status: number | undefined; connection: string | undefined }>((resolve, reject) => {
      const request = http.get(url, { agent }, (answer) => {
        answer.resume().once('end', () => resolve({ status: answer.statusCode, connection: answer.headers.connection }))
      })
      request.once('error', reject)
    })

  it('first says that it is not ready, and serves until the balancer removes it', async () => {
    v2 = await startUpstream((_, response) => void response.end('{"groups":[]}'))
    const proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.drainMs': 500 })
    const kept = new http.Agent({ keepAlive: true })
    expect(await get(`${proxy.url}/iam/v1/groups`, kept)).toEqual({ status: 200, connection: 'keep-alive' })
    const closed = proxy.close()
    const ready = await fetch(`${proxy.adminUrl}/readyz`)
    expect([ready.status, await ready.json()]).toEqual([503, { code: 14, message: 'the proxy is shutting down', details: [] }])
    for (const agent of [kept, new http.Agent()]) {
      for (const path of ['/iam/v1/groups', '/iam/v2/groups']) {
        expect(await get(proxy.url + path, agent)).toEqual({ status: 200, connection: 'close' })
      }
    }
    await closed
    await expect(fetch(`${proxy.url}/iam/v1/groups`)).rejects.toThrow()
    kept.destroy()
  })

  it('refuses new connections and serves open ones, for a balancer that notices that', async () => {
    v2 = await startUpstream((_, response) => void response.end('{"groups":[]}'))
    const proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.lingerMs': 60_000 })
    const kept = new http.Agent({ keepAlive: true })
    await get(`${proxy.url}/iam/v1/groups`, kept)
    const { url } = proxy
    const closed = proxy.close()
    // The proxy stops listening in the next quiet turn of the event loop.
    const refused = async () => {
      while ((await get(`${url}/iam/v1/groups`, new http.Agent())).status === 200);
    }
    await expect(refused()).rejects.toThrow('ECONNREFUSED')
    expect(await get(`${url}/iam/v1/groups`, kept)).toEqual({ status: 200, connection: 'close' })
    // After its last connection nothing is left to wait for.
    await closed
    kept.destroy()
  })

  it('ends idle connections after the time to linger', async () => {
    v2 = await startUpstream((_, response) => void response.end('{"groups":[]}'))
    const proxy = await startProxy({ 'upstream.v2': v2.url, 'limits.lingerMs': 50, 'limits.shutdownMs': 60_000 })
    const kept = new http.Agent({ keepAlive: true })
    await get(`${proxy.url}/iam/v1/groups`, kept)
    await proxy.close()
    kept.destroy()
  })
})
