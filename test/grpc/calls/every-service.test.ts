import type { StatusObject } from '@grpc/grpc-js'
import { beforeAll, describe, expect, it } from 'vitest'
import { mappings } from '../../../mappings/index.ts'
import type { Config } from '../../../src/app/config/settings.ts'
import { type Facts, readFacts } from '../../../src/grpc/facts.ts'
import { methodRows } from '../../docs/generated.ts'
import { sampled } from '../../sample.ts'
import { startStage, type TestProxy } from '../../stage/stage.ts'
import { startUpstream } from '../../stage/upstream.ts'
import { answerWith, connect, framed, startBareService } from '../client.ts'

/**
 * Every method of v1's published protos, over gRPC, gRPC-Web and Connect. A method that only v1 has reaches v1 as its REST operation does, in
 * every mode. Without v1 its call ends with code 12 in the form of its protocol.
 */

const facts: Facts = readFacts().v1
const rows = methodRows(facts, mappings)
const passedOn = rows.filter(({ fate }) => fate === 'passed on to v1').map(({ name }) => name)

interface Told {
  readonly code: number
  readonly message: string
}

const PROTOCOLS = {
  async grpc(url: string, path: string): Promise<Told> {
    const { code, message } = await overGrpc(url, path)
    return { code, message }
  },
  async 'gRPC-Web'(url: string, path: string): Promise<Told> {
    const headers = { 'content-type': 'application/grpc-web+proto', 'x-grpc-web': '1' }
    const response = await fetch(url + path, { method: 'POST', headers, body: framed('') })
    const text = Buffer.from(await response.arrayBuffer()).toString('latin1')
    const said = (name: string) => response.headers.get(name) ?? new RegExp(`${name}: ?([^\r\n]*)`).exec(text)?.[1] ?? ''
    return { code: Number(said('grpc-status') || Number.NaN), message: decodeURIComponent(said('grpc-message')) }
  },
  Connect: (url: string, path: string) => overConnect(url, path, 'application/proto', Buffer.alloc(0)),
  'Connect as JSON': (url: string, path: string) => overConnect(url, path, 'application/json', Buffer.from('{}')),
}

/** Reads an answer of several messages, whose texts stand behind a tag and a length. */
async function overGrpc(url: string, path: string) {
  const client = connect(url)
  const texts: string[] = []
  const same = (bytes: Buffer) => bytes
  const call = client.makeServerStreamRequest(path, same, same, Buffer.alloc(0))
  call.on('data', (bytes: Buffer) => texts.push(bytes.subarray(2).toString())).on('error', () => {})
  const { code, details: message } = await new Promise<StatusObject>((resolve) => call.on('status', resolve))
  client.close()
  return { texts, code, message }
}

async function overConnect(url: string, path: string, type: string, body: Buffer): Promise<Told> {
  const response = await fetch(url + path, { method: 'POST', headers: { 'content-type': type, 'connect-protocol-version': '1' }, body })
  if (response.status === 200) return { code: 0, message: '' }
  const { code, message } = (await response.json()) as { code?: unknown; message?: string }
  return { code: code === 'unimplemented' ? 12 : Number.NaN, message: message ?? '' }
}

/** gRPC carries every method, and each other protocol a part of them. */
const protocols = Object.entries(PROTOCOLS).map(
  ([name, call], nth) => [name, call, nth === 0 ? passedOn : sampled(passedOn, 16, nth)] as const,
)

let v1: { readonly url: string }
let v2: { readonly url: string }
const seen: string[] = []

beforeAll(async () => {
  const answer = (name: string) =>
    startBareService((stream, { ':path': path }) => {
      seen.push(`${name} ${path}`)
      answerWith(stream, framed(''), { 'grpc-status': '0' })
    })
  v1 = await answer('v1')
  v2 = await answer('v2')
})

const proxyWith = (values: Partial<Config>): Promise<TestProxy> =>
  startStage({ v1: null, v2: v2.url, proxy: { 'log.level': 'silent', ...values } })

it('knows all of them', () => {
  expect(rows.length).toBe(187)
  expect(new Set(rows.map(({ name }) => name)).size).toBe(187)
})

describe.each(protocols)('over %s, a method that only v1 has', (_, call, passedOn) => {
  it.each(['v1', 'v2', 'diff-v1'] as const)('reaches v1 in mode %s', async (mode) => {
    const proxy = await proxyWith({ 'upstream.v1': v1.url, modes: { default: mode, rules: [], testers: [] } })
    // The other modes take the same way; a fifth of the methods shows it.
    for (const name of passedOn.filter((_, nth) => mode === 'v1' || nth % 5 === 0)) {
      seen.length = 0
      expect([name, await call(proxy.url, `/${name}`), [...seen]]).toEqual([name, { code: 0, message: '' }, [`v1 /${name}`]])
    }
  })

  it('ends with code 12 and the sentence of REST without v1', async () => {
    const proxy = await proxyWith({})
    for (const name of passedOn) {
      seen.length = 0
      const { code, message } = await call(proxy.url, `/${name}`)
      expect([name, code, message, [...seen]]).toEqual([name, 12, expect.stringContaining('needs a v1 service: '), []])
    }
  })
})

