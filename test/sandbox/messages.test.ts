import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { applyMask, explicitMask, impliedMask, touches } from '../../src/sandbox/messages/field-mask.ts'
import {
  decode,
  fill,
  flag,
  int64,
  listOf,
  type Message,
  mapOf,
  nested,
  outputText,
  text,
  time,
} from '../../src/sandbox/messages/message.ts'
import { group, hydratedBinding, role } from '../../src/sandbox/v1/iam/access.ts'
import { accountAssociation } from '../../src/sandbox/v1/iam/groups.ts'
import { identity, identityProvider } from '../../src/sandbox/v1/iam/identities.ts'
import { decode as decodeOfOperation, encode, encodeResource } from '../../src/sandbox/v1/operation.ts'
import { repo } from '../../src/sandbox/v1/registry/repos.ts'
import { tag } from '../../src/sandbox/v1/registry/tags.ts'

describe('field mask', () => {
  const inner: Message = { name: 'test.Inner', fields: { left: text(), right: text(), kept: outputText } }

  /** One field of each kind that masks treat differently. */
  const message: Message = {
    name: 'test.Outer',
    fields: {
      uid: outputText,
      displayName: text(),
      enabled: flag(),
      count: int64(),
      seenTime: time(),
      labels: mapOf(text()),
      items: listOf(nested(inner)),
      inner: nested(inner),
      first: nested(inner, { oneof: 'kind' }),
      second: text({ oneof: 'kind' }),
    },
  }

  const patch = (current: object, body: object, mask?: string) => {
    const paths = mask === undefined ? impliedMask(message, body) : explicitMask(message, mask)
    return applyMask(message, fill(message, current as never), decode(message, body), paths)
  }

  describe('oneofs', () => {
    test('clear the others when one member is written', () => {
      expect(patch({ first: { left: 'a' } }, { second: '' })).toMatchObject({ first: undefined, second: '' })
      expect(patch({ second: 'x' }, { first: { left: 'a' } })).toMatchObject({ first: { left: 'a', right: '' }, second: undefined })
    })

    test('clear only the member that is named but missing', () => {
      expect(patch({ second: 'x' }, {}, 'second')).toMatchObject({ second: undefined })
      expect(patch({ second: 'x' }, {}, 'first')).toMatchObject({ first: undefined, second: 'x' })
    })

    test('refuse two members in one body', () => {
      expect(() => decode(message, { first: {}, second: 'x' })).toThrow('oneof test.Outer.kind is already set')
    })
  })

  describe('sub-messages', () => {
    test('are created by a path inside an unset one', () => {
      expect(patch({}, { inner: { left: 'a' } })).toMatchObject({ inner: { left: 'a', right: '' } })
    })

    test('are not created if neither side has the path', () => expect(patch({}, {}, 'inner.left').inner).toBeUndefined())

    test('keep the output-only members when replaced', () => {
      expect(patch({ inner: { left: 'a', kept: 'k' } }, { inner: { right: 'b', kept: 'mine' } }, 'inner')).toMatchObject({
        inner: { left: '', right: 'b', kept: 'k' },
      })
    })

    test('are unset by null', () => expect(patch({ inner: { left: 'a' } }, { inner: null }).inner).toBeUndefined())
  })

  test('keeps the keys of maps as data', () => {
    expect(patch({ labels: { old: '1' } }, { labels: { some_key: 'a', someKey: 'b' } })).toMatchObject({
      labels: { some_key: 'a', someKey: 'b' },
    })
  })

  test('keeps 64-bit integers as strings and times as UTC with milliseconds', () => {
    expect(decode(message, { count: 12, seen_time: '2026-01-01T01:00:00.5+01:00' })).toEqual({
      count: '12',
      seenTime: '2026-01-01T00:00:00.500Z',
    })
  })

  test.each(['0001-01-01T00:59:59+01:00', '9999-12-31T23:59:59-00:01', '0000-06-01T00:00:00Z'])(
    'refuses %s, which no message holds',
    (time) => {
      expect(() => decode(message, { seen_time: time })).toThrow(`proto: invalid value for time field seenTime: "${time}"`)
    },
  )

  test('recognises parents, members and elements in touches', () => {
    const mask = explicitMask(message, 'inner.left,items')
    expect(['inner', 'inner.left', 'items[3].left', 'inner.right', 'display_name'].map((path) => touches(mask, path))).toEqual([
      true,
      true,
      true,
      false,
      false,
    ])
  })

  const leaf = fc.record({ left: fc.string(), right: fc.string() }, { requiredKeys: [] })
  const body = fc.record(
    {
      displayName: fc.string(),
      enabled: fc.boolean(),
      labels: fc.dictionary(fc.string(), fc.string()),
      items: fc.array(leaf),
      inner: leaf,
    },
    { requiredKeys: [] },
  )

  test('is idempotent, keeps its input and never changes output-only members', () => {
    fc.assert(
      fc.property(body, body, (before, change) => {
        const current = Object.freeze(fill(message, { ...decode(message, before), uid: 'u' }))
        const mask = impliedMask(message, change)
        const once = applyMask(message, current, decode(message, change), mask)
        expect(applyMask(message, once, decode(message, change), mask)).toEqual(once)
        expect(once['uid']).toBe('u')
      }),
    )
  })

  test('builds a resource from its input alone with *', () => {
    fc.assert(
      fc.property(body, body, (before, change) => {
        const everything = explicitMask(message, '*')
        const one = applyMask(message, fill(message, decode(message, before)), decode(message, change), everything)
        expect(one).toEqual(applyMask(message, fill(message, {}), decode(message, change), everything))
      }),
    )
  })
})

