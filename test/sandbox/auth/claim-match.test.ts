import type { JWTPayload } from 'jose'
import { describe, expect, it } from 'vitest'
import { mismatchedClaim } from '../../../src/sandbox/auth/tokens.ts'
import type { ClaimMatch } from '../../../src/sandbox/world/model.ts'

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

describe('claim match', () => {
  it.each(cases)('%s', (_what, change, claim) => {
    expect(mismatch(change)).toBe(claim)
  })

  it('requires the audience of this service by default', () => {
    expect(mismatch({}, { ...claims, aud: 'https://elsewhere' })).toBe('aud')
    const { aud: _aud, ...without } = claims
    expect(mismatch({}, without)).toBe('aud')
  })
})
