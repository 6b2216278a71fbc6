import { formatTimestamp } from '../messages/timestamp.ts'
import { pointsOf } from '../v2/registry/tag-history.ts'
import type { World } from '../world/world.ts'
import { type Finding, findingsOf } from './findings.ts'

const DAY_MS = 24 * 60 * 60 * 1000
const DATABASE_BUILT_MS = 2 * 60 * 60 * 1000

/** The only scanner of the sandbox. */
export const SCANNER = { name: 'GRYPE', version: '0.92.0' } as const

/** A scan of an image. Images are scanned at the end of every day, beginning with the day of their push. */
export type Scan = {
  /** Milliseconds: the instant of the scanner's data. */
  readonly at: number
  /** RFC 3339, midnight at the start of the scan's day. */
  readonly date: string
  /** RFC 3339. */
  readonly databaseBuilt: string
  readonly findings: readonly Finding[]
}

export const startOfDay = (ms: number): number => Math.floor(ms / DAY_MS) * DAY_MS

/** The instant of a day's scan: the end of the day, or now if the day has not ended. */
export const scanTime = (day: number, now: number): number => Math.min(day + DAY_MS - 1, now)

/** The starts of the days from that of `from` to that of `to`, both inclusive. */
export const daysBetween = (from: number, to: number): readonly number[] => {
  const first = startOfDay(from)
  return to < first ? [] : Array.from({ length: Math.floor((to - first) / DAY_MS) + 1 }, (_, index) => first + index * DAY_MS)
}

/** The scan of an image on the day of `ms`. */
export const scanOf = (world: World, repo: string, digest: string, ms: number): Scan => {
  const day = startOfDay(ms)
  const at = scanTime(day, world.clock.now().getTime())
  return {
    at,
    date: formatTimestamp(day),
    databaseBuilt: formatTimestamp(day + DATABASE_BUILT_MS),
    findings: findingsOf(world, repo, digest, at),
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
