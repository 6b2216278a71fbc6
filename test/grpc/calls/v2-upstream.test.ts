import { fromBinary, fromJson, type JsonValue, toBinary, toJson } from '@bufbuild/protobuf'
import { type Client, Metadata, status } from '@grpc/grpc-js'
import { beforeAll, describe, expect, it } from 'vitest'
import type { Config } from '../../../src/app/config/settings.ts'
import { type Stage, startStage } from '../../stage/stage.ts'
import { answerWith, callPath, connect, down, framed, read, startBareService } from '../client.ts'
import { methodOf } from '../messages.ts'

const PACKAGE = '/chainguard.platform.'

/** Calls a method of v2 or v2beta1 by its short name. Returns the code, the text and the message. */
async function called(client: Client, token: string, name: string, json: JsonValue) {
  const method = methodOf(name)
  const metadata = new Metadata()
  metadata.set('authorization', `Bearer ${token}`)
  const message = Buffer.from(toBinary(method.input, fromJson(method.input, json)))
  const { messages, status: end } = await callPath(client, method.path, message, { metadata }).answer
  return {
    code: end.code,
    text: end.details,
    message: messages[0] && (toJson(method.output, fromBinary(method.output, messages[0])) as Record<string, JsonValue>),
  }
}

describe('a v2 that speaks REST alone', () => {
  let proxy: Stage<null>
  let client: Client
  const call = (name: string, json: JsonValue) => called(client, proxy.sandbox.tokens.owner, name, json)

  beforeAll(async () => {
    proxy = await startStage({ v1: null, proxy: { 'upstream.v2Grpc': 'rest', 'v1.deprecation': 1_700_000_000 } })
    client = connect(proxy.url)
  })

  it.each(['v2', 'v2beta1'])('serves the cycle of a group over %s', async (version) => {
    const groups = `iam.${version}.GroupsService`
    const { message: listed = {} } = await call(`${groups}/ListGroups`, { uidp: { inRoot: true } })
    const [root] = listed.groups as { uid: string }[]
    const { message: created } = await call(`${groups}/CreateGroup`, { parent: root?.uid ?? '', group: { name: `of-${version}` } })
    const { uid = '' } = created as { uid: string }
    expect(await call(`${groups}/GetGroup`, { uid })).toMatchObject({ code: status.OK, message: created })
    const updated = await call(`${groups}/UpdateGroup`, { group: { uid, description: 'new' }, updateMask: 'description' })
    expect(updated.message).toMatchObject({ uid, name: `of-${version}`, description: 'new' })
    expect(await call(`${groups}/DeleteGroup`, { uid })).toMatchObject({ code: status.OK })
    expect(await call(`${groups}/GetGroup`, { uid })).toMatchObject({ code: status.NOT_FOUND })
  })

  it('logs such a call as one that passes', async () => {
    await call('ping.v2.PingService/Ping', {})
    expect(await proxy.logged(({ path }) => path === `${PACKAGE}ping.v2.PingService/Ping`)).toMatchObject({
      operation: 'grpc',
      mode: 'native',
      status: 200,
      grpcStatus: 'OK',
    })
  })

  it.each([`${PACKAGE}iam.v2beta1.OverlaysService/ListOverlays`, '/test.Echo/Unary'])(
    'says that REST has no request for %s',
    async (path) => {
      expect((await callPath(client, path).answer).status).toMatchObject({
        code: status.UNIMPLEMENTED,
        details: `v2 is asked over REST (upstream.v2Grpc: rest), which has no request for ${path}`,
      })
      expect((await read(down(client, 'Down'))).status.code).toBe(status.UNIMPLEMENTED)
    },
  )
})

describe('a v2 that speaks gRPC', () => {
  const pathFor = async (values: Partial<Config>, path: string) => {
    let asked: string | undefined
    const bare = await startBareService((stream, headers) => {
      asked = headers[':path']
      answerWith(stream, framed(''), { 'grpc-status': '0' })
    })
    const { url } = await startStage({ v1: null, v2: bare.url, proxy: values })
    expect((await callPath(connect(url), path).answer).status.code).toBe(status.OK)
    return asked
  }
  const BETA = `${PACKAGE}iam.v2beta1.GroupsService/ListGroups`

  const OVERLAYS = `${PACKAGE}iam.v2beta1.OverlaysService/ListOverlays`

  it.each<[string, Partial<Config>, string, string]>([
    ['v2beta1 under its own name', {}, BETA, BETA],
    ['v2beta1 under the name of v2', { 'grpc.v2beta1': 'v2' }, BETA, `${PACKAGE}iam.v2.GroupsService/ListGroups`],
    ['v2beta1 that v2 does not have under its own name', { 'grpc.v2beta1': 'v2' }, OVERLAYS, OVERLAYS],
  ])('gets a call of %s', async (_, values, path, asked) => {
    expect(await pathFor(values, path)).toBe(asked)
  })
})

