import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startFastifyServer } from '../../examples/library/fastify-server.ts'
import { startShop } from '../../examples/library/own-tables.ts'
import { startPlainServer } from '../../examples/library/plain-server.ts'
import type { Sandbox } from '../../src/sandbox/start.ts'
import { bearer } from '../stage/proxy.ts'
import { startQuietSandbox } from '../stage/sandbox.ts'
import { startUpstream } from '../stage/upstream.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startQuietSandbox({})
})
afterAll(() => sandbox.close())

const owner = () => ({ headers: bearer(sandbox.tokens.owner) })

it('serves v1 at a port of its own', async () => {
  const v1 = await startPlainServer(sandbox.url)
  expect(await (await fetch(`${v1.url}/iam/v1/roles?limit=1`, owner())).json()).toEqual({
    items: [expect.objectContaining({ id: expect.any(String) })],
  })
  await v1.close()
})

it('serves v1 in a Fastify server beside its own routes', async () => {
  const app = await startFastifyServer(sandbox.url)
  const url = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
  const roles = await fetch(`${url}/old/iam/v1/roles?limit=1`, owner())
  expect([roles.status, roles.headers.get('x-served-by')]).toEqual([200, 'mine'])
  expect(await roles.json()).toMatchObject({ items: [{ id: expect.any(String) }] })
  expect(await (await fetch(`${url}/orders`)).json()).toEqual([{ id: 1 }])
  expect(await (await fetch(`${url}/metrics`)).text()).toMatch(/crosswalk_requests_total\{operation="iam.roles.list".*\} 1/)
  await app.close()
})

it('serves tables of another API', async () => {
  const v2 = await startUpstream((request, response, body) => {
    const { name = 'a book' } = body === '' ? {} : (JSON.parse(body) as { name?: string })
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify({ uid: /\/items\/(\w+)/.exec(request.url ?? '')?.[1], name }))
  })
  const shop = await startShop(v2.url)
  expect(await (await fetch(`${shop.url}/shop/v1/items/7`)).json()).toEqual({ id: '7', title: 'a book' })
  const put = await fetch(`${shop.url}/shop/v1/items/7`, { method: 'PUT', body: '{"title":"a pen"}' })
  expect(await put.json()).toEqual({ id: '7', title: 'a pen' })
  await shop.close()
  await v2.close()
})
