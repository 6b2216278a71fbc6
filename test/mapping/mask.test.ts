import { describe, expect, it } from 'vitest'
import { fieldMask } from '../../src/mapping/mask.ts'

describe('a field mask (facts §13)', () => {
  const rule = { always: ['name', 'oidc.clientId'], whenSet: ['kind', 'oidc.clientSecret', 'claimMatch'], because: 'a test' }

  it('of a full replacement is *', () => {
    expect(fieldMask('*', { name: 'x' }, 'snake')).toBe('*')
  })

  it('names what a PUT always replaces, present or not', () => {
    expect(fieldMask(rule, {}, 'snake')).toBe('name,oidc.client_id')
  })

  it('names a delicate member only when it is set', () => {
    expect(fieldMask(rule, { kind: 'KIND_A', oidc: { clientSecret: 's' }, claimMatch: {} }, 'camel')).toBe(
      'name,oidc.clientId,kind,oidc.clientSecret,claimMatch',
    )
  })

  it.each([undefined, null, '', 'KIND_UNSPECIFIED'])('%j is not set', (kind) => {
    expect(fieldMask(rule, { kind, oidc: { clientSecret: kind } }, 'camel')).toBe('name,oidc.clientId')
  })
})
