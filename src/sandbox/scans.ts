import { createHash } from 'node:crypto'
import { type Needed, visible } from './auth/rights.ts'
import type { Caller } from './auth/sts.ts'
import { type Ask, callerOf } from './http/route.ts'
import { formatTimestamp } from './messages/message.ts'
import { type FieldViolation, invalidArgument, malformed } from './status.ts'
import { type Advisory, latestApproved, type Repo, type Severity, type Tag, type TagPoint } from './world/model.ts'
import { rootOf, type World } from './world/store.ts'

/** The current target of a tag. Flags and bundles may have changed since. */
const pointOf = ({ digest, updateTime, since = updateTime }: Tag): TagPoint => ({ digest, updateTime: since })

/** Every target of a tag, oldest first, the current one last. */
export const pointsOf = (tag: Tag): readonly TagPoint[] => [...(tag.history ?? []), pointOf(tag)]

/** `tag` with its earlier targets. A write with the same digest adds none. */
export const remembering = (tag: Tag, previous: Tag | undefined): Tag => {
  if (!previous) return tag
  if (previous.digest !== tag.digest) return { ...tag, since: undefined, history: pointsOf(previous) }
  return { ...tag, since: pointOf(previous).updateTime, history: previous.history }
}

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
const findingsOf = (world: World, repo: string, digest: string, at: number): readonly Finding[] =>
  world.store.advisories
    .children(rootOf(repo))
    .filter((advisory) => isKnown(advisory, at) && isIn(digest, advisory))
    .map((advisory) => findingOf(advisory, at))

