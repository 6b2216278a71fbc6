import type { ServerResponse } from 'node:http'
import { exportSPKI, type JWTPayload, SignJWT, UnsecuredJWT } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createVerify, type OidcSettings } from '../../src/admin/oidc.ts'
import { Issuer, json, type Pair, pairOf } from '../stage/authority.ts'
import { bearer, startStage, type TestProxy } from '../stage/stage.ts'

const AUDIENCE = 'crosswalk-admin'

let issuer: Issuer
let first: Pair
let second: Pair
let proxy: TestProxy

const ALICE = { sub: 'u-1', email: 'alice@example.com' }

interface Spoilt {
  readonly key?: Pair
  readonly kid?: string
  readonly iss?: string
  readonly aud?: string
  readonly exp?: string | number
  readonly typ?: string
}

async function tokenOf(
  claims: JWTPayload,
  { key = first, kid, iss = issuer.url, aud = AUDIENCE, exp = '5 min', typ = 'JWT' }: Spoilt = {},
) {
  const made = new SignJWT(claims)
    .setProtectedHeader({ alg: 'ES256', kid: kid ?? key.kid, typ })
    .setIssuer(iss)
    .setAudience(aud)
    .setIssuedAt()
  return made.setExpirationTime(exp).sign(key.privateKey)
}

beforeAll(async () => {
  ;[first, second] = [await pairOf('k1'), await pairOf('k2')]
  issuer = await new Issuer().listen()
  issuer.keys = [first.jwk]
  proxy = await startStage({
    v1: null,
    v2: 'http://127.0.0.1:9',
    proxy: {
      'admin.token': 'the-token-that-changes',
      'admin.oidc.issuer': issuer.url,
      'admin.oidc.audience': [AUDIENCE],
      'admin.oidc.write': ['platform', 'on-call'],
      'admin.oidc.read': ['engineers'],
    },
  })
})

afterAll(() => issuer.close())

