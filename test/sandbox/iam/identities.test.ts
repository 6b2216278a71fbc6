import { beforeEach, describe, expect, it } from 'vitest'
import { humanUid } from '../../../src/sandbox/auth/tokens.ts'
import { type Bench, openBench, roleUid, told, userUid } from './harness.ts'

let bench: Bench
let path: string
beforeEach(() => {
  bench = openBench()
  path = `/iam/v2/identities/${bench.org}`
})

const claimMatch = { issuer: 'https://issuer.example', subject: 'ci' }
const create = (body: object = { name: 'ci-bot', claimMatch }) => bench.done('demo-owner', 'POST', path, body)
const refused = async (body: object) => told(await bench.call('demo-owner', 'POST', path, body))

describe('creating identities (specification §2, §7; semantics §3.2)', () => {
  it('answers the identity; its last-seen time is its creation', async () => {
    expect(await create({ name: 'ci-bot', description: 'builds', claimMatch })).toEqual({
      uid: expect.stringMatching(new RegExp(`^${bench.org}/[0-9a-f]{16}$`)),
      name: 'ci-bot',
      description: 'builds',
      lastSeenTime: '2026-03-01T12:00:00.000Z',
      createTime: '2026-03-01T12:00:00.000Z',
      updateTime: '2026-03-01T12:00:00.000Z',
      claimMatch,
    })
  })

  it('reports only the name of an empty body', async () => {
    expect((await bench.call('demo-owner', 'POST', path, {})).body).toEqual({
      code: 3,
      message: 'Invalid argument: name: name must match "^[a-z0-9 ._-]{1,}$"',
      details: [
        { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'INVALID_ARGUMENT', domain: 'iam.example.dev' },
        {
          '@type': 'type.googleapis.com/google.rpc.BadRequest',
          fieldViolations: [{ field: 'name', description: 'name must match "^[a-z0-9 ._-]{1,}$"' }],
        },
      ],
    })
  })

  it.each([
    ['no relationship', {}, ['relationship']],
    ['half a claim match', { claimMatch: { issuer: 'i' } }, ['claim_match.subject']],
    ['a pattern that is none', { claimMatch: { issuer: 'i', subjectPattern: '(' } }, ['claim_match.subject_pattern']],
    ['a claim pattern that is none', { claimMatch: { ...claimMatch, claimPatterns: { ref: '[' } } }, ['claim_match.claim_patterns']],
    ['keys that are none', { staticKeys: { issuer: 'i', subject: 's', issuerKeys: '{}' } }, ['static_keys.issuer_keys']],
    ['an account that is none', { awsIdentity: { awsAccount: '1', arn: 'a', userId: 'u' } }, ['aws_identity.aws_account']],
    ['half an AWS identity', { awsIdentity: { awsAccount: '123456789012', arn: 'a' } }, ['aws_identity.user_id']],
    ['no service', { servicePrincipal: 'SERVICE_PRINCIPAL_UNSPECIFIED' }, ['service_principal']],
  ])('refuses %s', async (_what, relationship, fields) => {
    expect(await refused({ name: 'x', ...relationship })).toMatchObject({ status: 400, code: 3, fields })
  })

  it('accepts one relationship and one spelling of each claim', async () => {
    expect(await refused({ name: 'x', claimMatch, servicePrincipal: 'SERVICE_PRINCIPAL_INGESTER' })).toMatchObject({ code: 3, fields: [] })
    expect(await refused({ name: 'x', claimMatch: { ...claimMatch, issuerPattern: '.*' } })).toMatchObject({ code: 3, fields: [] })
  })

  it('gives static keys one year at most', async () => {
    const staticKeys = { issuer: 'i', subject: 's', issuerKeys: '{"keys":[{"kty":"RSA"}]}' }
    const made = await create({ name: 'pull', staticKeys })
    expect(made.staticKeys.expirationTime).toBe('2027-03-01T12:00:00.000Z')
    expect(await refused({ name: 'pull', staticKeys: { ...staticKeys, expirationTime: '2027-03-02T12:00:00Z' } })).toMatchObject({
      fields: ['static_keys.expiration_time'],
    })
    expect(await refused({ name: 'pull', staticKeys: { ...staticKeys, audiences: ['a', 'b'] } })).toMatchObject({
      fields: ['static_keys.audiences'],
    })
  })

  it('allows two of the same name', async () => {
    expect((await create()).uid).not.toBe((await create()).uid)
  })

  it('rejects an unknown group and a malformed uid', async () => {
    expect(await bench.call('demo-admin', 'POST', `/iam/v2/identities/${'0'.repeat(40)}`, { name: 'x', claimMatch })).toMatchObject({
      status: 404,
    })
    expect(told(await bench.call('demo-owner', 'POST', '/iam/v2/identities/nonsense', {}))).toMatchObject({ code: 3, fields: ['parent'] })
  })
})

