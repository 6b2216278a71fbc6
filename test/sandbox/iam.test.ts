import { describe, expect, it } from 'vitest'
import { humanUid } from '../../src/sandbox/auth/tokens.ts'
import { column, freshBench, told } from './stage.ts'

describe('groups', () => {
  const bench = freshBench()

  const folder = async (name = 'platform', parent = bench.org) => bench.done(`POST /iam/v2/groups/${parent}`, { name })

  describe('creating groups (semantics §2.1, §3.1)', () => {
    it('makes a folder that inherits kind and status from its organization', async () => {
      expect(await folder()).toEqual({
        uid: expect.stringMatching(new RegExp(`^${bench.org}/[0-9a-f]{16}$`)),
        name: 'platform',
        verified: false,
        createTime: '2026-03-01T12:00:00.000Z',
        updateTime: '2026-03-01T12:00:00.000Z',
        kind: 'ORG_KIND_CUSTOMER',
        status: 'ORG_STATUS_READY',
      })
    })

    it.each(['/iam/v2/groups', '/iam/v2/groups/'])('makes an organization with %s and its creator the owner', async (path) => {
      const made = await bench.done(`POST ${path}`, { name: 'new org' }, 'demo-outsider')
      expect(made.uid).toMatch(/^[0-9a-f]{40}$/)
      expect(await bench.done(`PATCH /iam/v2/groups/${made.uid}`, { description: 'mine' }, 'demo-outsider')).toMatchObject({
        description: 'mine',
      })
    })

    it('finds the parent by name and by the last part of its uid', async () => {
      const parent = await folder()
      const suffix = parent.uid.split('/')[1]
      for (const spelling of ['platform', suffix]) expect((await folder('below', spelling)).uid.startsWith(`${parent.uid}/`)).toBe(true)
    })

    it('refuses an ambiguous and an unknown name', async () => {
      await folder()
      await folder()
      expect(await bench.told('POST /iam/v2/groups/platform', { name: 'x' })).toMatchObject({ code: 3, fields: ['parent'] })
      expect(await bench.status('POST /iam/v2/groups/nowhere', { name: 'x' })).toBe(404)
    })

    it('requires groups.create at the parent', async () => {
      expect(await bench.told(`POST /iam/v2/groups/${bench.org}`, { name: 'x' }, 'demo-editor')).toMatchObject({
        status: 403,
        code: 7,
        reason: 'PERMISSION_DENIED',
      })
    })

    it('checks name, description and kind', async () => {
      const reply = await bench.call(`POST /iam/v2/groups/${bench.org}`, { name: 'Bad!', description: 'a\nb' })
      expect(told(reply)).toMatchObject({ status: 400, code: 3, fields: ['name', 'description'] })
      expect(reply.body.message).toContain('Invalid argument: name: name must match "^[a-z0-9 ._-]{1,}$"')
      const kind = await bench.call(`POST /iam/v2/groups/${bench.org}`, { name: 'x', kind: 'ORG_KIND_DEV' })
      expect(told(kind)).toMatchObject({ code: 3, fields: ['kind'] })
    })

    it('lets only staff verify, and requires a kind and a unique name for it', async () => {
      const verified = { name: 'corp.dev', verified: true, kind: 'ORG_KIND_DEV' }
      expect(await bench.status('POST /iam/v2/groups', verified)).toBe(403)
      expect(await bench.told('POST /iam/v2/groups', { ...verified, kind: undefined }, 'demo-admin')).toMatchObject({ fields: ['kind'] })
      expect(await bench.done('POST /iam/v2/groups', verified, 'demo-admin')).toMatchObject({ status: 'ORG_STATUS_READY' })
      expect(await bench.told('POST /iam/v2/groups', verified, 'demo-admin')).toMatchObject({ status: 409, code: 6 })
    })
  })

  describe('updating groups', () => {
    it('accepts the wildcard until kind and status hold values', async () => {
      const reply = await bench.call(`PATCH /iam/v2/groups/${bench.org}?updateMask=*`, { name: 'example.com' })
      expect(told(reply)).toMatchObject({ status: 400, code: 3, fields: ['update_mask'] })
      const plain = await bench.done('POST /iam/v2/groups', { name: 'plain', description: 'text' })
      expect(await bench.done(`PATCH /iam/v2/groups/${plain.uid}?updateMask=*`, { name: 'plain' })).not.toHaveProperty('description')
    })

    it('lets only staff change verified; repeating its value passes', async () => {
      const path = `/iam/v2/groups/${bench.org}`
      const kept = await bench.done(`PATCH ${path}?updateMask=name,description,verified`, {
        name: 'example.com',
        description: 'new',
        verified: true,
      })
      expect(kept).toMatchObject({ description: 'new', verified: true })
      expect(await bench.told(`PATCH ${path}`, { verified: false })).toMatchObject({
        status: 403,
        message: 'Permission denied: verified may only be changed by staff',
      })
      expect(await bench.done(`PATCH ${path}`, { verified: false }, 'demo-admin')).toMatchObject({ verified: false })
    })

    it('passes a new kind of the organization on to its folders', async () => {
      const { uid } = await folder()
      await bench.done(`PATCH /iam/v2/groups/${bench.org}?updateMask=kind`, { kind: 'ORG_KIND_DEV' })
      expect(await bench.done(`GET /iam/v2/groups/${uid}`)).toMatchObject({ kind: 'ORG_KIND_DEV' })
      expect(await bench.told(`PATCH /iam/v2/groups/${uid}`, { kind: 'ORG_KIND_INFRA' })).toMatchObject({ fields: ['kind'] })
    })

    it('ignores members that only the service sets', async () => {
      const echo = {
        description: 'd',
        uid: 'x',
        status: 'ORG_STATUS_SUSPENDED',
        resourceLimits: { idps: 9 },
        createTime: '2000-01-01T00:00:00Z',
      }
      const after = await bench.done(`PATCH /iam/v2/groups/${bench.org}`, echo)
      expect(after).toMatchObject({ uid: bench.org, status: 'ORG_STATUS_READY', createTime: '2026-01-05T08:00:00.000Z' })
      expect(after.resourceLimits.idps).toBe(1)
    })
  })

  describe('deleting groups (specification §7 rule 2)', () => {
    it.each([
      ['groups', 'groups', { name: 'x' }],
      ['repos', 'repos', { name: 'x' }],
      ['identities', 'identities', { name: 'x', claimMatch: { issuer: 'https://i.example', subject: 's' } }],
      ['roles', 'roles', { name: 'x', capabilities: ['CAP_REPO_LIST'] }],
      ['account associations', 'accountAssociations', { name: 'x' }],
    ])('is blocked by child %s', async (word, collection, body) => {
      const { uid } = await folder()
      const service = collection === 'repos' ? 'registry' : 'iam'
      await bench.done(`POST /${service}/v2/${collection}/${uid}`, body)
      expect(await bench.call(`DELETE /iam/v2/groups/${uid}`)).toEqual({
        status: 400,
        body: {
          code: 9,
          message: `Precondition failed: cannot delete group with child ${word}`,
          details: [
            { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'FAILED_PRECONDITION', domain: 'iam.example.dev' },
            {
              '@type': 'type.googleapis.com/google.rpc.PreconditionFailure',
              violations: [{ type: 'RESOURCE_NOT_EMPTY', description: `cannot delete group with child ${word}` }],
            },
          ],
        },
      })
    })

    it('deletes bindings and invites with the group and answers an empty body', async () => {
      const { uid } = await folder()
      const role = bench.world.store.roles.named('', 'viewer')[0]!.uid
      await bench.done(`POST /iam/v2/roleBindings/${uid}`, { identityUid: bench.user('bob@example.com'), roleUid: role })
      await bench.done(`POST /iam/v2/groupInvites/${uid}`, { roleUid: role, ttl: '60s' })
      expect(await bench.call(`DELETE /iam/v2/groups/${uid}`)).toEqual({ status: 200, body: undefined })
      expect(bench.world.store.roleBindings.below(uid)).toEqual([])
      expect(bench.world.store.groupInvites.below(uid)).toEqual([])
      expect(await bench.status(`DELETE /iam/v2/groups/${uid}`)).toBe(404)
    })
  })

  describe('questions about groups', () => {
    it('find the verified organization of the caller’s email domain', async () => {
      expect(await bench.done('GET /iam/v2/groups:lookupGroup', undefined, 'demo-viewer')).toMatchObject({ group: { uid: bench.org } })
      expect(await bench.status('GET /iam/v2/groups:lookupGroup', undefined, 'demo-outsider')).toBe(404)
      expect(await bench.done('GET /iam/v2/groups:checkEligibility', undefined, 'demo-viewer')).toEqual({ eligible: true })
    })

    it('record a request for access once an hour', async () => {
      const path = `/iam/v2/groups/${bench.org}:requestGroupAccess`
      expect(await bench.done(`POST ${path}`, {}, 'demo-outsider')).toEqual({})
      expect(await bench.told(`POST ${path}`, {}, 'demo-outsider')).toMatchObject({ status: 429, code: 8 })
      bench.clock.advance(60 * 60 * 1000)
      expect(await bench.done(`POST ${path}`, {}, 'demo-outsider')).toEqual({})
      expect(await bench.status(`POST /iam/v2/groups/${'0'.repeat(40)}:requestGroupAccess`, undefined, 'demo-outsider')).toBe(404)
      expect(await bench.told('POST /iam/v2/groups/:requestGroupAccess', undefined, 'demo-outsider')).toMatchObject({ code: 3 })
    })
  })
})

