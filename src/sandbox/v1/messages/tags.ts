import { choice, flag, int64, list, message, object, readOnly, text, time } from '../message.ts'
import { sameNames } from '../vocabulary.ts'

/** Tag (facts §4.2): a child of its repo. */
export const tag = message(
  'Tag',
  [
    readOnly(text('id', { from: 'uid' })),
    text('name'),
    text('digest'),
    readOnly(time('last_updated', { from: 'updateTime' })),
    flag('deprecated'),
    list(text('bundles')),
  ],
  ['updated_at'],
)

/** RepoTagsSummary (facts §4.4). */
export const tagsSummary = message('RepoTagsSummary', [
  text('id'),
  int64('tag_count'),
  time('last_updated'),
  object(tag)('latest_tag'),
  text('latest_version'),
])

export const archs = message('Archs', [list(text('archs', { from: 'architectures' }))])
export const size = message('Size', [int64('size'), text('arch', { from: 'architecture' })])

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
