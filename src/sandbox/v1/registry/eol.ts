import { visible } from '../../auth/rights.ts'
import { callerOf, type Query } from '../../http/route.ts'
import { type Filter, filterKey, type Paging, pageOf, readPaging, readUidp, SORTABLE, selectRows } from '../../lists.ts'
import type { Tag } from '../../world/model.ts'
import { parentOf, type World } from '../../world/store.ts'
import { choice, flag, list, message, object, sameNames, text, time } from '../message.ts'
import { encode, type Operation } from '../operation.ts'
import { longPages, ownPaging } from '../operations.ts'
import { tagFilters } from './tags.ts'

/**
 * The data of the end-of-life listing. The store does not hold it and v2 has no such data (semantics §8). Upstream projects publish these
 * dates; ASSUMPTIONS.md names the invented ones.
 */

/** One release line of a package. Dates are `YYYY-MM-DD`, or empty if upstream has announced none. */
type VersionStream = {
  readonly version: string
  readonly latestVersion: string
  readonly releaseDate: string
  readonly eolDate: string
  readonly lts: boolean
  readonly fips: boolean
  /** The stream cannot be built any more, which ends its grace period at once. */
  readonly eolBroken: boolean
}

type Package = { readonly name: string; readonly streams: readonly VersionStream[] }
type StreamRow = readonly [
  version: string,
  latestVersion: string,
  releaseDate: string,
  eolDate: string,
  ...marks: ('lts' | 'fips' | 'broken')[],
]

const packageOf = (repo: string, name: string, ...rows: readonly StreamRow[]): readonly [repo: string, Package] => {
  const streams = rows.map(([version, latestVersion, releaseDate, eolDate, ...marks]) => ({
    version,
    latestVersion,
    releaseDate,
    eolDate,
    lts: marks.includes('lts'),
    fips: marks.includes('fips'),
    eolBroken: marks.includes('broken'),
  }))
  return [repo, { name, streams }]
}

/** Repo name → main package. The two often differ: `node` ships `nodejs`. */
const packageOfRepo: ReadonlyMap<string, Package> = new Map([
  packageOf(
    'go',
    'go',
    ['1.21', '1.21.13', '2023-08-08', '2024-08-13'],
    ['1.22', '1.22.12', '2024-02-06', '2025-02-11'],
    ['1.23', '1.23.12', '2024-08-13', '2025-08-12', 'fips'],
    ['1.24', '1.24.10', '2025-02-11', '2026-02-11', 'fips'],
    ['1.25', '1.25.4', '2025-08-12', '2026-08-12', 'fips'],
  ),
  packageOf(
    'jdk',
    'openjdk',
    ['11', '11.0.29', '2018-09-25', '2027-10-31', 'lts', 'fips'],
    ['17', '17.0.17', '2021-09-14', '2029-09-30', 'lts', 'fips'],
    ['21', '21.0.9', '2023-09-19', '2031-09-30', 'lts', 'fips'],
    ['24', '24.0.2', '2025-03-18', '2025-09-16', 'broken'],
    ['25', '25.0.1', '2025-09-16', '2033-09-30', 'lts'],
  ),
  packageOf(
    'node',
    'nodejs',
    ['18', '18.20.8', '2022-04-19', '2025-04-30', 'lts', 'fips'],
    ['20', '20.19.5', '2023-04-18', '2026-04-30', 'lts', 'fips'],
    ['22', '22.21.1', '2024-04-24', '2027-04-30', 'lts', 'fips'],
    ['24', '24.11.1', '2025-05-06', '2028-04-30', 'lts'],
    ['25', '25.2.0', '2025-10-15', '2026-06-01'],
  ),
  packageOf(
    'php',
    'php',
    ['8.1', '8.1.33', '2021-11-25', '2025-12-31'],
    ['8.2', '8.2.29', '2022-12-08', '2026-12-31'],
    ['8.3', '8.3.27', '2023-11-23', '2027-12-31'],
    ['8.4', '8.4.14', '2024-11-21', '2028-12-31'],
  ),
  packageOf(
    'postgres',
    'postgresql',
    ['13', '13.23', '2020-09-24', '2025-11-13'],
    ['14', '14.20', '2021-09-30', '2026-11-12'],
    ['15', '15.15', '2022-10-13', '2027-11-11'],
    ['16', '16.11', '2023-09-14', '2028-11-09', 'fips'],
    ['17', '17.7', '2024-09-26', '2029-11-08', 'fips'],
    ['18', '18.1', '2025-09-25', '2030-11-14'],
  ),
  packageOf(
    'python',
    'python',
    ['3.8', '3.8.20', '2019-10-14', '2024-10-07'],
    ['3.9', '3.9.25', '2020-10-05', '2025-10-31'],
    ['3.10', '3.10.19', '2021-10-04', '2026-10-31', 'fips'],
    ['3.11', '3.11.14', '2022-10-24', '2027-10-31', 'fips'],
    ['3.12', '3.12.12', '2023-10-02', '2028-10-31', 'fips'],
    ['3.13', '3.13.9', '2024-10-07', '2029-10-31', 'fips'],
    ['3.14', '3.14.0', '2025-10-07', '2030-10-31'],
  ),
  packageOf(
    'ruby',
    'ruby',
    ['3.1', '3.1.7', '2021-12-25', '2025-03-26', 'broken'],
    ['3.2', '3.2.9', '2022-12-25', '2026-03-31'],
    ['3.3', '3.3.10', '2023-12-25', '2027-03-31'],
    ['3.4', '3.4.7', '2024-12-25', '2028-03-31'],
  ),
])

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

