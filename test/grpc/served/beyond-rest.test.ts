import { status } from '@grpc/grpc-js'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { START } from '../../sandbox/running.ts'
import { startProxy } from '../../stage/proxy.ts'
import { startQuietSandbox } from '../../stage/sandbox.ts'
import { v1Client } from './v1-client.ts'

const RESOLVED = 'advisory.SecurityAdvisory/ListResolvedVulnsReports'
const COUNTS = 'registry.Vulnerabilities/ListVulnCountReports'
const at = (time: string | number) => ({ seconds: new Date(time).getTime() / 1000 })
const DAYS = { from: at('2026-01-27T00:00:00Z'), to: at('2026-01-29T12:00:00Z') }
const ASKED = { image_refs: [{ repo: 'nginx', tags: ['1.27'] }, { repo: 'nginx' }], ...DAYS }
const COUNTED = { references: [{ repo: 'redis', tag: 'latest' }], from: at(START), to: at(START) }

let sandbox: Sandbox

beforeAll(async () => {
  sandbox = await startQuietSandbox({ now: START })
})

afterAll(() => sandbox.close())

const clientWith = async (values: Partial<Config>) => {
  const proxy = await startProxy({ 'upstream.v2': sandbox.url, ...values })
  const client = v1Client(proxy.url, sandbox.tokens.owner)
  onTestFinished(async () => {
    client.close()
    await proxy.close()
  })
  return { proxy, client }
}

/** The answer of the sandbox's own v1. */
const genuine = async (name: string, message: object) => {
  const client = v1Client(sandbox.url, sandbox.tokens.owner)
  const { message: answer } = await client.call(name, message as never)
  client.close()
  return answer
}

describe('resolved vulnerabilities, whose images only gRPC can carry', () => {
  it.each<[title: string, values: () => Partial<Config>]>([
    ['v2 alone', () => ({})],
    ['v2, compared', () => ({ 'upstream.v1': sandbox.url, modes: { default: 'diff-v2', rules: [], testers: [] } })],
    ['v1, compared', () => ({ 'upstream.v1': sandbox.url, modes: { default: 'diff-v1', rules: [], testers: [] } })],
    ['v1', () => ({ 'upstream.v1': sandbox.url, modes: { default: 'v1', rules: [], testers: [] } })],
  ])('are answered by %s as v1 answers them', async (_, values) => {
    const { client, proxy } = await clientWith(values())
    const { code, message } = await client.call(RESOLVED, ASKED)
    expect(code).toBe(status.OK)
    expect(message).toEqual(await genuine(RESOLVED, ASKED))
    expect(message.items.at(-1).resolved_vulns[0].id).toBe('CVE-2026-90034')
    expect(await proxy.logged(({ path }) => String(path).endsWith(RESOLVED))).toMatchObject({
      operation: 'advisory.resolved_vulns.list',
      grpcStatus: 'OK',
    })
  })

  it('have the errors of v2 with the names of v1', async () => {
    const { client } = await clientWith({})
    const { code, text, trailers } = await client.call(RESOLVED, { image_refs: [{ repo: 'nginx' }], to: DAYS.to })
    expect([code, text]).toEqual([status.INVALID_ARGUMENT, 'Invalid argument: from: is required'])
    expect(String(trailers.get('grpc-status-details-bin')[0])).toContain('google.rpc.BadRequest')
    const stranger = await client.call(RESOLVED, ASKED, { metadata: { authorization: 'Bearer nobody' } })
    expect(stranger.code).toBe(status.UNAUTHENTICATED)
  })

  it('are an empty list where v2 has none', async () => {
    const { client } = await clientWith({})
    const { code, message } = await client.call(RESOLVED, { ...ASKED, from: at('2031-10-05T00:00:00Z'), to: at('2031-10-06T00:00:00Z') })
    expect([code, message.items ?? []]).toEqual([status.OK, []])
  })

  it('are an outage if v2 says NOT_FOUND and names nothing', async () => {
    const { client } = await clientWith({})
    const fault = { match: 'GET /advisory/v2/images/resolvedVulns', times: 1, status: 404 }
    await fetch(`${sandbox.url}/-/faults`, { method: 'POST', body: JSON.stringify(fault) })
    expect(await client.call(RESOLVED, ASKED)).toMatchObject({
      code: status.UNAVAILABLE,
      text: 'the v2 service answered NOT_FOUND without naming a missing resource',
    })
  })

  it('are refused with a sentence if v2 is asked over REST', async () => {
    const { client } = await clientWith({ 'upstream.v2Grpc': 'rest' })
    expect(await client.call(RESOLVED, ASKED)).toMatchObject({
      code: status.INVALID_ARGUMENT,
      text: 'REST cannot carry image_refs of ListResolvedVulnsReports; set upstream.v2Grpc to relay if v2 speaks gRPC',
    })
  })
})

describe('a method that only v1 has, with what only gRPC can carry', () => {
  it('is relayed to v1', async () => {
    const { client } = await clientWith({ 'upstream.v1': sandbox.url })
    const { code, message } = await client.call(COUNTS, COUNTED)
    expect(code).toBe(status.OK)
    expect(message).toEqual(await genuine(COUNTS, COUNTED))
    expect(message.items).toHaveLength(1)
  })

  it('is refused with a sentence if v1 is asked over REST', async () => {
    const { client } = await clientWith({ 'upstream.v1': sandbox.url, 'upstream.v1Grpc': 'rest' })
    expect(await client.call(COUNTS, COUNTED)).toMatchObject({
      code: status.UNIMPLEMENTED,
      text: 'REST cannot carry references of ListVulnCountReports; set upstream.v1Grpc to relay if v1 speaks gRPC',
    })
    expect((await client.call(COUNTS, { ...COUNTED, references: [], repo: 'redis', tag: 'latest' })).code).toBe(status.OK)
  })
})
