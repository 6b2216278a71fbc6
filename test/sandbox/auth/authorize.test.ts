import { beforeEach, describe, expect, it } from 'vitest'
import {
  builtInRoleUid,
  hasCapability,
  hasCapabilitySomewhere,
  isStaff,
  type Needed,
  requireCapability,
  visible,
} from '../../../src/sandbox/auth/rights.ts'
import type { Caller } from '../../../src/sandbox/auth/sts.ts'
import { newUid } from '../../../src/sandbox/world/store.ts'
import { type Bench, openBench, userUid } from '../iam/harness.ts'

let bench: Bench
let folder: string
let deeper: string
let other: string
beforeEach(() => {
  bench = openBench()
  folder = newUid(bench.world.random, bench.org)
  deeper = newUid(bench.world.random, folder)
  other = newUid(bench.world.random)
})

const createTime = '2026-03-01T00:00:00.000Z'

const bind = (identityUid: string, group: string, role: string) =>
  bench.world.store.roleBindings.put({
    uid: newUid(bench.world.random, group),
    createTime,
    identityUid,
    roleUid: builtInRoleUid(role),
  })

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
    const caller = { identityUid: userUid(bench, 'carol@example.com') }
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
    const staff: Caller = { identityUid: userUid(bench, 'admin@sandbox.dev'), everything: true }
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
