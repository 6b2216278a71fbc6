import { beforeEach, describe, expect, it } from 'vitest'
import { type Bench, openBench, roleUid, told, userUid } from './harness.ts'

let bench: Bench
let provider: string
beforeEach(async () => {
  bench = openBench()
  const oidc = { issuer: 'https://idp.example', clientId: 'id', pkceEnabled: true }
  const made = { name: 'okta', defaultRole: roleUid(bench, 'viewer'), oidc }
  provider = (await bench.done('demo-owner', 'POST', `/iam/v2/identityProviders/${bench.org}`, made)).uid
})

const act = (verb: string, body: object = {}, token = 'demo-owner') =>
  bench.call(token, 'POST', `/iam/v2/identityProviders/${provider}:${verb}`, body)
const state = async () => (await bench.done('demo-owner', 'GET', `/iam/v2/identityProviders/${provider}`)).scim

describe('SCIM tokens (semantics §3.3)', () => {
  it('are shown once, last a year and start disabled', async () => {
    const { body } = await act('generateScimToken')
    expect(body).toEqual({
      token: expect.stringMatching(/^cgscim_[0-9a-f]{64}$/),
      endpointUrl: expect.stringContaining(provider),
      expireTime: '2027-03-01T12:00:00.000Z',
      identityProviderUid: provider,
      etag: expect.any(String),
    })
    expect(await state()).toEqual({
      enabled: false,
      endpointUrl: body.endpointUrl,
      tokenExpireTime: body.expireTime,
      credentialState: 'CREDENTIAL_STATE_LIVE',
      etag: body.etag,
    })
    expect(told(await act('generateScimToken'))).toMatchObject({ status: 400, code: 9 })
  })

  it.each([
    ['a past end', { expireTime: '2026-01-01T00:00:00Z' }],
    ['more than two years', { expireTime: '2028-03-02T00:00:00Z' }],
    ['an end that never comes', { expireTime: '2026-09-01T00:00:00Z', neverExpires: true }],
  ])('refuse %s', async (_what, body) => {
    expect(told(await act('generateScimToken', body))).toMatchObject({ code: 3, fields: ['expire_time'] })
  })

  it('can be unlimited', async () => {
    expect((await act('generateScimToken', { neverExpires: true })).body).not.toHaveProperty('expireTime')
  })

  it('expire by the clock', async () => {
    await act('generateScimToken', { expireTime: '2026-03-02T00:00:00Z' })
    bench.clock.advance(24 * 60 * 60 * 1000)
    expect((await state()).credentialState).toBe('CREDENTIAL_STATE_EXPIRED')
  })

  it('overlap after a rotation by one hour, a day at most', async () => {
    expect(await act('regenerateScimToken', { etag: 'x' })).toMatchObject({ status: 404 })
    const first = (await act('generateScimToken')).body
    const second = (await act('regenerateScimToken', { etag: first.etag })).body
    expect(second.token).not.toBe(first.token)
    expect(second.previousTokenExpireTime).toBe('2026-03-01T13:00:00.000Z')
    expect((await state()).credentialState).toBe('CREDENTIAL_STATE_ROTATING')
    bench.clock.advance(60 * 60 * 1000)
    expect((await state()).credentialState).toBe('CREDENTIAL_STATE_LIVE')
    const third = (await act('regenerateScimToken', { etag: second.etag, overlap: '172800s' })).body
    expect(third).toMatchObject({ requestedOverlap: '172800s', previousTokenExpireTime: '2026-03-02T13:00:00.000Z' })
  })

  it('require the current etag', async () => {
    const { etag } = (await act('generateScimToken')).body
    expect(told(await act('regenerateScimToken', {}))).toMatchObject({ code: 3, fields: ['etag'] })
    expect(told(await act('regenerateScimToken', { etag: `${etag}0` }))).toMatchObject({ status: 409, code: 10 })
    expect(told(await act('setScimEnabled', { enabled: false, etag: 'old' }))).toMatchObject({ code: 10 })
  })

  it('are revoked without a change of the switch', async () => {
    expect(await act('revokeScimToken')).toMatchObject({ status: 404 })
    await act('generateScimToken')
    expect((await act('revokeScimToken')).body).toEqual({
      identityProviderUid: provider,
      etag: expect.any(String),
      enabled: false,
      revokeTime: '2026-03-01T12:00:00.000Z',
    })
    expect(await state()).toMatchObject({ credentialState: 'CREDENTIAL_STATE_REVOKED' })
    expect(await act('generateScimToken')).toMatchObject({ status: 200 })
  })

  it('are enabled only with two owners', async () => {
    const { etag } = (await act('generateScimToken')).body
    expect(told(await act('setScimEnabled', { enabled: true, etag }))).toMatchObject({ code: 9 })
    const bound = { identityUid: userUid(bench, 'bob@example.com'), roleUid: roleUid(bench, 'owner') }
    await bench.done('demo-owner', 'POST', `/iam/v2/roleBindings/${bench.org}`, bound)
    expect((await act('setScimEnabled', { enabled: true, etag })).body).toEqual({
      identityProviderUid: provider,
      enabled: true,
      etag: expect.any(String),
    })
    expect(await state()).toMatchObject({ enabled: true })
  })

  it('require identity_providers.scim.manage', async () => {
    expect(await act('generateScimToken', {}, 'demo-editor')).toMatchObject({ status: 403 })
  })
})
