import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startProxy } from '../stage/proxy.ts'
import { selfSigned } from './self-signed.ts'

let asked = 0
const server = https.createServer(selfSigned, (_, response) => {
  asked += 1
  response.end('{}')
})
let url = ''

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`
})

afterAll(() => new Promise((resolve) => server.close(resolve)))

it('lets no carrier talk to a server with an unverified certificate', async () => {
  const proxy = await startProxy({ 'upstream.v2': url, 'upstream.v1': url })
  const translated = await fetch(`${proxy.url}/iam/v1/groups`)
  const native = await fetch(`${proxy.url}/iam/v2/groups`)
  const v1 = await fetch(`${proxy.url}/registry/v1/vuln_reports`)
  expect([translated.status, native.status, v1.status]).toEqual([503, 503, 503])
  expect(asked).toBe(0)
  await proxy.close()
})