describe.each(protocols)('over %s, a read whose id no path can hold', (_, call) => {
  const reads = ['registry.Registry/GetArchs', 'registry.Registry/GetSize', 'libraries.Artifacts/ListVersions']
  it.each(reads.map((name) => `chainguard.platform.${name}`))('reaches v1 as it came, and is refused without v1: %s', async (name) => {
    const proxy = await proxyWith({ 'upstream.v1': v1.url })
    seen.length = 0
    expect([await call(proxy.url, `/${name}`), [...seen]]).toEqual([{ code: 0, message: '' }, [`v1 /${name}`]])
    const alone = await proxyWith({})
    seen.length = 0
    const { code, message } = await call(alone.url, `/${name}`)
    expect([code === 0, message, [...seen]]).toEqual([false, expect.stringMatching(/^Invalid argument: \w+: must not be empty$/), []])
  })
})

it('gives v1 all its methods in mode v1, and messages without an id as they came', async () => {
  const proxy = await proxyWith({ 'upstream.v1': v1.url, modes: { default: 'v1', rules: [], testers: [] } })
  for (const { name } of rows.filter(({ fate }) => fate === 'served')) {
    seen.length = 0
    expect([name, (await PROTOCOLS.grpc(proxy.url, `/${name}`)).code, [...seen]]).toEqual([name, 0, [`v1 /${name}`]])
  }
})

it('passes an id with a slash to v1 as it came, and says of it without v1 what is wrong', async () => {
  const path = '/chainguard.platform.libraries.Artifacts/ListVersions'
  const body = Buffer.from(JSON.stringify({ id: 'javascript:@types/node' }))
  const proxy = await proxyWith({ 'upstream.v1': v1.url })
  seen.length = 0
  expect([await overConnect(proxy.url, path, 'application/json', body), [...seen]]).toEqual([{ code: 0, message: '' }, [`v1 ${path}`]])
  const { message } = await overConnect((await proxyWith({})).url, path, 'application/json', body)
  expect(message).toBe('Invalid argument: id: must not have a slash: it is one segment of a path')
})

it.each(protocols)('passes calls of the token service to v2 over %s', async (_, call) => {
  const proxy = await proxyWith({ 'upstream.v1': v1.url })
  seen.length = 0
  await call(proxy.url, '/chainguard.platform.auth.Auth/GetHeadlessSession')
  expect(seen).toEqual(['v2 /chainguard.platform.auth.Auth/GetHeadlessSession'])
})

describe('a method whose answer is a stream of messages', () => {
  const DUMP = '/chainguard.platform.argos.ArgosOSV/Dump'
  const part = (text: string) => Buffer.from([0x12, text.length, ...Buffer.from(text)])
  const several = Buffer.concat(['one', 'two', 'three'].map((text) => framed(part(text))))

  const dumping = async (body: Buffer, values: Partial<Config> = {}) => {
    const service = await startBareService((stream) => answerWith(stream, body, { 'grpc-status': '0' }))
    return proxyWith({ 'upstream.v1': service.url, ...values })
  }
  it.each(['v1', 'v2', 'diff-v1', 'diff-v2'] as const)('passes on all of them over gRPC, in mode %s', async (mode) => {
    const proxy = await dumping(several, { modes: { default: mode, rules: [], testers: [] } })
    expect(await overGrpc(proxy.url, DUMP)).toEqual({ texts: ['one', 'two', 'three'], code: 0, message: '' })
  })

  it('passes on a stream without any, and none that ends within a message', async () => {
    expect(await overGrpc((await dumping(Buffer.alloc(0))).url, DUMP)).toEqual({ texts: [], code: 0, message: '' })
    const { texts, code, message } = await overGrpc((await dumping(several.subarray(0, -1))).url, DUMP)
    expect([texts, code, message]).toEqual([[], 13, expect.stringContaining('cannot be passed on')])
  })

  it('passes on all of them over gRPC-Web', async () => {
    const { url } = await dumping(several)
    const headers = { 'content-type': 'application/grpc-web+proto', 'x-grpc-web': '1' }
    const response = await fetch(url + DUMP, { method: 'POST', headers, body: framed('') })
    const body = Buffer.from(await response.arrayBuffer())
    expect(body.subarray(0, several.length).equals(several)).toBe(true)
    expect(body.subarray(several.length).toString('latin1')).toMatch(/^\x80.{4}grpc-status: 0\r\n$/s)
  })

  it.each(['Connect', 'Connect as JSON'] as const)('says over %s that only gRPC carries them', async (protocol) => {
    const { url } = await dumping(several)
    const message = 'Dump answers with several messages, which only gRPC and gRPC-Web with messages in bytes carry'
    expect(await PROTOCOLS[protocol](url, DUMP)).toEqual({ code: 12, message })
  })

  it.each(['grpc', 'Connect as JSON'] as const)(
    'is refused over %s if v1 is asked over REST, which has no such message',
    async (protocol) => {
      const gateway = await startUpstream((_, response) => response.end('{"result":{"chunk":"AQI="}}\n'))
      const { url } = await proxyWith({ 'upstream.v1': gateway.url, 'upstream.v1Grpc': 'rest' })
      const message = 'REST cannot carry the messages of Dump; set upstream.v1Grpc to relay if v1 speaks gRPC'
      expect(await PROTOCOLS[protocol](url, DUMP)).toEqual({ code: 12, message })
      expect(gateway.seen).toEqual([])
    },
  )

  it('is the only one: several messages of another method are no answer', async () => {
    const { url } = await dumping(several)
    expect(await overGrpc(url, '/chainguard.platform.argos.ArgosOSV/Query')).toMatchObject({ texts: [], code: 13 })
  })
})
