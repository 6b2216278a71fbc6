import { describe, expect, it } from 'vitest'
import { capabilities, capabilityByV1, capabilityByV2 } from '../../../src/sandbox/auth/capabilities.ts'
import { builtInRoles, builtInRoleUid } from '../../../src/sandbox/auth/rights.ts'

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

  it('refuse an unknown name', () => {
    expect(() => builtInRoleUid('emperor')).toThrow('no built-in role is named emperor')
  })
})
