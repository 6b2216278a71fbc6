import { createHash } from 'node:crypto'
import { latestApproved } from '../v2/vulnerabilities/event-kinds.ts'
import type { Advisory, Severity } from '../world/advisory-model.ts'
import { rootOf } from '../world/uid.ts'
import type { World } from '../world/world.ts'

/** The severity of a vulnerability, in the words of reports. */
export type Level = 'UNKNOWN' | 'LOW' | 'MEDIUM' | 'HIGH' | 'CRITICAL' | 'NEGLIGIBLE'

/** A vulnerability in a package of an image. */
export type Finding = {
  readonly id: string
  readonly aliases: readonly string[]
  readonly level: Level
  /** The base score as a text; empty without a score. */
  readonly score: string
  readonly severities: readonly Severity[]
  readonly packageName: string
  readonly advisoryId: string
  readonly fix: { readonly state: 'FIXED' | 'NOT_FIXED' | 'WONT_FIX'; readonly versions: readonly string[] }
}

/** The lowest base score of each CVSS level, worst first. */
const LEVELS: readonly (readonly [from: number, level: Level])[] = [
  [9, 'CRITICAL'],
  [7, 'HIGH'],
  [4, 'MEDIUM'],
  [0.1, 'LOW'],
  [0, 'NEGLIGIBLE'],
]

const levelOf = (score: string): Level => (score === '' ? undefined : LEVELS.find(([from]) => Number(score) >= from)?.[1]) ?? 'UNKNOWN'

const fixOf = (advisory: Advisory, at: number): Finding['fix'] => {
  const latest = latestApproved(advisory, at)
  if (latest?.fixed) return { state: 'FIXED', versions: [latest.fixed.fixedVersion] }
  if (latest?.patched) return { state: 'FIXED', versions: latest.patched.patchedVersions }
  return { state: latest?.fixNotPlanned ? 'WONT_FIX' : 'NOT_FIXED', versions: [] }
}

/**
 * True if the image of `digest` contains the package of an advisory. No source tells the content of an image, so the digest decides: one in
 * four.
 */
const isIn = (digest: string, { advisoryId }: Advisory): boolean =>
  (createHash('sha256').update(`${digest} ${advisoryId}`).digest()[0] ?? 0) < 64

/** True if the advisory is published, not withdrawn, and not judged a false positive at `at`. */
const isKnown = (advisory: Advisory, at: number): boolean =>
  Date.parse(advisory.createTime) <= at &&
  advisory.deleteTime === undefined &&
  latestApproved(advisory, at)?.falsePositiveDetermination === undefined

const findingOf = (advisory: Advisory, at: number): Finding => {
  const [id = '', ...aliases] = advisory.aliases
  const { artifactName: packageName, advisoryId, severities } = advisory
  const score = severities.at(-1)?.score ?? ''
  return { id, aliases, level: levelOf(score), score, severities, packageName, advisoryId, fix: fixOf(advisory, at) }
}

/** The findings of a scan of an image at `at` (milliseconds), drawn from the advisories of the image's organization (ASSUMPTIONS.md). */
export const findingsOf = (world: World, repo: string, digest: string, at: number): readonly Finding[] =>
  world.store.advisories
    .children(rootOf(repo))
    .filter((advisory) => isKnown(advisory, at) && isIn(digest, advisory))
    .map((advisory) => findingOf(advisory, at))
