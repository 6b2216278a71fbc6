import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Sandbox } from '../../src/sandbox/start.ts'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { startQuietSandbox } from '../stage/sandbox.ts'
import { hasProgram, run } from './program.ts'

/** The probe asks as the gRPC probes of Kubernetes do. */
describe.runIf(hasProgram('grpc-health-probe', '-version'))('the health probe of gRPC', () => {
  let sandbox: Sandbox
  let proxy: TestProxy
  let unready: TestProxy

  beforeAll(async () => {
    sandbox = await startQuietSandbox({})
    proxy = await startProxy({ 'upstream.v2': sandbox.url })
    unready = await startProxy({ 'upstream.v2': 'http://127.0.0.1:1' })
  })

  afterAll(async () => {
    await proxy?.close()
    await unready?.close()
    await sandbox?.close()
  })

  const probe = (of: TestProxy, service: string) => run('grpc-health-probe', ['-addr', new URL(of.url).host, '-service', service])

  it('finds the process and its services healthy', async () => {
    for (const service of ['', 'chainguard.platform.iam.Groups']) {
      expect(await probe(proxy, service)).toMatchObject({ code: 0, text: expect.stringContaining('SERVING') })
    }
  })

  it('fails for an unknown service, and before the process is ready', async () => {
    const [unknown, early] = [await probe(proxy, 'other'), await probe(unready, '')]
    expect([unknown.text, early.text]).toEqual([expect.stringContaining('NotFound'), expect.stringContaining('NOT_SERVING')])
    expect([unknown.code, early.code]).not.toContain(0)
  })
})