describe('decode', () => {
  test('reads both spellings at every depth into stored names', () => {
    const stored = { catalogTier: 'CATALOG_TIER_FIPS', sync_config: { expirationTime: '2026-01-01T00:00:00.000Z', uniqueTags: true } }
    expect(decodeOfOperation({ catalogTier: 'FIPS', sync_config: { expiration: '2026-01-01T00:00:00Z', uniqueTags: true } }, repo)).toEqual(
      stored,
    )
    expect(
      decodeOfOperation({ catalog_tier: 'FIPS', sync_config: { expiration: '2026-01-01T00:00:00Z', unique_tags: true } }, repo),
    ).toEqual(stored)
  })

  test('drops unknown and server-written members, syncConfig among them; null is unset', () => {
    expect(decodeOfOperation({ id: 'x', syncConfig: {}, createTime: 'nonsense', nope: 1, name: null, readme: 'hi' }, repo)).toEqual({
      readme: 'hi',
    })
  })

  test('accepts enums by v1 number, integers in either form and any time offset', () => {
    expect(decodeOfOperation({ catalogTier: 4 }, repo)).toEqual({ catalogTier: 'CATALOG_TIER_APPLICATION' })
    const github = { appInstallations: { 7: { installations: [{ installationId: 99 }, { installationId: '98' }] } } }
    expect(decodeOfOperation({ github }, accountAssociation)).toEqual({
      github: { appInstallations: { 7: { installations: [{ installationId: '99' }, { installationId: '98' }] } } },
    })
    expect(decodeOfOperation({ static: { expiration: '2026-01-01T02:00:00+02:00' } }, identity)).toEqual({
      staticKeys: { expirationTime: '2026-01-01T00:00:00.000Z' },
    })
  })

  test.each([
    ['a wrong type', { name: 5 }, repo],
    ['an unknown enum name', { catalogTier: 'CATALOG_TIER_BASE' }, repo],
    ['a bad timestamp', { sync_config: { expiration: 'tomorrow' } }, repo],
    ['a list that is none', { bundles: 'base' }, repo],
    ['a map that is none', { customOverlay: { environment: [] } }, repo],
    ['a negative uint32', { customOverlay: { accounts: { users: [{ uid: -1 }] } } }, repo],
    ['nothing in a list', { bundles: [null] }, repo],
    ['two members of a oneof', { claimMatch: {}, static: {} }, identity],
    ['one member in both spellings', { claimMatch: {}, claim_match: {} }, identity],
    ['a body that is not an object', [], repo],
    ['an unknown capability', { capabilities: ['groups.list', 'fly'] }, role],
  ])('refuses %s', (_, body, message) => {
    expect(() => decodeOfOperation(body, message)).toThrow(
      expect.objectContaining({ status: expect.objectContaining({ code: 'INVALID_ARGUMENT' }) }),
    )
  })

  test('names the failing member', () => {
    expect(() => decodeOfOperation({ name: 5 }, repo)).toThrow('proto: invalid value for string field name: 5')
    expect(() => decodeOfOperation({ capabilities: ['fly'] }, role)).toThrow('Invalid argument: capabilities: unknown capability "fly"')
  })
})

describe('encode', () => {
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
})
