import { describe, expect, it } from 'vitest'
import { fieldMask } from '../../../src/tables/compile.ts'
import { gone, object, readOnly, text, time } from '../../../src/tables/fields.ts'

describe('a field mask (facts §13)', () => {
  const snake = { maskCase: 'snake', replaceMask: '*' } as const
  const camel = { maskCase: 'camel', replaceMask: '*' } as const
  const rule = { always: ['name', 'oidc.clientId'], whenSet: ['kind', 'oidc.clientSecret', 'claimMatch'], because: 'a test' }

  it('is * for a full replacement', () => {
    expect(fieldMask('*', {}, { name: 'x' }, snake)).toBe('*')
  })

  it('can name every member that v1 can write, set or not', () => {
    const fields = {
      id: readOnly('uid'),
      name: text('displayName'),
      part: object('itsPart', { inner: text('inner') }),
      made: readOnly(time('createTime')),
      lost: gone(text, 'gone'),
    }
    expect(fieldMask('*', fields, {}, { ...snake, replaceMask: 'known' })).toBe('display_name,its_part')
    expect(fieldMask('*', fields, {}, { ...camel, replaceMask: 'known' })).toBe('displayName,itsPart')
    expect(fieldMask(rule, fields, {}, { ...camel, replaceMask: 'known' })).toBe('name,oidc.clientId')
  })

  it('names what a PUT always replaces, present or not', () => {
    expect(fieldMask(rule, {}, {}, snake)).toBe('name,oidc.client_id')
  })

  it('names a conditional member only if it is set', () => {
    expect(fieldMask(rule, {}, { kind: 'KIND_A', oidc: { clientSecret: 's' }, claimMatch: {} }, camel)).toBe(
      'name,oidc.clientId,kind,oidc.clientSecret,claimMatch',
    )
  })

  it.each([undefined, null, '', 'KIND_UNSPECIFIED'])('takes %j for unset', (kind) => {
    expect(fieldMask(rule, {}, { kind, oidc: { clientSecret: kind } }, camel)).toBe('name,oidc.clientId')
  })
})
