import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCrosswalk } from '../../src/index.ts'
import type { Sandbox } from '../../src/sandbox/start.ts'
import { bearer } from '../stage/proxy.ts'
import { startQuietSandbox } from '../stage/sandbox.ts'

let sandbox: Sandbox
beforeAll(async () => {
  sandbox = await startQuietSandbox({})
})
afterAll(() => sandbox.close())

const roles = async (url: string) => {
  const answer = await fetch(`${url}/iam/v1/roles?limit=1`, { headers: bearer(sandbox.tokens.owner) })
  return { status: answer.status, body: (await answer.json()) as { readonly items: readonly object[] } }
}

describe('createCrosswalk', () => {
  it('serves v1 at a port and opens no admin port', async () => {
    const v1 = await createCrosswalk({ upstream: { v2: sandbox.url } })
    expect([v1.url, v1.adminUrl]).toEqual([undefined, undefined])
    await v1.listen()
    const { status, body } = await roles(v1.url as string)
    expect([status, body.items.length]).toEqual([200, 1])
    expect(v1.adminUrl).toBeUndefined()
    await v1.close()
    await expect(fetch(`${v1.url}/iam/v1/roles`)).rejects.toThrow()
  })

  it('serves requests that a server of node:http accepted', async () => {
    const v1 = await createCrosswalk({ upstream: { v2: sandbox.url } })
    const server = http.createServer((request, response) => {
      if (v1.servesPath(request.url ?? '')) v1.handler(request, response)
      else response.end('own')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    expect((await roles(url)).body.items).toHaveLength(1)
    expect(await (await fetch(url)).text()).toBe('own')
    await v1.close()
    expect((await roles(url)).status).toBe(503)
    server.closeAllConnections()
    server.close()
  })
})
