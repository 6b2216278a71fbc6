import type { Severity, VulnerabilityMetadata } from '../world/advisory-model.ts'
import { fixtureDigest } from './fixture.ts'

/** Invented vulnerabilities. Their numbers are unassigned, so that no reader takes the demo for news. */

const WEAKNESSES = [
  'Out-of-bounds read',
  'Use after free',
  'Integer overflow',
  'Uncontrolled recursion',
  'Improper certificate validation',
  'Path traversal',
  'Denial of service through crafted input',
] as const

/** CVSS scores in rotation. The empty text is a vulnerability without a score. */
const SCORES = ['9.8', '7.5', '5.3', '3.1', '8.1', '6.5', '0.0', ''] as const

/** Every tenth one also has a score of the previous CVSS version, every seventh one of the next. */
const severitiesOf = (number: number): readonly Severity[] => {
  const score = SCORES[number % SCORES.length] ?? ''
  if (score === '') return []
  return [
    ...(number % 10 === 0 ? [{ type: 'TYPE_CVSS_V2', score }] : []),
    { type: 'TYPE_CVSS_V3', score },
    ...(number % 7 === 0 ? [{ type: 'TYPE_CVSS_V4', score }] : []),
  ]
}

/** `CVE-2026-90001` for 1. */
export const cveId = (number: number): string => `CVE-2026-${90_000 + number}`

/** The alphabet of GHSA and CGA ids (semantics §3.13). */
const ALPHABET = '23456789cfghjmpqrvwx'

/** An id of the form `<prefix>-xxxx-xxxx-xxxx`, derived from a label. */
export const letteredId = (prefix: string, label: string): string => {
  const letters = [...Buffer.from(fixtureDigest(label).slice(7, 31), 'hex')].map((byte) => ALPHABET[byte % ALPHABET.length])
  return [prefix, ...[0, 4, 8].map((at) => letters.slice(at, at + 4).join(''))].join('-')
}

export const ghsaId = (number: number): string => letteredId('GHSA', cveId(number))

/** The metadata of vulnerability `number`. */
export const vulnerability = (number: number): VulnerabilityMetadata => {
  const id = cveId(number)
  const weakness = WEAKNESSES[number % WEAKNESSES.length]
  return {
    uid: id,
    id,
    summary: `${weakness} (demo)`,
    details: `${weakness} in a component of the demo data. It was never found anywhere.`,
    references: [
      { type: 'TYPE_ADVISORY', url: `https://advisories.example.com/${ghsaId(number)}` },
      { type: 'TYPE_WEB', url: `https://cve.example.com/${id}` },
      ...(number % 3 === 0 ? [{ type: 'TYPE_FIX', url: `https://git.example.com/commit/${fixtureDigest(id).slice(7, 47)}` }] : []),
    ],
    severities: severitiesOf(number),
  }
}
