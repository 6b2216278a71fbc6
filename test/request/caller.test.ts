import { expect, it } from 'vitest'
import { credentialHash, identify } from '../../src/serve/caller.ts'

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const token = (claims: unknown, signature = 'c2ln') => `Bearer ${part({ alg: 'RS256' })}.${part(claims)}.${signature}`

it('identifies a caller by the subject, whatever the token', () => {
  const authorization = token({ iss: 'https://issuer', sub: 'alice', exp: 1 })
  const first = identify(authorization)
  const renewed = identify(token({ iss: 'https://issuer', sub: 'alice', exp: 2 }, 'b3RoZXI'))
  expect(first).toEqual({ caller: expect.stringMatching(/^[0-9a-f]{16}$/), subject: 'alice', credential: credentialHash(authorization) })
  expect(renewed.caller).toBe(first.caller)
  expect(renewed.credential).not.toBe(first.credential)
})

it('identifies a caller whose token stands without a scheme, as the vendor sends it', () => {
  const authorization = token({ iss: 'https://issuer', sub: 'alice' })
  expect(identify(authorization.replace('Bearer ', ''))).toMatchObject({ caller: identify(authorization).caller, subject: 'alice' })
})

it('keeps the subjects of two issuers apart', () => {
  expect(identify(token({ iss: 'https://a', sub: 'alice' })).caller).not.toBe(identify(token({ iss: 'https://b', sub: 'alice' })).caller)
})

it.each([
  'Bearer opaque',
  'Basic YWxpY2U6c2VjcmV0',
  'Bearer a.b.c',
  'Bearer ..',
  token({ iss: 'https://issuer' }),
  token({ sub: '' }),
  token({ sub: 5 }),
  token(null),
  token('text'),
])('identifies the caller by the credential: %s', (authorization) => {
  expect(identify(authorization)).toEqual({
    caller: credentialHash(authorization),
    subject: undefined,
    credential: credentialHash(authorization),
  })
})

it('takes a token for one caller, however its scheme is written', () => {
  const spellings = ['Bearer opaque', 'bearer opaque', 'BEARER   opaque', 'Bearer \topaque ']
  expect(new Set(spellings.map((authorization) => identify(authorization).caller))).toEqual(new Set([credentialHash('Bearer opaque')]))
  expect(new Set(spellings.map((authorization) => identify(authorization).credential)).size).toBe(1)
})

it('identifies a caller with a credential of any length', () => {
  const long = `Bearer ${'x'.repeat(60_000)}`
  expect(identify(long)).toEqual(identify(long))
  expect(identify(long).caller).toBe(credentialHash(long))
})

it('calls a caller without a credential anonymous', () => {
  expect(identify(undefined)).toEqual({ caller: 'anonymous', subject: undefined, credential: 'anonymous' })
})
