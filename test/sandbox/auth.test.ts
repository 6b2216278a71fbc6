import type { JWTPayload } from 'jose'
import { beforeEach, describe, expect, it } from 'vitest'
import { capabilities, capabilityByV1, capabilityByV2 } from '../../src/sandbox/auth/capabilities.ts'
import {
  builtInRoles,
  builtInRoleUid,
  hasCapability,
  hasCapabilitySomewhere,
  isStaff,
  type Needed,
  requireCapability,
  visible,
} from '../../src/sandbox/auth/rights.ts'
import type { Caller } from '../../src/sandbox/auth/sts.ts'
import { mismatchedClaim } from '../../src/sandbox/auth/tokens.ts'
import type { ClaimMatch } from '../../src/sandbox/world/model.ts'
import { newUid } from '../../src/sandbox/world/store.ts'
import { freshBench } from './stage.ts'

describe('authorize', () => {
  const bench = freshBench()
  let folder: string
  let deeper: string
  let other: string
  beforeEach(() => {
    folder = newUid(bench.world.random, bench.org)
    deeper = newUid(bench.world.random, folder)
    other = newUid(bench.world.random)
  })

  const createTime = '2026-03-01T00:00:00.000Z'

  const bind = (identityUid: string, group: string, role: string) =>
    bench.world.store.roleBindings.put({ uid: newUid(bench.world.random, group), createTime, identityUid, roleUid: builtInRoleUid(role) })

  const somebody = (parent = ''): Caller => ({ identityUid: newUid(bench.world.random, parent) })
  const may = (caller: Caller, needed: Needed, uid: string) => hasCapability(bench.world, caller, needed, uid)

  describe('capabilities (semantics §2.1, §2.2)', () => {
    it('count at the bound group and below it, nowhere else', () => {
      const caller = somebody()
      bind(caller.identityUid, folder, 'viewer')
      const reached = [bench.org, folder, deeper, other].map((uid) => may(caller, 'repo.list', uid))
      expect(reached).toEqual([false, true, true, false])
    })

    it('do not count for a group whose uid merely has the same prefix', () => {
      const caller = somebody()
      bind(caller.identityUid, folder, 'viewer')
      expect(may(caller, 'repo.list', `${folder}0`)).toBe(false)
    })

    it('add up over the groups above; all required ones must be there', () => {
      const caller = somebody()
      bind(caller.identityUid, bench.org, 'apk.pull')
      bind(caller.identityUid, folder, 'mcp.tool_user')
      const needed = ['apk.list', 'mcp.tool.call'] as const
      expect([bench.org, folder, deeper].map((uid) => may(caller, needed, uid))).toEqual([false, true, true])
      expect(visible(bench.world, caller, needed)(deeper)).toBe(true)
      expect(visible(bench.world, caller, needed)(bench.org)).toBe(false)
    })

    it('stop at the home folder of an identity', () => {
      const caller = somebody(folder)
      bind(caller.identityUid, bench.org, 'viewer')
      expect([bench.org, folder, deeper].map((uid) => may(caller, 'repo.list', uid))).toEqual([false, true, true])
      const elsewhere = somebody(other)
      bind(elsewhere.identityUid, bench.org, 'viewer')
      expect(may(elsewhere, 'repo.list', bench.org)).toBe(false)
    })

    it('end with the binding', () => {
      const caller = { identityUid: bench.user('carol@example.com') }
      expect(may(caller, 'repo.list', bench.org)).toBe(true)
      for (const { uid, identityUid } of bench.world.store.roleBindings.values())
        if (identityUid === caller.identityUid) bench.world.store.roleBindings.delete(uid)
      expect(may(caller, 'repo.list', bench.org)).toBe(false)
    })

    it('are refused with PERMISSION_DENIED', () => {
      const caller = somebody()
      expect(() => requireCapability(bench.world, caller, 'repo.list', bench.org)).toThrow('Permission denied: missing capability')
      expect(hasCapabilitySomewhere(bench.world, caller, 'repo.list')).toBe(false)
    })
  })

  describe('token restrictions (semantics §2.6)', () => {
    it('keep what is granted at the scope or inherited by it', () => {
      const { identityUid } = somebody()
      bind(identityUid, bench.org, 'viewer')
      bind(identityUid, folder, 'owner')
      const caller = { identityUid, scopes: [folder] }
      expect(may(caller, 'repo.list', bench.org)).toBe(false)
      expect(may(caller, 'repo.list', folder)).toBe(true)
      expect(may(caller, 'groups.delete', deeper)).toBe(true)
    })

    it('never widen', () => {
      const { identityUid } = somebody()
      bind(identityUid, folder, 'viewer')
      expect(may({ identityUid, scopes: [bench.org] }, 'repo.list', bench.org)).toBe(false)
      expect(may({ identityUid, capabilities: ['tag.delete'] }, 'tag.delete', folder)).toBe(false)
    })

    it('keep only the requested capabilities', () => {
      const { identityUid } = somebody()
      bind(identityUid, folder, 'viewer')
      const caller = { identityUid, capabilities: ['tag.list'] }
      expect(may(caller, 'tag.list', folder)).toBe(true)
      expect(may(caller, 'repo.list', folder)).toBe(false)
    })

    it('apply to staff as well', () => {
      const staff: Caller = { identityUid: bench.user('admin@sandbox.dev'), everything: true }
      expect(isStaff(bench.world, staff)).toBe(true)
      expect(may(staff, 'repo.internal.admin', other)).toBe(true)
      expect(visible(bench.world, staff, 'groups.list')(other)).toBe(true)
      expect(may({ ...staff, scopes: [folder] }, 'groups.list', other)).toBe(false)
      expect(isStaff(bench.world, { ...staff, capabilities: ['groups.list'] })).toBe(false)
    })
  })

  describe('visible', () => {
    it('agrees with the check at every uid', () => {
      const caller = somebody()
      bind(caller.identityUid, folder, 'viewer')
      const inReach = visible(bench.world, caller, 'tag.list')
      const repo = newUid(bench.world.random, deeper)
      for (const uid of [bench.org, folder, deeper, repo, newUid(bench.world.random, repo), other])
        expect(inReach(uid)).toBe(may(caller, 'tag.list', uid))
    })

    it('handles 100,000 rows of one parent without re-reading the bindings', () => {
      const caller = somebody()
      bind(caller.identityUid, bench.org, 'viewer')
      const inReach = visible(bench.world, caller, 'tag.list')
      for (const { uid } of bench.world.store.roleBindings.values()) bench.world.store.roleBindings.delete(uid)
      const uids = Array.from({ length: 100_000 }, (_, index) => `${folder}/${index.toString(16).padStart(16, '0')}`)
      expect(uids.every(inReach)).toBe(true)
    })

    it('shows callers their own identity', () => {
      const caller = somebody()
      expect(visible(bench.world, caller, 'identity.list')(caller.identityUid)).toBe(true)
      expect(visible(bench.world, caller, 'groups.list')(caller.identityUid)).toBe(false)
    })
  })
})