describe.each(['relay', 'rest'] as const)('the exchange of tokens, upstream.v2Grpc: %s', (v2Grpc) => {
  let proxy: Stage
  let client: Client
  const STS = 'oidc.SecurityTokenService'

  beforeAll(async () => {
    // v2 gets the exchange in every mode.
    proxy = await startStage({ mode: 'v1', proxy: { 'upstream.v2Grpc': v2Grpc } })
    client = connect(proxy.url)
  })

  /** A token of a user that the sandbox's issuer signed, and the identity that it may assume. */
  async function outsider(): Promise<{ readonly token: string; readonly identity: string }> {
    const send = async (path: string, body: object) => {
      const headers = { authorization: `Bearer ${proxy.sandbox.tokens.owner}` }
      const answer = await fetch(proxy.sandbox.url + path, { method: 'POST', headers, body: JSON.stringify(body) })
      return (await answer.json()) as { uid: string; token: string }
    }
    const claimMatch = { issuer: `${proxy.sandbox.url}/ci`, subject: 'build' }
    const { uid } = await send(`/iam/v2/identities/${proxy.sandbox.organization}`, { name: 'ci', claimMatch })
    const { token } = await send('/-/token', claimMatch)
    return { token, identity: uid }
  }

  /** The status of a v1 read with a token, as the vendor's SDK sends it: without a scheme. */
  const reads = async (token: unknown) => (await fetch(`${proxy.url}/iam/v1/roles`, { headers: { authorization: String(token) } })).status

  it('serves both methods over gRPC', async () => {
    const { token, identity } = await outsider()
    const given = await called(client, token, `${STS}/Exchange`, { aud: [proxy.url], identity })
    expect(given).toMatchObject({ code: status.OK, message: { token: expect.any(String), expiry: expect.any(String) } })
    expect(await reads(given.message?.token)).toBe(200)
    const refused = await called(client, token, `${STS}/Exchange`, { identity })
    expect(refused).toMatchObject({ code: status.INVALID_ARGUMENT, text: expect.stringContaining('Audience must be specified') })
    const noRefreshToken = await called(client, token, `${STS}/ExchangeRefreshToken`, { aud: [proxy.url] })
    expect(noRefreshToken.code).toBe(status.UNAUTHENTICATED)
  })

  it('lets a client repeat an exchange that v2 could not make', async () => {
    const fault = { match: 'POST /sts/exchange', status: 503, times: 1 }
    await proxy.fault(fault)
    const { token, identity } = await outsider()
    expect((await called(client, token, `${STS}/Exchange`, { aud: ['a'], identity })).code).toBe(status.UNAVAILABLE)
    expect((await called(client, token, `${STS}/Exchange`, { aud: ['a'], identity })).code).toBe(status.OK)
  })

  it.each([
    ['GET with a query', 'GET', '/sts/exchange?aud=a&identity=$', undefined, undefined],
    ['POST with a query', 'POST', '/sts/exchange?aud=a&identity=$', undefined, undefined],
    ['POST with a form', 'POST', '/sts/exchange', 'application/x-www-form-urlencoded', 'aud=a&identity=$'],
    ['POST with JSON, as the SDK sends over HTTP/1.1', 'POST', '/sts/exchange', 'application/json', '{"aud":["a"],"identity":"$"}'],
    ['Connect', 'POST', `${PACKAGE}${STS}/Exchange`, 'application/json', '{"aud":["a"],"identity":"$"}'],
  ])('serves %s', async (_, method, path, type, body) => {
    const { token, identity } = await outsider()
    const answer = await fetch(proxy.url + path.replace('$', encodeURIComponent(identity)), {
      method,
      headers: { authorization: `Bearer ${token}`, ...(type && { 'content-type': type }) },
      ...(body !== undefined && { body: body.replace('$', type?.includes('form') ? encodeURIComponent(identity) : identity) }),
    })
    expect([answer.status, await reads(((await answer.json()) as { token?: string }).token)]).toEqual([200, 200])
  })
})
