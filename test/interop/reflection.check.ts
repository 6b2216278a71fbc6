import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Sandbox } from '../../src/sandbox/start.ts'
import { startProxy, type TestProxy } from '../stage/proxy.ts'
import { startQuietSandbox } from '../stage/sandbox.ts'
import { hasProgram, run } from './program.ts'

const GROUPS = 'chainguard.platform.iam.Groups'

/** Command-line clients that learn the messages from the proxy itself, by reflection. */
describe.runIf(hasProgram('grpcurl', '-version') && hasProgram('buf', '--version'))('clients with reflection', () => {
  let sandbox: Sandbox
  let proxy: TestProxy
  let host: string
  let token: string

  beforeAll(async () => {
    sandbox = await startQuietSandbox({})
    proxy = await startProxy({ 'upstream.v2': sandbox.url })
    host = new URL(proxy.url).host
    token = `authorization: Bearer ${sandbox.tokens.owner}`
  })

  afterAll(async () => {
    await proxy?.close()
    await sandbox?.close()
  })

  const printed = async (program: string, ...args: readonly string[]) => {
    const { code, text } = await run(program, args)
    expect(code, text).toBe(0)
    return text
  }

  it('lists and describes services with grpcurl', async () => {
    const services = (await printed('grpcurl', '-plaintext', host, 'list')).split('\n')
    expect(services).toEqual(expect.arrayContaining([GROUPS, 'chainguard.platform.iam.v2.GroupsService', 'grpc.health.v1.Health']))
    expect(await printed('grpcurl', '-plaintext', host, 'describe', `${GROUPS}.List`)).toContain('.chainguard.platform.iam.GroupFilter')
  })

  it('calls v1 and v2, and reads a refusal with grpcurl', async () => {
    const call = (...args: readonly string[]) => run('grpcurl', ['-plaintext', '-H', token, ...args])
    const made = await call('-d', JSON.stringify({ parent: sandbox.organization, group: { name: 'grpcurl' } }), host, `${GROUPS}/Create`)
    expect(JSON.parse(made.text)).toMatchObject({ name: 'grpcurl' })
    const listed = await call('-d', '{"name":"grpcurl"}', host, 'chainguard.platform.iam.v2.GroupsService/ListGroups')
    expect(JSON.parse(listed.text)).toMatchObject({ groups: [{ uid: JSON.parse(made.text).id }] })
    const refused = await call('-d', JSON.stringify({ parent: sandbox.organization }), host, `${GROUPS}/Create`)
    expect(refused.text).toContain('Code: InvalidArgument')
    expect(refused.text).toContain('"@type": "type.googleapis.com/google.rpc.ErrorInfo"')
    expect(await printed('grpcurl', '-plaintext', host, 'grpc.health.v1.Health/Check')).toContain('SERVING')
  })

  it('calls v1 with buf curl by reflection', async () => {
    const options = ['--http2-prior-knowledge', '--protocol', 'grpc', '-H', token, '-d', '{}', `${proxy.url}/${GROUPS}/List`]
    expect(JSON.parse(await printed('buf', 'curl', ...options))).toMatchObject({ items: expect.any(Array) })
  })

  // buf would ask for reflection in the same protocol, and streams need gRPC. So it gets the descriptors that reflection gave to grpcurl.
  it.each(['grpcweb', 'connect'])('calls v1 over %s with buf curl', async (protocol) => {
    const folder = await mkdtemp(join(tmpdir(), 'descriptors-'))
    onTestFinished(() => rm(folder, { recursive: true }))
    const schema = join(folder, 'groups.binpb')
    await printed('grpcurl', '-plaintext', '-protoset-out', schema, host, 'describe', GROUPS)
    const options = ['--schema', schema, '--protocol', protocol, '-H', token, '-d', '{}', `${proxy.url}/${GROUPS}/List`]
    for (const transport of [[], ['--http2-prior-knowledge']]) {
      expect(JSON.parse(await printed('buf', 'curl', ...transport, ...options))).toMatchObject({ items: expect.any(Array) })
    }
  })
})
