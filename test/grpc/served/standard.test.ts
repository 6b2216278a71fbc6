import { fromBinary, fromJson, type JsonObject, toBinary, toJson } from '@bufbuild/protobuf'
import { status } from '@grpc/grpc-js'
import { afterAll, expect, it } from 'vitest'
import { standardRegistry } from '../../../src/grpc/standard.ts'
import { startProxy, type TestProxy } from '../../stage/proxy.ts'
import { startQuietSandbox } from '../../stage/sandbox.ts'
import { callPath, connect } from '../client.ts'

const sandbox = await startQuietSandbox({})
const proxy = await startProxy({ 'upstream.v2': sandbox.url })
const client = connect(proxy.url)
afterAll(async () => {
  client.close()
  await proxy.close()
  await sandbox.close()
})

const messageOf = (name: string) => standardRegistry().getMessage(name)!

async function ask(to: typeof client, path: string, [asks, answers]: readonly [string, string], question: JsonObject) {
  const bytes = toBinary(messageOf(asks), fromJson(messageOf(asks), question))
  const { messages, status: end } = await callPath(to, path, Buffer.from(bytes)).answer
  return {
    code: end.code,
    text: end.details,
    answers: messages.map((message) => toJson(messageOf(answers), fromBinary(messageOf(answers), message))),
  }
}

const check = (service: string, method = 'Check') =>
  ask(client, `/grpc.health.v1.Health/${method}`, ['grpc.health.v1.HealthCheckRequest', 'grpc.health.v1.HealthCheckResponse'], { service })

const reflection = (version: string) => {
  const name = `grpc.reflection.${version}.ServerReflection`
  return { path: `/${name}/ServerReflectionInfo`, types: [`${name}Request`, `${name}Response`] as const }
}

const requestLines = ({ log }: TestProxy) => log.filter(({ msg }) => msg === 'request')

it('answers health checks without a log line', async () => {
  const serving = { code: status.OK, answers: [{ status: 'SERVING' }] }
  expect(await check('')).toMatchObject(serving)
  expect(await check('chainguard.platform.iam.Groups')).toMatchObject(serving)
  expect(await check('chainguard.platform.iam.Trees')).toMatchObject({ code: status.NOT_FOUND, text: 'unknown service', answers: [] })
  expect(await check('', 'Drain')).toMatchObject({ code: status.UNIMPLEMENTED })
  expect(requestLines(proxy)).toEqual([])
})

it('answers health checks when no other call is admitted', async () => {
  const busy = await startProxy({ 'upstream.v2': sandbox.url, 'limits.callerPerSecond': 1 })
  const to = connect(busy.url)
  const checks = ['grpc.health.v1.HealthCheckRequest', 'grpc.health.v1.HealthCheckResponse'] as const
  for (let nth = 0; nth < 3; nth += 1) {
    expect(await ask(to, '/grpc.health.v1.Health/Check', checks, {})).toMatchObject({ code: status.OK })
  }
  to.close()
  await busy.close()
})

it('keeps health checks apart from the room of all bodies', async () => {
  const full = await startProxy({ 'upstream.v2': sandbox.url, 'limits.requestBytes': 1, 'limits.bodiesBytes': 1 })
  const to = connect(full.url)
  const checks = ['grpc.health.v1.HealthCheckRequest', 'grpc.health.v1.HealthCheckResponse'] as const
  const of = (service: string) => ask(to, '/grpc.health.v1.Health/Check', checks, { service })
  expect(await of('chainguard.platform.iam.Groups')).toMatchObject({ code: status.OK })
  expect(await of('x'.repeat(16 * 1024))).toMatchObject({ code: status.RESOURCE_EXHAUSTED })
  to.close()
  await full.close()
})

it('is not healthy before v2 has answered', async () => {
  const early = await startProxy({ 'upstream.v2': 'http://127.0.0.1:1' })
  const to = connect(early.url)
  const checks = ['grpc.health.v1.HealthCheckRequest', 'grpc.health.v1.HealthCheckResponse'] as const
  expect(await ask(to, '/grpc.health.v1.Health/Check', checks, {})).toMatchObject({ answers: [{ status: 'NOT_SERVING' }] })
  to.close()
  await early.close()
})

it.each(['v1', 'v1alpha'])('answers reflection %s', async (version) => {
  const { path, types } = reflection(version)
  const { code, answers } = await ask(client, path, types, { fileContainingSymbol: 'chainguard.platform.ping.PingService' })
  expect(code).toBe(status.OK)
  expect(answers).toMatchObject([{ fileDescriptorResponse: { fileDescriptorProto: [expect.any(String)] } }])
  expect(requestLines(proxy).at(-1)).toMatchObject({ operation: 'reflection', grpcStatus: 'OK' })
})

it('passes reflection to v2 where it is turned off', async () => {
  const plain = await startProxy({ 'upstream.v2': sandbox.url, 'grpc.reflection': false })
  const to = connect(plain.url)
  const { path, types } = reflection('v1')
  expect(await ask(to, path, types, { listServices: '' })).toMatchObject({ code: status.UNIMPLEMENTED, answers: [] })
  expect(requestLines(plain)).toMatchObject([{ operation: 'grpc', mode: 'native' }])
  to.close()
  await plain.close()
})
