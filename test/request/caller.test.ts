import { expect, it } from 'vitest'
import { identify } from '../../src/request/caller.ts'
import { credentialHash } from '../../src/upstream/credential.ts'

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const token = (claims: unknown, signature = 'c2ln') => `Bearer ${part({ alg: 'RS256' })}.${part(claims)}.${signature}`

it('a caller is its subject, whatever token it comes with', () => {
  const authorization = token({ iss: 'https://issuer', sub: 'alice', exp: 1 })
  const first = identify(authorization)
  const renewed = identify(token({ iss: 'https://issuer', sub: 'alice', exp: 2 }, 'b3RoZXI'))
  expect(first).toEqual({ caller: expect.stringMatching(/^[0-9a-f]{16}$/), subject: 'alice', credential: credentialHash(authorization) })
  expect(renewed.caller).toBe(first.caller)
  expect(renewed.credential).not.toBe(first.credential)
})

it('subjects of two issuers are two callers', () => {
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
])('%s names its caller by the credential', (authorization) => {
  expect(identify(authorization)).toEqual({
    caller: credentialHash(authorization),
    subject: undefined,
    credential: credentialHash(authorization),
  })
})

it('a token is one caller, however its scheme is written', () => {
  const spellings = ['Bearer opaque', 'bearer opaque', 'BEARER   opaque', 'Bearer \topaque ']
  expect(new Set(spellings.map((authorization) => identify(authorization).caller))).toEqual(new Set([credentialHash('Bearer opaque')]))
  expect(new Set(spellings.map((authorization) => identify(authorization).credential)).size).toBe(spellings.length)
})

it('a credential of any length has a caller', () => {
  const long = `Bearer ${'x'.repeat(60_000)}`
  expect(identify(long)).toEqual(identify(long))
  expect(identify(long).caller).toBe(credentialHash(long))
})

it('nobody is anonymous', () => {
  expect(identify(undefined)).toEqual({ caller: 'anonymous', subject: undefined, credential: 'anonymous' })
})