async function ask(token: string | undefined, method = 'GET', path = '/modes', body?: object) {
  const headers = { ...(token !== undefined && bearer(token)), ...(body && { 'content-type': 'application/json' }) }
  const answer = await fetch(proxy.adminUrl + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const right = answer.headers.get('x-crosswalk-right')
  return { status: answer.status, right, said: (await answer.json()) as { message?: string; by?: object; default?: string } }
}

describe('a token of the issuer', () => {
  it('names the person who changes the modes', async () => {
    const changed = await ask(await tokenOf({ ...ALICE, groups: ['staff', 'platform'] }), 'PUT', '/modes', { default: 'v2', rules: [] })
    expect(changed).toMatchObject({ status: 200 })
    const line = await proxy.logged(({ what }) => what === 'modes')
    expect(line).toMatchObject({ by: { source: 'admin', token: 'oidc:alice@example.com' } })
  })

  it('reads, and is told why it may not change anything', async () => {
    const token = await tokenOf({ ...ALICE, groups: ['engineers'] })
    expect(await ask(token)).toMatchObject({ status: 200 })
    expect(await ask(token, 'GET', '/report.json')).toMatchObject({ status: 200, right: 'read' })
    const refused = { message: 'this token only reads: to change something, its claim "groups" needs a value of admin.oidc.write' }
    expect(await ask(token, 'PUT', '/modes', { default: 'v1' })).toMatchObject({ status: 403, said: refused })
    const line = await proxy.logged(({ what, status }) => what === 'refused' && status === 403)
    expect(line).toMatchObject({ by: { token: 'oidc:alice@example.com' } })
  })

  it('may do nothing without a value of the claim, and hears which claim', async () => {
    const said = {
      message: 'this token may neither read nor change anything: its claim "groups" has no value of admin.oidc.read or admin.oidc.write',
    }
    expect(await ask(await tokenOf(ALICE))).toMatchObject({ status: 403, said })
    expect(await ask(await tokenOf({ ...ALICE, groups: ['Platform', 'platform,on-call'] }))).toMatchObject({ status: 403, said })
  })

  it('stands beside the tokens of the settings', async () => {
    expect(await ask('the-token-that-changes')).toMatchObject({ status: 200 })
    expect(await ask(undefined)).toMatchObject({
      status: 401,
      said: { message: expect.stringMatching(/, or a token of admin\.oidc\.issuer$/) },
    })
    expect(await ask('another-token-of-nobody')).toMatchObject({ status: 401 })
  })

  it('tells why the proxy is not ready to whoever may read', async () => {
    const reader = await tokenOf({ ...ALICE, groups: 'engineers' })
    const [known, stranger] = [await ask(reader, 'GET', '/readyz'), await ask(await tokenOf(ALICE), 'GET', '/readyz')]
    expect(known.said.message).not.toBe('not ready')
    expect(stranger.said.message).toBe('not ready')
  })
})

/** Replaces the algorithm of a header and signs with the public key as a shared secret. */
async function confused(claims: JWTPayload) {
  const secret = new TextEncoder().encode(await exportSPKI(first.publicKey))
  const made = new SignJWT(claims).setProtectedHeader({ alg: 'HS256', kid: 'k1' }).setIssuer(issuer.url).setAudience(AUDIENCE)
  return made.setExpirationTime('5 min').sign(secret)
}

const PLATFORM = { ...ALICE, groups: ['platform'] }
const unsigned = async () => new UnsecuredJWT(PLATFORM).setIssuer(issuer.url).setAudience(AUDIENCE).setExpirationTime('5 min').encode()
const unending = async () =>
  new SignJWT(PLATFORM).setProtectedHeader({ alg: 'ES256', kid: 'k1' }).setIssuer(issuer.url).setAudience(AUDIENCE).sign(first.privateKey)
const PAST = () => Math.floor(Date.now() / 1000) - 60

describe('a token that is not accepted', () => {
  it.each([
    ['another issuer', () => tokenOf(PLATFORM, { iss: 'https://login.example.com' }), 'another issuer made it (claim "iss")'],
    ['another audience', () => tokenOf(PLATFORM, { aud: 'somebody-else' }), 'it is meant for somebody else (claim "aud")'],
    ['a time that is over', () => tokenOf(PLATFORM, { exp: PAST() }), 'it has expired'],
    ['no end', unending, 'it says no time at which it expires (claim "exp")'],
    ['no signature', unsigned, 'its algorithm is not one of the asymmetric ones'],
    ['the public key as a secret', () => confused(PLATFORM), 'its algorithm is not one of the asymmetric ones'],
    ['an unknown key', () => tokenOf(PLATFORM, { key: second }), 'the issuer has no such key'],
    ['another key under a known name', () => tokenOf(PLATFORM, { key: second, kid: 'k1' }), 'its signature is wrong'],
    ['another type', () => tokenOf(PLATFORM, { typ: 'logout+jwt' }), 'it is not an identity or access token'],
    ['no JSON', async () => 'YWJj.YWJj.YWJj', 'it is not a signed JWT'],
  ])('has %s', async (_, made, why) => {
    const token = await made()
    expect(await ask(token)).toEqual({
      status: 401,
      right: null,
      said: { code: 16, message: `admin.oidc does not accept this token: ${why}`, details: [] },
    })
    expect(JSON.stringify(proxy.log)).not.toContain(token)
  })

  it('asks the issuer for keys no more than once for many unknown ones', async () => {
    await ask(await tokenOf(PLATFORM))
    const before = issuer.asked.length
    await Promise.all(Array.from({ length: 20 }, async (_, n) => ask(await tokenOf(PLATFORM, { key: second, kid: `kid-${n}` }))))
    expect(issuer.asked.length - before).toBeLessThanOrEqual(1)
  })
})

const SETTINGS: Omit<OidcSettings, 'issuer'> = {
  audience: [AUDIENCE],
  claim: 'groups',
  write: ['platform'],
  read: ['engineers'],
  name: 'email',
}

/** Verifies by another issuer and a clock that the test moves. */
async function another(settings: Partial<OidcSettings> = {}) {
  const here = await new Issuer().listen()
  onTestFinished(() => here.close())
  here.keys = [first.jwk]
  const clock = { ms: 0 }
  const warned: string[] = []
  const log = { warn: (_: object, text: string) => void warned.push(text) } as never
  const verify = createVerify({ issuer: here.url, ...SETTINGS, ...settings }, log, () => clock.ms)
  return { here, clock, warned, verify, told: async (token: string) => (await verify(token)).refused?.message }
}

describe('an issuer', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['Date'] })
    onTestFinished(() => void vi.useRealTimers())
  })

  it('may replace its keys', async () => {
    const { here, verify } = await another()
    const old = await tokenOf(PLATFORM, { iss: here.url })
    expect(await verify(old)).toMatchObject({ right: 'change' })
    here.keys = [second.jwk]
    vi.setSystemTime(Date.now() + 31_000)
    expect(await verify(await tokenOf(PLATFORM, { iss: here.url, key: second }))).toMatchObject({ right: 'change' })
    expect(await verify(old)).toMatchObject({ right: 'none', refused: { code: 'UNAUTHENTICATED' } })
  })

  it.each<[string, string, (response: ServerResponse) => void, string]>([
    [
      'answers with an error',
      '/.well-known/openid-configuration',
      (response) => void response.writeHead(503).end(),
      'answers /.well-known/openid-configuration with HTTP 503',
    ],
    [
      'leads elsewhere',
      '/keys',
      (response) => void response.writeHead(302, { location: 'http://127.0.0.1:9/keys' }).end(),
      'answers /keys with HTTP 302',
    ],
    [
      'is another',
      '/.well-known/openid-configuration',
      (response) => json(response, { issuer: 'https://x.example', jwks_uri: 'https://x.example/k' }),
      'its document names another issuer; admin.oidc.issuer must be the same, letter by letter',
    ],
    [
      'has no keys',
      '/.well-known/openid-configuration',
      (response) => json(response, {}),
      'its document names another issuer; admin.oidc.issuer must be the same, letter by letter',
    ],
    ['writes a page', '/.well-known/openid-configuration', (response) => void response.end('<html>'), 'its answer is not JSON'],
    ['never stops', '/keys', (response) => void response.end(`{"keys":[${' '.repeat(2 ** 21)}]}`), 'an answer has more than 1048576 bytes'],
  ])('that %s gives no right, and the log says why', async (_, path, answer, why) => {
    const { here, told, warned } = await another()
    here.instead = { [path]: answer }
    const token = await tokenOf(PLATFORM, { iss: here.url })
    const message = 'the issuer of admin.oidc cannot be asked for its keys; the log says why'
    expect([await told(token), await told(token)]).toEqual([message, message])
    expect(warned).toEqual([expect.stringContaining(why)])
  })

  it('that does not answer is asked again after five seconds', async () => {
    const { here, clock, verify } = await another()
    const token = await tokenOf(PLATFORM, { iss: here.url })
    here.instead = { '/.well-known/openid-configuration': (response) => response.destroy() }
    expect(await verify(token)).toMatchObject({ right: 'none', refused: { code: 'UNAVAILABLE' } })
    here.instead = {}
    clock.ms = 4_999
    const asked = here.asked.length
    expect(await verify(token)).toMatchObject({ right: 'none' })
    expect(here.asked).toHaveLength(asked)
    clock.ms = 5_000
    expect(await verify(token)).toMatchObject({ right: 'change' })
  })
})

