import { execFile } from 'node:child_process'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { openStore } from '../../src/fleet/store/open.ts'
import { hasRedis, startRedis, type TestRedis } from '../stage/redis.ts'

const KEY = 'test/certificates/localhost.key'
const CERT = 'test/certificates/localhost.crt'

/** Writes a document and reads it, in a process that trusts the certificate. */
const PROGRAM = `
const { openStore } = await import(process.argv[1])
const store = await openStore(process.argv[2], 'tls')
const { isReplaced } = await store.replace('modes', 0, 'over TLS')
const [{ value }] = await store.read([{ kind: 'document', name: 'modes' }])
await store.close()
console.log(JSON.stringify([isReplaced, value.text]))`

describe.runIf(hasRedis())('a Redis behind TLS', () => {
  const tls = { 'tls-cert-file': join(process.cwd(), CERT), 'tls-key-file': join(process.cwd(), KEY), 'tls-auth-clients': 'no' }
  let redis: TestRedis
  let url: string
  beforeAll(async () => {
    redis = await startRedis({ settings: { port: '0', ...tls }, tls: true, cli: ['--tls', '--cacert', CERT] })
    url = `rediss://localhost:${redis.port}`
  })
  afterAll(() => redis.stop())

  it('is refused if its certificate is not trusted', async () => {
    const store = await openStore(url, 'tls')
    const refused = store.exchange({ replica: 'a', nth: 1, changes: [], reads: [], isUrgent: false })
    await expect(refused).rejects.toThrow(`the store at ${url} has a certificate that is not trusted: self-signed certificate`)
    await store.close()
  })

  it('is used if its certificate is trusted', async () => {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: CERT }
    const module = resolve(inject('cli'), '../../src/fleet/store/open.js')
    const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', PROGRAM, module, url], {
      env,
      timeout: 20_000,
    })
    expect(JSON.parse(stdout)).toEqual([true, 'over TLS'])
  })

  it('is not used over plain text', async () => {
    const store = await openStore(`redis://localhost:${redis.port}`, 'tls')
    await expect(store.replace('modes', 0, '')).rejects.toMatchObject({ name: 'StoreDown' })
    await store.close()
  })
})
