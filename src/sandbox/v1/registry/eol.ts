import { packageOfRepo, type VersionStream } from './eol-data.ts'

/** Months for which an eligible stream is still built after upstream ended it (semantics §8). */
const GRACE_MONTHS = 6

type GraceStatus = 'GRACE_NOT_ELIGIBLE' | 'GRACE_ELIGIBLE' | 'GRACE_ACTIVE' | 'GRACE_BROKEN' | 'GRACE_EXPIRED'

type EolRepo = { readonly name: string; readonly activeTags: readonly string[] }
type EolTag = { readonly uid: string; readonly name: string; readonly deprecated: boolean }

/** The last day of grace. Months are added as in the service: a missing day overflows into the next month (2026-10-31 → 2027-05-01). */
function expiryOf(eolDate: string): Date {
  const date = new Date(`${eolDate}T00:00:00Z`)
  date.setUTCMonth(date.getUTCMonth() + GRACE_MONTHS)
  return date
}

/** The decision rule of semantics §8. */
function graceOf(stream: VersionStream | undefined, now: Date): GraceStatus {
  if (!stream?.eolDate) return 'GRACE_NOT_ELIGIBLE'
  if (now < new Date(`${stream.eolDate}T00:00:00Z`)) return 'GRACE_ELIGIBLE'
  if (stream.eolBroken) return 'GRACE_BROKEN'
  return now <= expiryOf(stream.eolDate) ? 'GRACE_ACTIVE' : 'GRACE_EXPIRED'
}

/** The stream of a tag: `18.20.4-r1-dev` belongs to 18, `3.13` to 3.13. `latest` and a bare `3` belong to none. */
const streamOf = (streams: readonly VersionStream[], tagName: string): VersionStream | undefined =>
  streams.find(({ version }) => tagName === version || (tagName.startsWith(version) && /^[.-]/.test(tagName.slice(version.length))))

const superseded = /-r\d+(-|$)/

/** True if the tag is still built: the repo lists it as active, or, if the repo lists none, the tag's own flags say so. */
function isBuilt(repo: EolRepo, tag: EolTag, grace: GraceStatus): boolean {
  if (repo.activeTags.length > 0) return repo.activeTags.includes(tag.name)
  if (grace === 'GRACE_BROKEN' || grace === 'GRACE_EXPIRED' || superseded.test(tag.name)) return false
  return grace === 'GRACE_ACTIVE' || !tag.deprecated
}

const noStream = { eolDate: '', exists: false, fips: false, lts: false, releaseDate: '', version: '', eolBroken: false, latestVersion: '' }

const packageVersion = (stream: VersionStream | undefined) =>
  stream ? { ...stream, exists: true, legacyLts: stream.lts ? 'true' : '' } : { ...noStream, legacyLts: '' }

const wholeSeconds = (date: Date): string => date.toISOString().replace('.000Z', 'Z')

/** One row of the end-of-life listing at the instant `now`. The version is null for an unknown package. */
export function eolTagOf(repo: EolRepo, tag: EolTag, now: Date) {
  const known = packageOfRepo.get(repo.name)
  const stream = streamOf(known?.streams ?? [], tag.name)
  const grace = graceOf(stream, now)
  const built = isBuilt(repo, tag, grace)
  const current = grace === 'GRACE_ACTIVE' ? 'TAG_IN_GRACE' : 'TAG_ACTIVE'
  return {
    id: tag.uid,
    name: tag.name,
    mainPackageName: known?.name ?? '',
    mainPackageVersion: known ? packageVersion(stream) : null,
    tagStatus: built ? current : 'TAG_INACTIVE',
    graceStatus: grace,
    gracePeriodExpiryDate: grace === 'GRACE_ACTIVE' && stream ? wholeSeconds(expiryOf(stream.eolDate)) : null,
  }
}
