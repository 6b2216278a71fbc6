import type { JWTPayload } from 'jose'
import type { ClaimMatch } from '../world/identity-model.ts'

/** A pattern must match the whole value. An invalid regular expression matches nothing (ASSUMPTIONS.md, "Tokens"). */
export const matchesPattern = (pattern: string, value: string): boolean => {
  try {
    return new RegExp(`^(?:${pattern})$`).test(value)
  } catch {
    return false
  }
}

const textOf = (value: unknown): string | undefined => (typeof value === 'object' || value === undefined ? undefined : String(value))

/** The check of one claim: its name, its values in the token, and the test that one of them must pass. */
type Check = { readonly claim: string; readonly values: readonly string[]; readonly passes: (value: string) => boolean }

const exactOrPattern = (exact: string | undefined, pattern: string | undefined): ((value: string) => boolean) | undefined => {
  if (exact) return (value) => value === exact
  return pattern ? (value) => matchesPattern(pattern, value) : undefined
}

const never = (): boolean => false

const listOf = (audience: string | string[] | undefined): readonly string[] => (audience === undefined ? [] : [audience].flat())

const ownClaim = (payload: JWTPayload, claim: string): readonly string[] => {
  const text = Object.hasOwn(payload, claim) ? textOf(payload[claim]) : undefined
  return text === undefined ? [] : [text]
}

const checksOf = (match: ClaimMatch, payload: JWTPayload, defaultAudiences: readonly string[]): readonly Check[] => [
  { claim: 'iss', values: listOf(payload.iss), passes: exactOrPattern(match.issuer, match.issuerPattern) ?? never },
  { claim: 'sub', values: listOf(payload.sub), passes: exactOrPattern(match.subject, match.subjectPattern) ?? never },
  {
    claim: 'aud',
    values: listOf(payload.aud),
    passes: exactOrPattern(match.audience, match.audiencePattern) ?? ((value) => defaultAudiences.includes(value)),
  },
  ...Object.entries(match.claims).map(([claim, wanted]) => ({
    claim,
    values: ownClaim(payload, claim),
    passes: (value: string) => value === wanted,
  })),
  ...Object.entries(match.claimPatterns).map(([claim, pattern]) => ({
    claim,
    values: ownClaim(payload, claim),
    passes: (value: string) => matchesPattern(pattern, value),
  })),
]

/**
 * The first claim of a verified token that does not match, or undefined if all match (semantics §2.6). A match without an audience requires
 * one of `defaultAudiences`.
 */
export const mismatchedClaim = (match: ClaimMatch, payload: JWTPayload, defaultAudiences: readonly string[]): string | undefined =>
  checksOf(match, payload, defaultAudiences).find(({ values, passes }) => !values.some(passes))?.claim
