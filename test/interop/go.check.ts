import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sandbox } from '../../src/sandbox/start.ts'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { startQuietSandbox } from '../stage/sandbox.ts'
import { hasProgram, run } from './program.ts'

const CERT = 'test/certificates/localhost.crt'
const KEY = 'test/certificates/localhost.key'

/** 30,000 tags are 6 MB: more than the 4 MiB that clients of gRPC take by default. */
const TAGS = 30_000

describe.runIf(hasProgram('go', 'version'))('clients in Go', () => {
  let sandbox: Sandbox
  const proxies: TestProxy[] = []
  let setting: string

  const start = async (values: Parameters<typeof startProxy>[0]) => {
    const proxy = await startProxy({ 'upstream.v2': sandbox.url, ...values })
    proxies.push(proxy)
    return proxy.url
  }

  beforeAll(async () => {
    sandbox = await startQuietSandbox({ data: 'large', tags: TAGS })
    const relay = await start({})
    const rest = await start({ 'upstream.v2Grpc': 'rest', 'grpc.v2beta1': 'v2' })
    const renamed = await start({ 'grpc.v2beta1': 'v2' })
    const secure = (await start({ 'tls.cert': CERT, 'tls.key': KEY })).replace('127.0.0.1', 'localhost')
    const headers = { authorization: `Bearer ${sandbox.tokens.owner}` }
    const large = await (await fetch(`${relay}/registry/v1/repos?name=large`, { headers })).json()
    setting = JSON.stringify({
      Token: sandbox.tokens.owner,
      Organization: sandbox.organization,
      LargeRepo: (large as { items: [{ id: string }] }).items[0].id,
      LargeTags: TAGS,
      Targets: {
        relay: { URL: relay, Versions: ['v1', 'v2', 'v2beta1'] },
        rest: { URL: rest, Versions: ['v1', 'v2', 'v2beta1'] },
        renamed: { URL: renamed, Versions: ['v2beta1'] },
        tls: { URL: secure, Versions: ['v1', 'v2'] },
      },
    })
  })

  afterAll(async () => {
    for (const proxy of proxies) await proxy.close()
    await sandbox.close()
  })

  it('passes every cycle with grpc-go', async () => {
    const env = { CROSSWALK_INTEROP: setting, SSL_CERT_FILE: `${process.cwd()}/${CERT}` }
    const { code, text } = await run('go', ['test', '-count=1', '-v', './...'], { env })
    console.log(text)
    expect(text).not.toContain('--- SKIP')
    expect(code, text).toBe(0)
    const asked = (await (await fetch(`${sandbox.url}/-/journal`)).json()) as readonly { readonly path: string }[]
    expect(asked.filter(({ path }) => !path.includes('/v2/'))).toEqual([])
  })
})
