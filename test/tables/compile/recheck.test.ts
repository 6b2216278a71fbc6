import { describe, expect, it } from 'vitest'
import { passes } from '../../../src/tables/recheck.ts'

const tag = { uid: 'org/repo/tag', name: '1.2-r3', digest: 'sha256:ab', keyId: 'k', updateTime: '2025-01-02T03:04:05Z' }

describe('filters beside an id, checked on the row of the Get (facts §11)', () => {
  it.each<[boolean, string, string]>([
    [true, 'uidp.descendants_of', 'org'],
    [true, 'uidp.descendants_of', 'org/repo'],
    [false, 'uidp.descendants_of', 'org/repo/tag'],
    [false, 'uidp.descendants_of', 'or'],
    [true, 'uidp.children_of', 'org/repo'],
    [false, 'uidp.children_of', 'org'],
    [true, 'uidp.ancestors_of', 'org/repo/tag'],
    [true, 'uidp.ancestors_of', 'org/repo/tag/x'],
    [false, 'uidp.ancestors_of', 'org/repo'],
    [false, 'uidp.in_root', 'true'],
    [true, 'uidp.in_root', 'false'],
    [true, 'name', '1.2-r3'],
    [false, 'name', '1.2'],
    [true, 'digest', 'sha256:ab'],
    [true, 'key_id', 'k'],
    [false, 'key_id', 'other'],
    [true, 'updated_since', '2025-01-02T03:04:04.999Z'],
    [false, 'updated_since', '2025-01-02T04:04:05+01:00'],
    [false, 'include_epochs', 'false'],
    [true, 'include_epochs', 'true'],
    [true, 'include_dates', 'false'],
    [true, 'include_referrers', 'false'],
  ])('%s: %s=%s', (pass, name, value) => {
    expect(passes(tag, [[name, value]])).toBe(pass)
  })

  it('must all pass; ids are alternatives', () => {
    expect(passes(tag, [])).toBe(true)
    expect(
      passes(tag, [
        ['uidp.ids', 'x'],
        ['uidp.ids', 'org/repo/tag'],
        ['name', '1.2-r3'],
      ]),
    ).toBe(true)
    expect(
      passes(tag, [
        ['uidp.ids', 'x'],
        ['name', '1.2-r3'],
      ]),
    ).toBe(false)
  })

  it('ignore artifact names beside an origin', () => {
    const query = [
      ['origin', 'nginx'],
      ['artifact_names', 'other'],
    ] as const
    expect(passes({ uid: 'org/a', artifactName: 'nginx' }, query)).toBe(true)
    expect(passes({ uid: 'org/a', artifactName: 'curl' }, query)).toBe(false)
  })

  it('are checked once each, however often they are given', () => {
    const types = Array(100_000).fill(['event_types', 'EVENT_TYPE_FILTER_FIXED'])
    const authors = Array(100_000).fill(['event_authors', 'nobody'])
    const events = Array.from({ length: 1000 }, () => ({ author: 'a', detection: {} }))
    expect(passes({ ...tag, events: [...events, { author: 'nobody', fixed: {} }] }, [...types, ...authors])).toBe(true)
    expect(passes({ ...tag, events }, [...types, ...authors])).toBe(false)
  })

  it('recognise tags hidden from v2’s default lists by their names', () => {
    expect(passes({ ...tag, name: 'sha256-abc.sig' }, [['include_referrers', 'false']])).toBe(false)
    expect(passes({ ...tag, name: 'latest-20250102' }, [['include_dates', 'false']])).toBe(false)
    expect(passes({ ...tag, name: 'latest-19250102' }, [['include_dates', 'false']])).toBe(true)
  })
})