/** Finds a repo by uid, `name`, `organization/name` or `cgr.dev/organization/name` among those where the caller holds `needed`. */
export const repoNamed = (world: World, caller: Caller, needed: Needed, text: string): Repo | undefined => {
  const inReach = visible(world, caller, needed)
  const parts = text.replace(/^cgr\.dev\//, '').split('/')
  const [name, organization] = [parts.at(-1), parts.length > 1 ? parts[0] : undefined]
  const isOwned = (uid: string): boolean => organization === undefined || world.store.groups.get(rootOf(uid))?.name === organization
  return world.store.repos.values().find((row) => inReach(row.uid) && (row.uid === text || (row.name === name && isOwned(row.uid))))
}

const DAY_MS = 24 * 60 * 60 * 1000
const DATABASE_BUILT_MS = 2 * 60 * 60 * 1000

/** The only scanner of the sandbox. */
export const SCANNER = { name: 'GRYPE', version: '0.92.0' } as const

/** A scan of an image. Images are scanned at the end of every day, beginning with the day of their push. */
export type Scan = {
  /** RFC 3339, midnight at the start of the scan's day. */
  readonly date: string
  /** RFC 3339. */
  readonly databaseBuilt: string
  readonly findings: readonly Finding[]
}

const startOfDay = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS

/** The instant of a day's scan: the end of the day, or now if the day has not ended. */
const scanTime = (day: number, now: number): number => Math.min(day + DAY_MS - 1, now)

/** The starts of the days from that of `from` to that of `to`, both inclusive. */
export const daysBetween = (from: number, to: number): readonly number[] => {
  const first = startOfDay(from)
  return to < first ? [] : Array.from({ length: Math.floor((to - first) / DAY_MS) + 1 }, (_, index) => first + index * DAY_MS)
}

/** The scan of an image on the day of `ms`. */
export const scanOf = (world: World, repo: string, digest: string, ms: number): Scan => {
  const day = startOfDay(ms)
  return {
    date: formatTimestamp(day),
    databaseBuilt: formatTimestamp(day + DATABASE_BUILT_MS),
    findings: findingsOf(world, repo, digest, scanTime(day, world.clock.now().getTime())),
  }
}

/** The time in milliseconds at which a tag of the repo first pointed to the digest, or undefined. */
const pushed = (world: World, repo: string, digest: string): number | undefined => {
  const times = world.store.tags
    .children(repo)
    .flatMap(pointsOf)
    .filter((point) => point.digest === digest)
    .map(({ updateTime }) => Date.parse(updateTime))
  return times.length === 0 ? undefined : Math.min(...times)
}

/** The newest scan of an image at `ms`; undefined if it had not been pushed by then. */
export const scanAt = (world: World, repo: string, digest: string, ms: number): Scan | undefined => {
  const at = Math.min(ms, world.clock.now().getTime())
  const since = pushed(world, repo, digest)
  return since === undefined || since > at ? undefined : scanOf(world, repo, digest, at)
}

/** The report in the scanner's own format, a JSON text. */
export const rawReportOf = ({ findings, databaseBuilt }: Scan): string =>
  JSON.stringify({
    matches: findings.map(({ id, level, fix, packageName }) => ({
      vulnerability: { id, severity: level, fix: { state: fix.state.toLowerCase().replace('_', '-'), versions: fix.versions } },
      artifact: { name: packageName, type: 'apk' },
    })),
    descriptor: { name: SCANNER.name.toLowerCase(), version: SCANNER.version, db: { built: databaseBuilt } },
  })

/** What a caller needs to see a repo's resolved vulnerabilities (semantics §3.17). */
const NEEDED = ['apk.list', 'repo.list', 'manifest.metadata.list', 'tag.list'] as const

type ImageRef = { readonly repo?: string; readonly tags?: readonly string[] }

/** The list of messages that no query can carry over HTTP, but gRPC can (semantics §3.15). */
const imageRefsOf = ({ query, body }: Ask): readonly ImageRef[] => {
  const carried = query.pairs.find(([name]) => /^image_?refs\b/i.test(name))
  if (carried) return malformed('parsing field "image_refs": unsupported type of a query parameter')
  return (body as { readonly imageRefs?: readonly ImageRef[] }).imageRefs ?? []
}

/** The digest that a tag points to when the images of `day` are scanned. Undefined before the tag existed. */
export const digestOn = (world: World, tag: Tag, day: number): string | undefined => {
  const at = scanTime(day, world.clock.now().getTime())
  return pointsOf(tag).findLast(({ updateTime }) => Date.parse(updateTime) <= at)?.digest
}

type Unfixed = ReturnType<typeof createUnfixed>

/** Returns the unfixed findings of a tag's image at the end of a day. Tags share images, so each image is scanned once. */
const createUnfixed = (world: World) => {
  const scanned = new Map<string, readonly Finding[]>()
  return ({ uid }: Repo, tag: Tag, day: number): readonly Finding[] => {
    const digest = digestOn(world, tag, day)
    if (digest === undefined) return []
    const key = `${uid} ${digest} ${day}`
    const found = scanned.get(key) ?? scanOf(world, uid, digest, day).findings.filter(({ fix }) => fix.state !== 'FIXED')
    scanned.set(key, found)
    return found
  }
}

/** What the tag's scan showed the day before as not fixed and this day does not. */
const resolvedOn = (unfixed: Unfixed, repo: Repo, tag: Tag, day: number): readonly Finding[] => {
  const left = new Set(unfixed(repo, tag, day).map(({ id }) => id))
  return unfixed(repo, tag, startOfDay(day - 1)).filter(({ id }) => !left.has(id))
}

const resolvedVuln = ({ id, aliases, severities: cvssSeverities }: Finding) => ({ id, aliases, cvssSeverities })

/**
 * The vulnerabilities that were resolved in images, day by day (ASSUMPTIONS.md, "Advisory feed"). `names` are the version's names of the
 * two ends. A request without image references, which is every one of REST, is INVALID_ARGUMENT.
 */
export const resolvedVulns = (ask: Ask, world: World, [start, end]: readonly [start: string, end: string]) => {
  const refs = imageRefsOf(ask)
  const [from, to] = [ask.query.time(start), ask.query.time(end)]
  const given = { image_refs: refs.length > 0 || undefined, [start]: from, [end]: to }
  const missing = Object.keys(given).filter((name) => given[name] === undefined)
  if (from === undefined || to === undefined || missing.length > 0) {
    return invalidArgument(missing.map((field): FieldViolation => ({ field, description: 'is required' })))
  }
  const images = refs.flatMap(({ repo: name = '', tags = [] }) => {
    const repo = repoNamed(world, callerOf(ask), NEEDED, name)
    const rows = repo ? world.store.tags.children(repo.uid) : []
    return rows.flatMap((tag) => (repo && (tags.length === 0 || tags.includes(tag.name)) ? [{ repo, tag }] : []))
  })
  const unfixed = createUnfixed(world)
  // A start in the year 1 asks for 700,000 days on which no image was there.
  const born = images.reduce((first, { tag }) => Math.min(first, Date.parse(pointsOf(tag)[0]!.updateTime)), Number.POSITIVE_INFINITY)
  return daysBetween(from, Math.min(to, world.clock.now().getTime())).map((day) => {
    const present = day + DAY_MS > born ? images : []
    const found = new Map(present.flatMap(({ repo, tag }) => resolvedOn(unfixed, repo, tag, day)).map((finding) => [finding.id, finding]))
    return { date: formatTimestamp(day), resolvedVulns: [...found.values()].map(resolvedVuln) }
  })
}