describe('identities', () => {
  const bench = freshBench()
  const path = `/iam/v2/identities/${bench.org}`

  const claimMatch = { issuer: 'https://issuer.example', subject: 'ci' }
  const create = (body: object = { name: 'ci-bot', claimMatch }) => bench.done(`POST ${path}`, body)
  const refused = (body: object) => bench.told(`POST ${path}`, body)

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
      expect(await refused({ name: 'x', claimMatch, servicePrincipal: 'SERVICE_PRINCIPAL_INGESTER' })).toMatchObject({
        code: 3,
        fields: [],
      })
      expect(await refused({ name: 'x', claimMatch: { ...claimMatch, issuerPattern: '.*' } })).toMatchObject({ code: 3, fields: [] })
    })

    it('gives static keys one year at most', async () => {
      const staticKeys = { issuer: 'i', subject: 's', issuerKeys: '{"keys":[{"kty":"RSA"}]}' }
      expect((await create({ name: 'pull', staticKeys })).staticKeys.expirationTime).toBe('2027-03-01T12:00:00.000Z')
      expect(await refused({ name: 'pull', staticKeys: { ...staticKeys, expirationTime: '2027-03-02T12:00:00Z' } })).toMatchObject({
        fields: ['static_keys.expiration_time'],
      })
      expect(await refused({ name: 'pull', staticKeys: { ...staticKeys, audiences: ['a', 'b'] } })).toMatchObject({
        fields: ['static_keys.audiences'],
      })
    })

    it('allows two of the same name', async () => expect((await create()).uid).not.toBe((await create()).uid))

    it('rejects an unknown group and a malformed uid', async () => {
      expect(await bench.status(`POST /iam/v2/identities/${'0'.repeat(40)}`, { name: 'x', claimMatch }, 'demo-admin')).toBe(404)
      expect(await bench.told('POST /iam/v2/identities/nonsense', {})).toMatchObject({ code: 3, fields: ['parent'] })
    })
  })

  describe('updating identities', () => {
    it('keeps the company unless it is named and resets it with the wildcard', async () => {
      const { uid } = await create({ name: 'ci-bot', company: 'Example', claimMatch })
      const at = `/iam/v2/identities/${uid}`
      expect(await bench.done(`PATCH ${at}?updateMask=name,description`, { name: 'other', company: 'X' })).toMatchObject({
        name: 'other',
        company: 'Example',
      })
      expect(await bench.done(`PATCH ${at}?updateMask=*`, { name: 'other', claimMatch })).not.toHaveProperty('company')
    })

    it('switches the relationship if the mask names another', async () => {
      const { uid } = await create()
      const after = await bench.done(`PATCH /iam/v2/identities/${uid}?updateMask=service_principal`, {
        servicePrincipal: 'SERVICE_PRINCIPAL_INGESTER',
      })
      expect(after).toMatchObject({ servicePrincipal: 'SERVICE_PRINCIPAL_INGESTER' })
      expect(after).not.toHaveProperty('claimMatch')
    })

    it('changes one claim of the match and never removes the relationship', async () => {
      const { uid } = await create()
      const at = `/iam/v2/identities/${uid}`
      const changed = await bench.done(`PATCH ${at}`, { claimMatch: { subject: 'other' } })
      expect(changed.claimMatch).toEqual({ issuer: 'https://issuer.example', subject: 'other' })
      expect(await bench.told(`PATCH ${at}?updateMask=claimMatch`, {})).toMatchObject({ fields: ['relationship'] })
      expect(await bench.told(`PATCH ${at}?updateMask=nonsense`, {})).toMatchObject({ fields: ['update_mask'] })
    })
  })

  describe('listing and deleting identities', () => {
    it('filters by name and by relationship', async () => {
      await create()
      await create({ name: 'ingester', servicePrincipal: 'SERVICE_PRINCIPAL_INGESTER' })
      const names = async (query: string) =>
        column((await bench.done(`GET /iam/v2/identities?${query}`, undefined, 'demo-viewer')).identities, 'name')
      expect(await names('name=ingester')).toEqual(['ingester'])
      expect(await names('relationship_type=RELATIONSHIP_TYPE_CLAIM_MATCH')).toEqual(['ci-bot'])
      expect(await names('relationshipType=4')).toEqual(['ingester'])
      expect(await names('order_by=name%20desc')).toEqual(['ingester', 'ci-bot', 'carol@example.com'])
    })

    it('shows callers their own root identity and nobody else’s', async () => {
      expect(await bench.done(`GET /iam/v2/identities/${bench.user('eve@acme.dev')}`, undefined, 'demo-outsider')).toMatchObject({
        email: 'eve@acme.dev',
      })
      expect(await bench.status(`GET /iam/v2/identities/${bench.user('eve@acme.dev')}`)).toBe(403)
    })

    it('removes the bindings of a deleted identity', async () => {
      const { uid } = await create()
      const bound = { identityUid: uid, roleUid: bench.role('viewer') }
      const binding = await bench.done(`POST /iam/v2/roleBindings/${bench.org}`, bound)
      expect(await bench.call(`DELETE /iam/v2/identities/${uid}`)).toEqual({ status: 200, body: undefined })
      expect(await bench.status(`GET /iam/v2/roleBindings/${binding.uid}`)).toBe(404)
      expect(await bench.told(`GET /iam/v2/identities/${uid}`)).toMatchObject({
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
        bench.done(`GET /iam/v2/identities:lookupIdentity?issuer=${issuer}&subject=${subject}`, undefined, 'demo-outsider')
      expect(await lookup('https://accounts.example.com', 'alice@example.com')).toEqual({ uid: bench.user('alice@example.com') })
      expect(await lookup('https://new.example', 'somebody')).toEqual({ uid: humanUid('https://new.example', 'somebody') })
      const { uid } = await create()
      expect(await lookup(claimMatch.issuer, claimMatch.subject)).toEqual({ uid })
      const nothing = await bench.call('GET /iam/v2/identities:lookupIdentity', undefined, 'demo-outsider')
      expect(told(nothing)).toMatchObject({ code: 3, fields: ['issuer', 'subject'] })
    })

    it('keeps the caller’s own metadata and its company in one place', async () => {
      const at = '/iam/v2/identities:updateIdentityMetadata'
      const first = { identityMetadata: { company: 'Example', jobTitle: 'engineer', name: 'ignored', selfServe: true } }
      expect(await bench.done(`PATCH ${at}`, first, 'demo-viewer')).toMatchObject({
        uid: bench.user('carol@example.com'),
        name: 'carol@example.com',
        company: 'Example',
        jobTitle: 'engineer',
        selfServe: true,
      })
      const second = await bench.done(`PATCH ${at}`, { identityMetadata: { company: 'New' }, updateMask: 'jobTitle' }, 'demo-viewer')
      expect(second).toMatchObject({ company: 'Example', selfServe: true })
      expect(second).not.toHaveProperty('jobTitle')
      expect(await bench.done(`GET /iam/v2/identities/${second.uid}`, undefined, 'demo-viewer')).toMatchObject({ company: 'Example' })
    })

    it.each(['*', 'job_title', 'a,,b', 7])('refuses the mask %j in a body', async (updateMask) => {
      const reply = await bench.call('PATCH /iam/v2/identities:updateIdentityMetadata', { identityMetadata: {}, updateMask }, 'demo-viewer')
      expect(reply).toMatchObject({ status: 400, body: { code: 3, details: [] } })
    })
  })
})
