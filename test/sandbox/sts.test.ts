import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type CryptoKey, decodeJwt, exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { humanUid, mintToken } from '../../src/sandbox/auth/tokens.ts'
import { BASE_URL, freshBench, START, told } from './stage.ts'

/** A third-party issuer on this machine. Discovery finds its keys. */
type Outside = { readonly server: Server; readonly url: string; readonly key: CryptoKey; readonly jwks: string }
let outside: Outside

beforeAll(async () => {
  const { privateKey, publicKey } = await generateKeyPair('RS256')
  const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256' }] })
  const server = createServer((request, response) => {
    const keys = request.url === '/keys'
    response.end(keys ? jwks : JSON.stringify({ issuer: outside.url, jwks_uri: `${outside.url}/keys` }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  outside = { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, key: privateKey, jwks }
})
afterAll(() => new Promise((resolve) => outside.server.close(resolve)))

const bench = freshBench()

const sign = (claims: JWTPayload = {}, key = outside.key) => {
  const iat = START / 1000
  const payload = { iss: outside.url, sub: 'ci', aud: BASE_URL, iat, exp: iat + 60, ...claims }
  return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'k' }).sign(key)
}

/** Creates an identity of example.com that is a viewer there. */
const viewer = async (relationship: object): Promise<string> => {
  const { uid } = await bench.done(`POST /iam/v2/identities/${bench.org}`, { name: 'ci', ...relationship })
  await bench.done(`POST /iam/v2/roleBindings/${bench.org}`, { identityUid: uid, roleUid: bench.role('viewer') })
  return uid
}

const matchCi = () => ({ claimMatch: { issuer: outside.url, subject: 'ci' } })
const exchange = (token: string | undefined, query: Record<string, string | string[]>) => {
  const pairs = Object.entries(query).flatMap(([name, value]) => [value].flat().map((one): [string, string] => [name, one]))
  return bench.call(`GET /sts/exchange?${new URLSearchParams(pairs)}`, undefined, token)
}
const readsOrg = async (token: string) => (await bench.call(`GET /iam/v2/groups/${bench.org}`, undefined, token)).status

describe('bearer tokens (specification §5)', () => {
  it.each([undefined, '', 'nonsense', 'a.b.c', 'demo-nobody'])('identify no caller: %j', async (token) => {
    expect(await bench.told('GET /iam/v2/groups', undefined, token)).toMatchObject({
      status: 401,
      code: 16,
      reason: 'UNAUTHENTICATED',
      message: 'Unauthenticated: missing or invalid token',
    })
  })

  it('of a third party assume the identity whose claim match they satisfy', async () => {
    await viewer(matchCi())
    expect(await readsOrg(await sign())).toBe(200)
    expect(await readsOrg(await sign({ sub: 'other' }))).toBe(401)
    expect(await readsOrg(await sign({ aud: 'elsewhere' }))).toBe(401)
  })

  it('must be signed by their issuer and still be valid', async () => {
    await viewer(matchCi())
    const { privateKey } = await generateKeyPair('RS256')
    expect(await readsOrg(await sign({}, privateKey))).toBe(401)
    const token = await sign()
    bench.clock.advance(60_000)
    expect(await readsOrg(token)).toBe(401)
  })

  it('match one identity: exact subject beats pattern; two equal matches are rejected', async () => {
    await viewer({ claimMatch: { issuer: outside.url, subjectPattern: '.*' } })
    await viewer(matchCi())
    expect(await readsOrg(await sign())).toBe(200)
    await viewer(matchCi())
    expect(await readsOrg(await sign())).toBe(401)
  })

  it('do not match an identity that any issuer can vouch for', async () => {
    await viewer({ claimMatch: { issuerPattern: '.*', subjectPattern: '.*' } })
    expect(await readsOrg(await sign())).toBe(401)
  })

  it('become invalid with their identity', async () => {
    const uid = await viewer(matchCi())
    const { body } = await exchange(await sign(), { aud: BASE_URL, identity: uid })
    expect(await readsOrg(body.token)).toBe(200)
    await bench.done(`DELETE /iam/v2/identities/${uid}`)
    expect(await readsOrg(body.token)).toBe(401)
  })
})

describe('the token exchange (semantics §2.6)', () => {
  it('issues an access token for an hour', async () => {
    const uid = await viewer(matchCi())
    const { status, body } = await exchange(await sign(), { aud: BASE_URL, identity: uid })
    expect({ status, ...body }).toEqual({ status: 200, token: expect.any(String), refreshToken: '', expiry: '2026-03-01T13:00:00.000Z' })
    expect(decodeJwt(body.token)).toEqual({
      iss: BASE_URL,
      sub: uid,
      aud: BASE_URL,
      iat: START / 1000,
      exp: START / 1000 + 3600,
      act: { iss: outside.url, sub: 'ci', aud: BASE_URL },
    })
    expect(await readsOrg(body.token)).toBe(200)
    bench.clock.advance(3_600_000)
    expect(await readsOrg(body.token)).toBe(401)
  })

  it('reads its parameters from a form or a JSON body', async () => {
    const uid = await viewer(matchCi())
    const form = new URLSearchParams({ aud: BASE_URL, identity: uid })
    expect(await bench.status('POST /sts/exchange', form, await sign())).toBe(200)
    expect(await bench.status('POST /sts/exchange', { aud: [BASE_URL], identity: uid }, await sign())).toBe(200)
    expect(await bench.told('POST /sts/exchange', { identity: uid }, await sign())).toMatchObject({
      code: 3,
      fields: ['aud'],
      message: 'Invalid argument: aud: Audience must be specified',
    })
    expect(await bench.status('POST /sts/exchange', { aud: 7 }, await sign())).toBe(400)
  })

  it('updates the last-seen time of the identity', async () => {
    const uid = await viewer(matchCi())
    bench.clock.advance(1000)
    await exchange(await sign(), { aud: 'x', identity: uid })
    expect(bench.world.store.identities.get(uid)?.lastSeenTime).toBe('2026-03-01T12:00:01.000Z')
  })

  it.each([
    [{ sub: 'other' }, 'invalid "sub"'],
    [{ iss: 'https://far.example' }, 'is not on this machine'],
    [{ aud: 'x' }, 'invalid "aud"'],
    [{ exp: START / 1000 - 1 }, 'verifying token: oidc: token is expired (Token Expiry: 2026-03-01 11:59:59 +0000 UTC)'],
  ])('denies a token with %j', async (claims, text) => {
    const uid = await viewer(matchCi())
    const reply = await exchange(await sign(claims), { aud: BASE_URL, identity: uid })
    expect(reply).toMatchObject({ status: 403, body: { code: 7, message: expect.stringContaining(text) } })
  })

  it('refuses an issuer that is off this machine or does not answer', async () => {
    const uid = await viewer({ claimMatch: { issuerPattern: '.*', subject: 'ci' } })
    for (const iss of ['http://127.0.0.1.example.com', 'http://localhost:1', 'http://169.254.169.254/latest']) {
      const reply = await exchange(await sign({ iss }), { aud: BASE_URL, identity: uid })
      expect(reply).toMatchObject({ status: 403, body: { message: expect.stringContaining('verifying token: issuer') } })
    }
  })

  const unsigned = (claims: object, header: object = {}): string =>
    [{ alg: 'RS256', ...header }, claims, ''].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.')

  it.each([
    ['issuer', unsigned({ iss: 5 })],
    ['issuer of an access token', unsigned({ iss: 5 }, { typ: 'at+jwt' })],
    ['type', unsigned({ iss: ['x'] }, { typ: 5 })],
  ])('refuses a token whose %s is no text', async (_, token) => {
    expect(await exchange(token, { aud: 'x' })).toMatchObject({ status: 401 })
  })

  it.each([1, { kty: 'RSA', alg: 'RS256', kid: 'k' }])('denies a token whose identity stores the broken key %j', async (key) => {
    const staticKeys = { issuer: 'https://far.example', subject: 's', issuerKeys: JSON.stringify({ keys: [key] }) }
    const uid = await viewer({ staticKeys })
    const reply = await exchange(await sign({ iss: 'https://far.example', sub: 's' }), { aud: 'x', identity: uid })
    expect(reply).toMatchObject({ status: 403, body: { message: expect.stringContaining('verifying token: ') } })
  })

  it.each(['null', '{"jwks_uri":"http://localhost:99999/"}'])('denies a token whose issuer is configured as %s', async (configuration) => {
    const issuer = createServer((_request, response) => response.end(configuration))
    await new Promise<void>((resolve) => issuer.listen(0, '127.0.0.1', resolve))
    const iss = `http://127.0.0.1:${(issuer.address() as AddressInfo).port}`
    const reply = await exchange(await sign({ iss }), { aud: 'x' })
    issuer.close()
    expect(reply).toMatchObject({ status: 403, body: { message: expect.stringContaining('names no usable jwks_uri') } })
  })

  it('requires a token and an existing identity that can be assumed', async () => {
    expect(await exchange(undefined, { aud: 'x' })).toMatchObject({ status: 401 })
    expect(await exchange('nonsense', { aud: 'x', identity: await viewer(matchCi()) })).toMatchObject({ status: 401 })
    expect(await exchange(await sign(), { aud: 'x', identity: `${bench.org}/0000000000000000` })).toMatchObject({ status: 404 })
    const service = await viewer({ servicePrincipal: 'SERVICE_PRINCIPAL_INGESTER' })
    expect(await exchange(await sign(), { aud: 'x', identity: service })).toMatchObject({ status: 403 })
  })

  it('verifies static keys without contacting the issuer', async () => {
    const staticKeys = {
      issuer: 'https://far.example',
      subject: 'puller',
      issuerKeys: outside.jwks,
      expirationTime: '2026-03-02T12:00:00Z',
    }
    const uid = await viewer({ staticKeys })
    const token = () => sign({ iss: staticKeys.issuer, sub: staticKeys.subject, exp: START / 1000 + 10 * 24 * 3600 })
    expect(await exchange(await token(), { aud: 'x', identity: uid })).toMatchObject({ status: 200 })
    expect(await readsOrg(await token())).toBe(200)
    bench.clock.advance(24 * 3600 * 1000)
    expect(await exchange(await token(), { aud: 'x', identity: uid })).toMatchObject({
      status: 403,
      body: { message: 'Permission denied: the keys of the identity have expired' },
    })
  })

  it('narrows by scope and capability', async () => {
    const { uid: folder } = await bench.done(`POST /iam/v2/groups/${bench.org}`, { name: 'folder' })
    const scoped = (await exchange('demo-owner', { aud: 'x', scopes: [folder], cap: ['groups.list', 'CAP_REPO_LIST'] })).body.token
    expect(await readsOrg(scoped)).toBe(403)
    expect(await bench.status(`GET /iam/v2/groups/${folder}`, undefined, scoped)).toBe(200)
    expect(await bench.status(`DELETE /iam/v2/groups/${folder}`, undefined, scoped)).toBe(403)
  })

  it('never widens a narrowed token', async () => {
    const { uid: folder } = await bench.done(`POST /iam/v2/groups/${bench.org}`, { name: 'folder' })
    const narrow = (await exchange('demo-owner', { aud: 'x', scope: folder, cap: 'groups.list' })).body.token
    expect(await exchange(narrow, { aud: 'x', scopes: bench.org })).toMatchObject({ status: 403 })
    const again = (await exchange(narrow, { aud: 'x', cap: ['groups.list', 'groups.delete'] })).body.token
    expect(await bench.status(`GET /iam/v2/groups/${folder}`, undefined, again)).toBe(200)
    expect(await bench.status(`DELETE /iam/v2/groups/${folder}`, undefined, again)).toBe(403)
  })

  it('keeps a token narrow with another identity and refuses it for a sign-in', async () => {
    const first = await viewer(matchCi())
    const second = await viewer({ claimMatch: { issuer: BASE_URL, subject: first } })
    const { token } = (await exchange(await sign(), { aud: BASE_URL, identity: first, cap: 'tag.list' })).body
    const { body } = await exchange(token, { aud: BASE_URL, identity: second })
    expect(decodeJwt(body.token)).toMatchObject({ sub: second, capabilities: ['tag.list'] })
    expect(await readsOrg(body.token)).toBe(403)
    expect(await exchange(token, { aud: BASE_URL, identity_provider: bench.org })).toMatchObject({ status: 403 })
  })

  it('refuses unknown capabilities and malformed scopes', async () => {
    expect(told(await exchange('demo-owner', { aud: 'x', cap: 'nonsense' }))).toMatchObject({ code: 3, fields: ['cap'] })
    expect(told(await exchange('demo-owner', { aud: 'x', scopes: '/' }))).toMatchObject({ code: 3, fields: ['scopes'] })
  })
})

describe('users', () => {
  const register = (): string => {
    const uid = humanUid(outside.url, 'ci')
    bench.world.store.identities.put({ ...bench.world.store.identities.get(bench.user('carol@example.com'))!, uid })
    return uid
  }

  it('exchange their own token and refresh it', async () => {
    expect(await exchange(await sign(), { aud: 'x' })).toMatchObject({
      status: 403,
      body: { message: 'Permission denied: identity not registered' },
    })
    const uid = register()
    const { body } = await exchange(await sign(), { aud: ['x', 'y'] })
    expect(decodeJwt(body.token)).toMatchObject({ sub: uid, aud: ['x', 'y'] })
    bench.clock.advance(2 * 3_600_000)
    const form = new URLSearchParams({ aud: 'x' })
    const next = await bench.call('POST /sts/exchange_refresh_token', form, body.refreshToken)
    expect(decodeJwt(next.body.token.token)).toMatchObject({ sub: uid, aud: 'x' })
    expect(decodeJwt(next.body.refreshToken.token)).toMatchObject({ sub: uid })
  })

  it('cannot call the API with a refresh token, nor refresh with an access token', async () => {
    register()
    const { body } = await exchange(await sign(), { aud: 'x' })
    expect(await bench.status('GET /iam/v2/groups', undefined, body.refreshToken)).toBe(401)
    expect(await exchange(body.refreshToken, { aud: 'x' })).toMatchObject({ status: 401 })
    expect(await bench.status('POST /sts/exchange_refresh_token?aud=x', undefined, body.token)).toBe(401)
    expect(await bench.status('POST /sts/exchange_refresh_token?aud=x', undefined, undefined)).toBe(401)
  })
})

describe('signing in through an identity provider (semantics §2.6, §3.3)', () => {
  const provider = async (oidc: object = {}): Promise<string> => {
    const made = {
      name: 'okta',
      defaultRole: bench.role('apk.pull'),
      oidc: { issuer: outside.url, clientId: 'client', pkceEnabled: true, groupsClaim: 'groups', ...oidc },
    }
    return (await bench.done(`POST /iam/v2/identityProviders/${bench.org}`, made)).uid
  }
  const person = { sub: 'dave', aud: 'client', email: 'dave@example.com', email_verified: true, groups: ['devs'] }

  it('registers the user once, with the default role', async () => {
    const query = { aud: 'x', identity_provider: await provider() }
    const before = bench.world.store.roleBindings.size()
    const { body } = await exchange(await sign(person), query)
    await exchange(await sign(person), query)
    const uid = humanUid(outside.url, 'dave')
    expect(decodeJwt(body.token)).toMatchObject({ sub: uid })
    expect(body.refreshToken).toBe('')
    expect(bench.world.store.identities.get(uid)).toMatchObject({
      name: 'dave@example.com',
      email: 'dave@example.com',
      emailUnverified: '',
    })
    expect(bench.world.store.roleBindings.size()).toBe(before + 1)
    expect(await readsOrg(body.token)).toBe(200)
    expect(await bench.status(`GET /iam/v2/identities?uidp.children_of=${bench.org}`, undefined, body.token)).toBe(200)
  })

  it('grants the roles of mapped groups for the life of the token, while mapped', async () => {
    const uid = await provider()
    const mapping = { externalGroupId: 'devs', roleUid: bench.role('owner'), scope: bench.org }
    const { token } = (await exchange(await sign(person), { aud: 'x', identity_provider: uid })).body
    const makeFolder = () => bench.call(`POST /iam/v2/groups/${bench.org}`, { name: 'mine' }, token)
    expect(await makeFolder()).toMatchObject({ status: 403 })
    const mapped = await bench.done(`POST /iam/v2/externalGroupRoleMappings/${uid}`, mapping)
    expect(await makeFolder()).toMatchObject({ status: 200 })
    await bench.done(`DELETE /iam/v2/externalGroupRoleMappings/${mapped.uid}`)
    expect(await makeFolder()).toMatchObject({ status: 403 })
  })

  it('can identify people by another claim', async () => {
    const identity_provider = await provider({ correlationRule: 'CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID' })
    const { body } = await exchange(await sign({ ...person, oid: 'object-1' }), { aud: 'x', identity_provider })
    expect(decodeJwt(body.token).sub).toBe(humanUid(outside.url, 'object-1'))
    expect(await exchange(await sign(person), { aud: 'x', identity_provider })).toMatchObject({ status: 403 })
  })

  it('requires a token of that issuer for that client', async () => {
    const identity_provider = await provider()
    const denied = async (claims: object) =>
      (await exchange(await sign({ ...person, ...claims }), { aud: 'x', identity_provider })).body.message
    expect(await denied({ aud: 'other' })).toContain('invalid "aud"')
    const elsewhere = await provider({ issuer: 'http://127.0.0.1:1' })
    expect((await exchange(await sign(person), { aud: 'x', identity_provider: elsewhere })).body.message).toContain('invalid "iss"')
    expect(await exchange(await sign(person), { aud: 'x', identity_provider: bench.org })).toMatchObject({ status: 404 })
  })
})

describe('the sandbox as an issuer', () => {
  it('shows its configuration and its public key only', async () => {
    const configuration = await bench.call('GET /.well-known/openid-configuration', undefined, undefined)
    expect(configuration.body).toMatchObject({ issuer: BASE_URL, jwks_uri: `${BASE_URL}/.well-known/jwks.json` })
    const { body } = await bench.call('GET /.well-known/jwks.json', undefined, undefined)
    expect(body.keys).toEqual([{ kty: 'RSA', n: expect.any(String), e: 'AQAB', kid: 'sandbox-1', alg: 'RS256', use: 'sig' }])
  })

  it('mints a token that matches an identity', async () => {
    await viewer({ claimMatch: { issuer: BASE_URL, subject: 'robot', claims: { ref: 'main' } } })
    const { token } = (await bench.call('POST /-/token', { subject: 'robot', claims: { ref: 'main', sub: 'other' } }, undefined)).body
    expect(decodeJwt(token)).toMatchObject({ iss: BASE_URL, sub: 'robot', aud: BASE_URL })
    expect(await readsOrg(token)).toBe(200)
    expect(await readsOrg((await mintToken(bench.world, { subject: 'robot' })).token)).toBe(401)
    expect(await readsOrg((await mintToken(bench.world, { subject: 'robot', claims: { ref: 'main' }, lifetimeSeconds: -1 })).token)).toBe(
      401,
    )
  })

  it.each([999_999_999_999_999, -999_999_999_999_999])('mints no token that lives for %d seconds', async (lifetimeSeconds) => {
    expect(await bench.told('POST /-/token', { subject: 'robot', lifetimeSeconds }, undefined)).toMatchObject({
      status: 400,
      fields: ['lifetimeSeconds'],
    })
  })

  it('acts as other issuers below its own address and as no others', async () => {
    const issuer = `${BASE_URL}/other`
    await viewer({ claimMatch: { issuer, subject: 'robot', audience: 'me' } })
    expect(await readsOrg((await mintToken(bench.world, { subject: 'robot', issuer, audience: ['me'] })).token)).toBe(200)
    expect(await bench.told('POST /-/token', { subject: 's', issuer: 'https://far.example' }, undefined)).toMatchObject({
      fields: ['issuer'],
    })
  })

  it('mints an access token of an identity', async () => {
    const { body } = await bench.call('POST /-/token', { identity: bench.user('carol@example.com') }, undefined)
    expect(await readsOrg(body.token)).toBe(200)
    expect(await bench.status('POST /-/token', { identity: bench.org }, undefined)).toBe(404)
  })

  it.each([{}, { subject: '' }, { subject: 's', identity: 'i' }, []])('rejects %j and names the expected members', async (body) => {
    expect(await bench.call('POST /-/token', body, undefined)).toMatchObject({ status: 400, body: { code: 3 } })
  })
})
