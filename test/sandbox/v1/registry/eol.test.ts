import { describe, expect, test } from 'vitest'
import { eolTagOf } from '../../../../src/sandbox/v1/registry/eol.ts'

const at = (name: string, date: string, repo = 'node', extra = {}) =>
  eolTagOf({ name: repo, activeTags: [] }, { uid: 'u', name, deprecated: false, ...extra }, new Date(`${date}T00:00:00Z`))

describe('the end-of-life decision rule (semantics §8)', () => {
  test.each([
    ['24', '2026-01-01', 'GRACE_ELIGIBLE', 'TAG_ACTIVE', null],
    ['18', '2025-05-01', 'GRACE_ACTIVE', 'TAG_IN_GRACE', '2025-10-30T00:00:00Z'],
    ['18.20.8-dev', '2025-10-30', 'GRACE_ACTIVE', 'TAG_IN_GRACE', '2025-10-30T00:00:00Z'],
    ['18', '2025-10-31', 'GRACE_EXPIRED', 'TAG_INACTIVE', null],
    ['latest', '2026-01-01', 'GRACE_NOT_ELIGIBLE', 'TAG_ACTIVE', null],
    ['24.1.0-r3-dev', '2026-01-01', 'GRACE_ELIGIBLE', 'TAG_INACTIVE', null],
  ])('rates node:%s on %s', (name, date, graceStatus, tagStatus, gracePeriodExpiryDate) => {
    expect(at(name, date)).toMatchObject({ graceStatus, tagStatus, gracePeriodExpiryDate })
  })

  test('ends the grace at once for a stream that cannot be built any more', () => {
    expect(at('24', '2025-10-01', 'jdk')).toMatchObject({ graceStatus: 'GRACE_BROKEN', tagStatus: 'TAG_INACTIVE' })
  })

  test('adds months with overflow: 2026-10-31 and six months is 2027-05-01', () => {
    expect(at('3.10', '2027-01-01', 'python').gracePeriodExpiryDate).toBe('2027-05-01T00:00:00Z')
  })

  test('names main package and version', () => {
    expect(at('20.1', '2026-01-01')).toMatchObject({
      mainPackageName: 'nodejs',
      mainPackageVersion: { version: '20', exists: true, lts: true },
    })
    expect(at('latest', '2026-01-01').mainPackageVersion).toMatchObject({ version: '', exists: false, eolDate: '' })
    expect(at('1', '2026-01-01', 'unheard-of')).toMatchObject({ mainPackageName: '', mainPackageVersion: null })
  })

  test('follows the active tags of the repo if it lists any', () => {
    const repo = { name: 'node', activeTags: ['18-dev'] }
    const now = new Date('2026-06-01T00:00:00Z')
    expect(eolTagOf(repo, { uid: 'u', name: '18-dev', deprecated: true }, now).tagStatus).toBe('TAG_ACTIVE')
    expect(eolTagOf(repo, { uid: 'u', name: '24', deprecated: false }, now).tagStatus).toBe('TAG_INACTIVE')
  })
})
