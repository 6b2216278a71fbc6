import { mkdtempSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { readTls } from '../../src/app/config/certificates.ts'
import { systemReason } from '../../src/errors.ts'
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

describe('says in words what is wrong with TLS:', () => {
  const readiness = async (settings: Parameters<typeof startProxy>[0]) => {
    const proxy = await startProxy(settings)
    onTestFinished(() => proxy.close())
    return ((await (await fetch(`${proxy.adminUrl}/readyz`)).json()) as { readonly message: string }).message
  }

  it('plain text behind https://', async () => {
    const plain = http.createServer((_, response) => response.end('{}'))
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void plain.close())
    const address = `https://127.0.0.1:${(plain.address() as AddressInfo).port}`
    const said = 'it speaks plain text there: give the address as http://, or another port'
    expect(await readiness({ 'upstream.v2': address })).toBe(`the v2 service does not answer its ping: ${said}`)
    // A write of Node fails without a code of OpenSSL.
    const failed = await new Promise<Error>((resolve) => https.get(address).on('error', resolve))
    expect(systemReason(failed)).toBe(said)
  })

  it('a certificate that nobody vouches for', async () => {
    expect(await readiness({ 'upstream.v2': url })).toMatch(/: self-signed certificate; name its authority in .*upstream\.v2Ca/)
  })

  it('files that are no key and certificate', () => {
    const nonsense = join(mkdtempSync(join(tmpdir(), 'crosswalk-tls-')), 'nonsense.pem')
    writeFileSync(nonsense, '-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n')
    const read = () => readTls({ 'tls.key': nonsense, 'tls.cert': nonsense } as unknown as Parameters<typeof readTls>[0])
    expect(read).toThrow('are not a key and its certificate in PEM: one of them is not in PEM, or is damaged')
  })
})
