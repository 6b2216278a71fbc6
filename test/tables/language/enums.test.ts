import { describe, expect, it } from 'vitest'
import { enumMap, identical, prefixed, requirement } from '../../../src/tables/fields.ts'

describe('an enum map', () => {
  it('maps both ways, by name and by number', () => {
    const tier = prefixed('Tier', 'TIER_', ['UNKNOWN', 'TIER_UNSPECIFIED'], [['BASE', 5, 2]])
    expect(tier.zero).toEqual(['UNKNOWN', 'TIER_UNSPECIFIED', 0, 0])
    expect(tier.toV1.get(2)).toBe('BASE')
    expect(tier.toV1.get('TIER_BASE')).toBe('BASE')
    expect(tier.toV2.get('BASE')).toBe('TIER_BASE')
    expect(tier.toV2.get(5)).toBe('TIER_BASE')
  })

  it('counts from zero if both sides have the same names', () => {
    expect(identical('Kind', ['KIND_UNSPECIFIED', 'A']).rows).toEqual([
      ['KIND_UNSPECIFIED', 'KIND_UNSPECIFIED', 0, 0],
      ['A', 'A', 1, 1],
    ])
  })

  it.each([
    [
      'v1 name A',
      [
        ['A', 'X', 0],
        ['A', 'Y', 1],
      ],
    ],
    [
      'v2 name X',
      [
        ['A', 'X', 0],
        ['B', 'X', 1],
      ],
    ],
    [
      'number 0',
      [
        ['A', 'X', 0],
        ['B', 'Y', 0],
      ],
    ],
  ] as const)('must be one to one: it refuses %s twice', (what, rows) => {
    expect(() => enumMap('Kind', rows)).toThrow(`enum Kind is not one to one: ${what} stands twice`)
  })

  it('has a zero value', () => {
    expect(() => enumMap('Kind', [])).toThrow('enum Kind has no rows')
  })

  it('lists its values in an error, unless there are too many', () => {
    expect(requirement(identical('Kind', ['A', 'B']))).toBe('must be one of A, B')
    expect(requirement(identical('capability', [...'abcdefghijklmnopqrstuvwxyz']))).toBe('must be a capability')
  })
})