describe('built in roles', () => {
  /** Role name → its number of capabilities in the sources (semantics §2.4). */
  const sizes: Record<string, number> = {
    console_viewer: 45,
    viewer: 51,
    editor: 62,
    owner: 138,
    limited_owner: 53,
    'registry.pull': 10,
    'registry.push': 20,
    'registry.editor': 15,
    'registry.pull_token_creator': 15,
    'apk.pull': 3,
    'apk.push': 5,
    'libraries.java.pull': 2,
    'libraries.go.push': 3,
    'guardener.user': 16,
    'guardener.admin': 18,
    'skills.publisher': 6,
  }

  describe('capabilities', () => {
    it('have unique names in both spellings', () => {
      expect(new Set(capabilities.map((row) => row.v1)).size).toBe(capabilities.length)
      expect(new Set(capabilities.map((row) => row.v2)).size).toBe(capabilities.length)
    })

    it('are found by either name', () => {
      expect(capabilityByV1('identity_providers.scim.manage')?.v2).toBe('CAP_IAM_SCIM_MANAGE')
      expect(capabilityByV2('CAP_EVENTS_SUBSCRIPTION_LIST')?.v1).toBe('subscriptions.list')
      expect(capabilityByV1('nonsense')).toBeUndefined()
    })

    it('mark the internal ones', () => {
      expect(capabilityByV1('repo.internal.admin')?.internalOnly).toBe(true)
      expect(capabilityByV1('libraries.rebuilder.builds.read')?.internalOnly).toBe(true)
      expect(capabilityByV1('repo.update')?.internalOnly).toBe(false)
    })
  })

  describe('built-in roles', () => {
    it.each(Object.entries(sizes))('%s holds %d known, distinct capabilities', (name, size) => {
      const held = builtInRoles.find((role) => role.name === name)?.capabilities ?? []
      expect(new Set(held).size).toBe(size)
      expect(held).toHaveLength(size)
      expect(held.filter((one) => capabilityByV2(one) === undefined)).toEqual([])
    })

    it('have unique root uids; viewer has the published one', () => {
      expect(new Set(builtInRoles.map((role) => role.uid)).size).toBe(builtInRoles.length)
      expect(builtInRoles.every((role) => /^[0-9a-f]{40}$/.test(role.uid))).toBe(true)
      expect(builtInRoleUid('viewer')).toBe('63921b2c44617e3f2603851537be0123af4a57d7')
      expect(builtInRoles.find((role) => role.name === 'viewer')?.description).toBe('Viewer Role (built-in)')
    })

    it('give no customer role an internal capability', () => {
      const owner = builtInRoles.find((role) => role.name === 'owner')?.capabilities ?? []
      for (const name of ['CAP_INTERNAL', 'CAP_REPO_INTERNAL_ADMIN', 'CAP_ADVISORIES_CREATE']) expect(owner).not.toContain(name)
    })

    it('refuse an unknown name', () => expect(() => builtInRoleUid('emperor')).toThrow('no built-in role is named emperor'))
  })
})

