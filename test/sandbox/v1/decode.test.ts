import { describe, expect, test } from 'vitest'
import { role } from '../../../src/sandbox/v1/iam/access.ts'
import { accountAssociation } from '../../../src/sandbox/v1/iam/groups.ts'
import { identity } from '../../../src/sandbox/v1/iam/identities.ts'
import { decode } from '../../../src/sandbox/v1/operation.ts'
import { repo } from '../../../src/sandbox/v1/registry/repos.ts'

describe('decode', () => {
  test('reads both spellings at every depth into stored names', () => {
    const stored = { catalogTier: 'CATALOG_TIER_FIPS', sync_config: { expirationTime: '2026-01-01T00:00:00.000Z', uniqueTags: true } }
    expect(decode({ catalogTier: 'FIPS', sync_config: { expiration: '2026-01-01T00:00:00Z', uniqueTags: true } }, repo)).toEqual(stored)
    expect(decode({ catalog_tier: 'FIPS', sync_config: { expiration: '2026-01-01T00:00:00Z', unique_tags: true } }, repo)).toEqual(stored)
  })

  test('drops unknown and server-written members, syncConfig among them; null is unset', () => {
    expect(decode({ id: 'x', syncConfig: {}, createTime: 'nonsense', nope: 1, name: null, readme: 'hi' }, repo)).toEqual({ readme: 'hi' })
  })

  test('accepts enums by v1 number, integers in either form and any time offset', () => {
    expect(decode({ catalogTier: 4 }, repo)).toEqual({ catalogTier: 'CATALOG_TIER_APPLICATION' })
    const github = { appInstallations: { 7: { installations: [{ installationId: 99 }, { installationId: '98' }] } } }
    expect(decode({ github }, accountAssociation)).toEqual({
      github: { appInstallations: { 7: { installations: [{ installationId: '99' }, { installationId: '98' }] } } },
    })
    expect(decode({ static: { expiration: '2026-01-01T02:00:00+02:00' } }, identity)).toEqual({
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
    expect(() => decode(body, message)).toThrow(expect.objectContaining({ status: expect.objectContaining({ code: 'INVALID_ARGUMENT' }) }))
  })

  test('names the failing member', () => {
    expect(() => decode({ name: 5 }, repo)).toThrow('proto: invalid value for string field name: 5')
    expect(() => decode({ capabilities: ['fly'] }, role)).toThrow('Invalid argument: capabilities: unknown capability "fly"')
  })
})