const packageVersionOf = (stream: VersionStream | undefined) =>
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
    mainPackageVersion: known ? packageVersionOf(stream) : null,
    tagStatus: built ? current : 'TAG_INACTIVE',
    graceStatus: grace,
    gracePeriodExpiryDate: grace === 'GRACE_ACTIVE' && stream ? wholeSeconds(expiryOf(stream.eolDate)) : null,
  }
}

const versionSource = message('PackageVersion.VersionSource', [text('ref'), text('sha')])

const packageVersion = message('PackageVersion', [
  text('eolDate'),
  flag('exists'),
  flag('fips'),
  text('legacy_lts'),
  flag('lts'),
  text('releaseDate'),
  text('version'),
  flag('eolBroken'),
  text('latestVersion'),
  object(versionSource)('versionSource'),
])

const tagStatus = sameNames('EolTagStatus', 'TAG_ACTIVE', 'TAG_IN_GRACE', 'TAG_INACTIVE')
const graceStatus = sameNames(
  'EolGracePeriodStatus',
  'GRACE_NOT_ELIGIBLE',
  'GRACE_ELIGIBLE',
  'GRACE_ACTIVE',
  'GRACE_BROKEN',
  'GRACE_EXPIRED',
)

/** EolTag (semantics §8). */
export const eolTag = message('EolTag', [
  text('id'),
  text('name'),
  text('main_package_name'),
  choice(tagStatus)('tag_status'),
  object(packageVersion)('main_package_version'),
  choice(graceStatus)('grace_status'),
  time('grace_period_expiry_date'),
])

export const eolTagList = message('EolTagList', [list(object(eolTag)('items')), text('next_page_token')])

/** v1's own paging of this list. Without a size it returns everything; no size is too large (semantics §8). */
function pagingOf(query: Query, world: World, key: string): Paging {
  const own = longPages(ownPaging(query, 'page_size', 'page_token'))
  const paging = readPaging(own, world, { sortable: SORTABLE, filterKey: key })
  return { ...paging, size: own.integer('page_size') || Number.POSITIVE_INFINITY }
}

/** Signatures and the like are stored as tags, but this list never shows them, not even by name. */
const noReferrers: Filter<Tag> = { key: 'no referrers', matches: ({ name }) => !name.startsWith('sha256-') }

const rowOf = (tag: Tag, { store, clock }: World) => {
  const repo = store.repos.get(parentOf(tag.uid))
  return eolTagOf(repo ?? { name: '', activeTags: [] }, tag, clock.now())
}

/** Every tag with its end-of-life data, not only the ended ones (semantics §8). */
export const eolTagOperation: Operation = {
  method: 'GET',
  template: '/registry/v1/eoltags',
  answer: (ask, world) => {
    const uidp = readUidp(ask.query)
    const filters = [...tagFilters(ask.query, 'name'), noReferrers]
    const inReach = visible(world, callerOf(ask), 'tag.list')
    const rows = selectRows(world.store.tags, uidp, filters).filter(({ uid }) => inReach(uid))
    const page = pageOf(world, rows, pagingOf(ask.query, world, filterKey(uidp, filters)), SORTABLE)
    const items = page.rows.map((tag) => rowOf(tag, world))
    return encode({ items, nextPageToken: page.nextPageToken }, eolTagList, world.options.v1Dialect)
  },
}