describe('updating identities', () => {
  it('keeps the company unless it is named and resets it with the wildcard', async () => {
    const { uid } = await create({ name: 'ci-bot', company: 'Example', claimMatch })
    const at = `/iam/v2/identities/${uid}`
    expect(await bench.done('demo-owner', 'PATCH', `${at}?updateMask=name,description`, { name: 'other', company: 'X' })).toMatchObject({
      name: 'other',
      company: 'Example',
    })
    expect(await bench.done('demo-owner', 'PATCH', `${at}?updateMask=*`, { name: 'other', claimMatch })).not.toHaveProperty('company')
  })

  it('switches the relationship if the mask names another', async () => {
    const { uid } = await create()
    const after = await bench.done('demo-owner', 'PATCH', `/iam/v2/identities/${uid}?updateMask=service_principal`, {
      servicePrincipal: 'SERVICE_PRINCIPAL_INGESTER',
    })
    expect(after).toMatchObject({ servicePrincipal: 'SERVICE_PRINCIPAL_INGESTER' })
    expect(after).not.toHaveProperty('claimMatch')
  })

  it('changes one claim of the match and never removes the relationship', async () => {
    const { uid } = await create()
    const at = `/iam/v2/identities/${uid}`
    const changed = await bench.done('demo-owner', 'PATCH', at, { claimMatch: { subject: 'other' } })
    expect(changed.claimMatch).toEqual({ issuer: 'https://issuer.example', subject: 'other' })
    expect(told(await bench.call('demo-owner', 'PATCH', `${at}?updateMask=claimMatch`, {}))).toMatchObject({ fields: ['relationship'] })
    expect(told(await bench.call('demo-owner', 'PATCH', `${at}?updateMask=nonsense`, {}))).toMatchObject({ fields: ['update_mask'] })
  })
})

describe('listing and deleting identities', () => {
  it('filters by name and by relationship', async () => {
    await create()
    await create({ name: 'ingester', servicePrincipal: 'SERVICE_PRINCIPAL_INGESTER' })
    const names = async (query: string) =>
      (await bench.done('demo-viewer', 'GET', `/iam/v2/identities?${query}`)).identities.map(({ name }: { name: string }) => name)
    expect(await names('name=ingester')).toEqual(['ingester'])
    expect(await names('relationship_type=RELATIONSHIP_TYPE_CLAIM_MATCH')).toEqual(['ci-bot'])
    expect(await names('relationshipType=4')).toEqual(['ingester'])
    expect(await names('order_by=name%20desc')).toEqual(['ingester', 'ci-bot', 'carol@example.com'])
  })

  it('shows callers their own root identity and nobody else’s', async () => {
    expect(await bench.done('demo-outsider', 'GET', `/iam/v2/identities/${userUid(bench, 'eve@acme.dev')}`)).toMatchObject({
      email: 'eve@acme.dev',
    })
    expect(await bench.call('demo-owner', 'GET', `/iam/v2/identities/${userUid(bench, 'eve@acme.dev')}`)).toMatchObject({ status: 403 })
  })

  it('removes the bindings of a deleted identity', async () => {
    const { uid } = await create()
    const bound = { identityUid: uid, roleUid: roleUid(bench, 'viewer') }
    const binding = await bench.done('demo-owner', 'POST', `/iam/v2/roleBindings/${bench.org}`, bound)
    expect(await bench.call('demo-owner', 'DELETE', `/iam/v2/identities/${uid}`)).toEqual({ status: 200, body: undefined })
    expect(await bench.call('demo-owner', 'GET', `/iam/v2/roleBindings/${binding.uid}`)).toMatchObject({ status: 404 })
    expect(told(await bench.call('demo-owner', 'GET', `/iam/v2/identities/${uid}`))).toMatchObject({
      status: 404,
      code: 5,
      reason: 'NOT_FOUND',
      message: `Not found: Identity "${uid}"`,
    })
  })
})

describe('lookup and metadata', () => {
  it('answers a uid for any pair', async () => {
    const lookup = (issuer: string, subject: string) =>
      bench.done('demo-outsider', 'GET', `/iam/v2/identities:lookupIdentity?issuer=${issuer}&subject=${subject}`)
    expect(await lookup('https://accounts.example.com', 'alice@example.com')).toEqual({ uid: userUid(bench, 'alice@example.com') })
    expect(await lookup('https://new.example', 'somebody')).toEqual({ uid: humanUid('https://new.example', 'somebody') })
    const { uid } = await create()
    expect(await lookup(claimMatch.issuer, claimMatch.subject)).toEqual({ uid })
    const nothing = await bench.call('demo-outsider', 'GET', '/iam/v2/identities:lookupIdentity')
    expect(told(nothing)).toMatchObject({ code: 3, fields: ['issuer', 'subject'] })
  })

  it('keeps the caller’s own metadata and its company in one place', async () => {
    const at = '/iam/v2/identities:updateIdentityMetadata'
    const first = { identityMetadata: { company: 'Example', jobTitle: 'engineer', name: 'ignored', selfServe: true } }
    expect(await bench.done('demo-viewer', 'PATCH', at, first)).toMatchObject({
      uid: userUid(bench, 'carol@example.com'),
      name: 'carol@example.com',
      company: 'Example',
      jobTitle: 'engineer',
      selfServe: true,
    })
    const second = await bench.done('demo-viewer', 'PATCH', at, { identityMetadata: { company: 'New' }, updateMask: 'jobTitle' })
    expect(second).toMatchObject({ company: 'Example', selfServe: true })
    expect(second).not.toHaveProperty('jobTitle')
    expect(await bench.done('demo-viewer', 'GET', `/iam/v2/identities/${second.uid}`)).toMatchObject({ company: 'Example' })
  })

  it.each(['*', 'job_title', 'a,,b', 7])('refuses the mask %j in a body', async (updateMask) => {
    const reply = await bench.call('demo-viewer', 'PATCH', '/iam/v2/identities:updateIdentityMetadata', {
      identityMetadata: {},
      updateMask,
    })
    expect(reply).toMatchObject({ status: 400, body: { code: 3, details: [] } })
  })
})
