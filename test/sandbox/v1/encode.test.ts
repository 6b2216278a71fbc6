import { describe, expect, test } from 'vitest'
import { group, hydratedBinding, role } from '../../../src/sandbox/v1/iam/access.ts'
import { accountAssociation } from '../../../src/sandbox/v1/iam/groups.ts'
import { identity, identityProvider } from '../../../src/sandbox/v1/iam/identities.ts'
import { encode, encodeResource } from '../../../src/sandbox/v1/operation.ts'
import { repo } from '../../../src/sandbox/v1/registry/repos.ts'
import { tag } from '../../../src/sandbox/v1/registry/tags.ts'

const org = 'a'.repeat(40)
const below = `${org}/0123456789abcdef`
const times = { createTime: '2026-01-02T03:04:05.678Z', updateTime: '2026-01-03T00:00:00.000Z' }

describe('unset members are emitted by type (facts §16.3)', () => {
  test('in an empty repo, published', () => {
    expect(encode({ uid: below }, repo, 'published')).toEqual({
      id: below,
      name: '',
      catalogTier: 'UNKNOWN',
      bundles: [],
      readme: '',
      sync_config: null,
      customOverlay: null,
      aliases: [],
      createTime: null,
      activeTags: [],
      description: '',
    })
  })

  test('in an empty group, specification', () => {
    expect(encode({ uid: org }, group, 'specification')).toEqual({
      id: org,
      name: '',
      description: '',
      resource_limits: {},
      verified: false,
      kind: 'ORG_KIND_UNSPECIFIED',
      status: 'ORG_STATUS_UNSPECIFIED',
    })
  })

  test('except oneof members, which are absent; 64-bit integers are strings', () => {
    expect(encode({ uid: below }, identity, 'published')).not.toHaveProperty('claimMatch')
    const association = { uid: org, github: { appInstallations: { 7: { installations: [{ installationId: 99 }] } } } }
    expect(encode(association, accountAssociation, 'published')).toMatchObject({
      amazon: null,
      github: { appInstallations: { 7: { installations: [{ installationId: '99', name: '' }] } } },
    })
  })
})

describe('two dialects', () => {
  const row = {
    uid: below,
    name: 'nginx',
    catalogTier: 'CATALOG_TIER_BASE',
    sync_config: { expirationTime: 't', uniqueTags: true },
    ...times,
  }

  test('published: JSON names of the contract, sync_config unchanged, no extra member', () => {
    const out = encodeResource(row, repo, 'published')
    expect(out).toMatchObject({
      catalogTier: 'BASE',
      createTime: times.createTime,
      sync_config: { expiration: 't', uniqueTags: true, syncApks: false },
    })
    expect(Object.keys(out)).not.toEqual(expect.arrayContaining(['created_at']))
  })

  test('specification: proto names at every depth, extra members beside legacy ones', () => {
    expect(encodeResource(row, repo, 'specification')).toMatchObject({
      catalog_tier: 'BASE',
      create_time: times.createTime,
      created_at: times.createTime,
      updated_at: times.updateTime,
      group_id: org,
      sync_config: { expiration: 't', unique_tags: true, sync_apks: false },
    })
  })

  test('specification: no group_id in root, null for unknown times', () => {
    const out = encodeResource({ uid: org, name: 'viewer' }, role, 'specification')
    expect(out).toMatchObject({ created_at: null, updated_at: null })
    expect(out).not.toHaveProperty('group_id')
  })

  test('specification: updated_at only on a tag, no extra member in nested resources', () => {
    const out = encodeResource({ uid: `${below}/0123456789abcdef`, ...times }, tag, 'specification')
    expect(out).toMatchObject({ last_updated: times.updateTime, updated_at: times.updateTime })
    expect(out).not.toHaveProperty('created_at')
    expect(out).not.toHaveProperty('group_id')
    const binding = encodeResource({ uid: below, role: { uid: org, ...times } }, hydratedBinding, 'specification')
    expect(binding['role']).not.toHaveProperty('created_at')
  })

  test('keep the keys of user maps as data', () => {
    const row = { uid: below, customOverlay: { environment: { NODE_ENV: 'x', some_key: 'y', someKey: 'z' } } }
    for (const [dialect, name] of [['published', 'customOverlay'] as const, ['specification', 'custom_overlay'] as const]) {
      expect(encode(row, repo, dialect)[name]).toMatchObject({ environment: { NODE_ENV: 'x', some_key: 'y', someKey: 'z' } })
    }
  })
})

describe('vocabularies', () => {
  test('drop capabilities that v1 lacks and write the others as dotted strings', () => {
    const row = { uid: org, capabilities: ['CAP_IAM_GROUPS_LIST', 'CAP_FROM_TOMORROW', 'CAP_IAM_SCIM_MANAGE'] }
    expect(encode(row, role, 'published')['capabilities']).toEqual(['groups.list', 'identity_providers.scim.manage'])
  })

  test('write the zero value for an enum name that v1 lacks', () => {
    expect(encode({ uid: below, catalogTier: 'CATALOG_TIER_NEW' }, repo, 'published')['catalogTier']).toBe('UNKNOWN')
  })

  test('never show a client secret', () => {
    const oidc = { issuer: 'https://idp', clientSecret: 'hush' }
    expect(encode({ uid: below, oidc }, identityProvider, 'published')['oidc']).toMatchObject({ issuer: 'https://idp', clientSecret: '' })
  })
})