it.each<[string, Partial<OidcSettings>, JWTPayload, object]>([
  ['a path', { claim: 'realm_access.roles' }, { realm_access: { roles: ['platform'] } }, { right: 'change', token: 'oidc:u-1' }],
  [
    'a name with dots',
    { claim: 'https://example.com/roles' },
    { 'https://example.com/roles': 'engineers' },
    { right: 'read', token: 'oidc:u-1' },
  ],
  ['words', { claim: 'scope' }, { scope: 'openid platform' }, { right: 'change', token: 'oidc:u-1' }],
  ['one text, not its words', {}, { groups: 'no platform' }, { right: 'none', token: 'oidc:u-1' }],
  ['no inherited member', { claim: 'constructor.name', write: ['Object'] }, {}, { right: 'none', token: 'oidc:u-1' }],
  ['both rights', {}, { groups: ['engineers', 'platform'] }, { right: 'change', token: 'oidc:u-1' }],
  ['a verified address', {}, { email: 'a@b.example', email_verified: true }, { right: 'none', token: 'oidc:a@b.example' }],
  ['a number for a subject', {}, { sub: 4711 as never, groups: ['platform'] }, { right: 'change', token: 'oidc:4711' }],
  ['an unverified address', {}, { email: 'a@b.example', email_verified: false }, { right: 'none', token: 'oidc:u-1' }],
  ['an address that a text calls unverified', {}, { email: 'a@b.example', email_verified: 'false' }, { right: 'none', token: 'oidc:u-1' }],
  [
    'another name',
    { name: 'preferred_username' },
    { preferred_username: 'bob\u001b[2J\nadmin.token' },
    { right: 'none', token: 'oidc:bob?[2J?admin.token' },
  ],
])('the claims of a token give %s', async (_, settings, claims, grant) => {
  const { here, verify } = await another(settings)
  expect(await verify(await tokenOf({ sub: 'u-1', ...claims }, { iss: here.url }))).toMatchObject(grant)
})