describe('claim match', () => {
  const claims = {
    iss: 'https://i.example',
    sub: 'repo:org/app',
    aud: ['https://here', 'other'],
    ref: 'main',
    run: 1234,
    ok: true,
    list: ['main'],
  }
  const exact: ClaimMatch = { issuer: claims.iss, subject: claims.sub, claims: {}, claimPatterns: {} }
  const mismatch = (change: Partial<ClaimMatch>, token: JWTPayload = claims) =>
    mismatchedClaim({ ...exact, ...change }, token, ['https://here'])

  /** Case → the first claim that does not match; undefined if all match (semantics §2.6). */
  const cases: readonly (readonly [what: string, change: Partial<ClaimMatch>, claim: string | undefined])[] = [
    ['everything fits', {}, undefined],
    ['another issuer', { issuer: 'https://j.example' }, 'iss'],
    ['an issuer pattern', { issuer: undefined, issuerPattern: 'https://.\\.example' }, undefined],
    ['a pattern matches the whole value only', { issuer: undefined, issuerPattern: 'example' }, 'iss'],
    ['no issuer at all', { issuer: undefined }, 'iss'],
    ['another subject', { subject: 'repo:org' }, 'sub'],
    ['a subject pattern', { subject: undefined, subjectPattern: 'repo:org/.*' }, undefined],
    ['alternatives are matched whole too', { subject: undefined, subjectPattern: 'repo|org' }, 'sub'],
    ['a pattern that is no pattern', { subject: undefined, subjectPattern: '(' }, 'sub'],
    ['its own audience', { audience: 'other' }, undefined],
    ['an audience pattern', { audiencePattern: 'oth.*' }, undefined],
    ['an audience the token lacks', { audience: 'nowhere' }, 'aud'],
    ['an exact claim', { claims: { ref: 'main', run: '1234', ok: 'true' } }, undefined],
    ['a claim of another value', { claims: { ref: 'dev' } }, 'ref'],
    ['a claim the token lacks', { claims: { env: '' } }, 'env'],
    ['a claim that is no scalar', { claims: { list: 'main' } }, 'list'],
    ['a claim pattern', { claimPatterns: { run: '^\\d{4}$' } }, undefined],
    ['a claim pattern that does not fit', { claimPatterns: { run: '\\d{3}' } }, 'run'],
    ['what every object has is no claim', { claimPatterns: { toString: '.*' } }, 'toString'],
  ]

  it.each(cases)('%s', (_what, change, claim) => expect(mismatch(change)).toBe(claim))

  it('requires the audience of this service by default', () => {
    expect(mismatch({}, { ...claims, aud: 'https://elsewhere' })).toBe('aud')
    const { aud: _aud, ...without } = claims
    expect(mismatch({}, without)).toBe('aud')
  })
})
