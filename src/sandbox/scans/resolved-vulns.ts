import { type Ask, callerOf } from '../http/route.ts'
import { formatTimestamp } from '../messages/timestamp.ts'
import { type FieldViolation, invalidArgument, malformed } from '../status.ts'
import { pointsOf } from '../v2/registry/tag-history.ts'
import type { Repo, Tag } from '../world/registry-model.ts'
import type { World } from '../world/world.ts'
import type { Finding } from './findings.ts'
import { repoNamed } from './repo-named.ts'
import { daysBetween, scanOf, scanTime, startOfDay } from './scans.ts'

/** What a caller needs to see a repo's resolved vulnerabilities (semantics §3.17). */
const NEEDED = ['apk.list', 'repo.list', 'manifest.metadata.list', 'tag.list'] as const

type ImageRef = { readonly repo?: string; readonly tags?: readonly string[] }

/** The list of messages that no query can carry over HTTP, but gRPC can (semantics §3.15). */
const imageRefsOf = ({ query, body }: Ask): readonly ImageRef[] => {
  const carried = query.pairs.find(([name]) => /^image_?refs\b/i.test(name))
  if (carried) return malformed('parsing field "image_refs": unsupported type of a query parameter')
  return (body as { readonly imageRefs?: readonly ImageRef[] }).imageRefs ?? []
}

/** The unfixed findings of a tag's image at the end of a day. Tags share images, so each image is scanned once. */
type Unfixed = (repo: Repo, tag: Tag, day: number) => readonly Finding[]

const createUnfixed = (world: World): Unfixed => {
  const now = world.clock.now().getTime()
  const scanned = new Map<string, readonly Finding[]>()
  return ({ uid }, tag, day) => {
    const digest = pointsOf(tag).findLast(({ updateTime }) => Date.parse(updateTime) <= scanTime(day, now))?.digest
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
  return daysBetween(from, Math.min(to, world.clock.now().getTime())).map((day) => {
    const found = new Map(images.flatMap(({ repo, tag }) => resolvedOn(unfixed, repo, tag, day)).map((finding) => [finding.id, finding]))
    return { date: formatTimestamp(day), resolvedVulns: [...found.values()].map(resolvedVuln) }
  })
}
