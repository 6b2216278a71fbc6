import { identical } from '../../src/mapping/enums.ts'
import { choice, gone, long, object, readOnly, text, time } from '../../src/mapping/field.ts'
import type { JsonObject } from '../../src/mapping/json.ts'
import { items } from '../../src/mapping/list.ts'
import type { Env, Operation, V1Request } from '../../src/mapping/operation.ts'
import { ok, operation } from '../../src/mapping/operations.ts'
import { emit, type Plan, ROWS } from '../../src/mapping/plan.ts'
import { count, negated, scope, single, v2Query } from '../../src/mapping/query.ts'
import { message } from '../../src/mapping/resource.ts'
import { eachPage } from '../../src/mapping/walk.ts'
import { EVERYTHING } from '../../src/mapping/window.ts'
import { repo } from './repo.ts'
import { shownKinds, tag } from './tags.ts'

const tags = { path: tag.v2, plural: tag.plural, order: tag.order }
const UNKNOWABLE = 'package and end-of-life data have no v2 source (facts §4.4)'

const tagStatus = identical('EolTagStatus', ['TAG_ACTIVE', 'TAG_IN_GRACE', 'TAG_INACTIVE'])
/** `deprecated` marks an end-of-life tag (specification §2); a tag in its grace period cannot be told apart. */
const statusOf = ({ deprecated }: JsonObject) => (deprecated === true ? 'TAG_INACTIVE' : 'TAG_ACTIVE')
const graceStatus = identical('EolGracePeriodStatus', [
  'GRACE_NOT_ELIGIBLE',
  'GRACE_ELIGIBLE',
  'GRACE_ACTIVE',
  'GRACE_BROKEN',
  'GRACE_EXPIRED',
])

const eolTag = message('end-of-life tag', {
  id: readOnly('uid'),
  name: text('name'),
  main_package_name: gone(text, UNKNOWABLE),
  tag_status: choice('status', tagStatus),
  main_package_version: gone((source) => object(source, {}), UNKNOWABLE),
  grace_status: gone((source) => choice(source, graceStatus), UNKNOWABLE),
  grace_period_expiry_date: gone(time, UNKNOWABLE),
})
const eolEnvelope = message('end-of-life tags', { next_page_token: text('nextPageToken') })
const eolParams = { ...scope, name: 'name', exclude_dates: negated('include_dates'), exclude_epochs: negated('include_epochs') }

const summary = message('repo tags summary', {
  id: text('id'),
  tag_count: long('tagCount'),
  last_updated: time('lastUpdated'),
  latest_tag: object('latestTag', tag.fields),
  latest_version: text('latestVersion'),
})
const repoCount = message('repo count', { count: long('count') })

/** v1 reads that v2 has no endpoint for, computed from v2 data (facts §4.4). */
export const emulatedOperations: readonly Operation[] = [
  operation('registry.eol_tags.list', 'GET /registry/v1/eoltags', {
    kind: 'emulated',
    because:
      'v2 knows only whether a tag is deprecated: status is TAG_ACTIVE or TAG_INACTIVE, package, grace and expiry stay unset (facts §4.4)',
    calls: [`GET ${tag.v2}`],
    params: eolParams,
    ownParams: ['page_size', 'page_token'],
    answer: eolTag,
    envelope: eolEnvelope,
    missing: 'empty',
    empty: (dialect) => ({ [ROWS]: [], ...eolEnvelope.show[dialect]({}) }),
    plan: eolTags,
  }),
  operation('registry.repo_tags_summary.get', 'GET /registry/v1/repotagssummary/{repo_id=**}', {
    kind: 'emulated',
    because: 'counted from the tags of the repo; which of two equally long version names is the latest is not defined (facts §4.4)',
    calls: [`GET ${tag.v2}`],
    params: shownKinds,
    answer: summary,
    missing: 'empty',
    plan: tagsSummary,
  }),
  operation('registry.repo_count_by_source.get', 'GET /registry/v1/repocountbysource/{id=**}', {
    kind: 'emulated',
    because: 'only the repos that the caller can see are counted, v1 counted all of them: a lower bound (facts §4.4)',
    calls: [`GET ${repo.v2}`],
    answer: repoCount,
    missing: 'empty',
    plan: countBySource,
  }),
]

/** Paged as v1 was: `page_size` rows from `page_token`, or everything; the token handed out is v2's own. */
function* eolTags({ query }: V1Request, env: Env): Plan {
  const filters = [...v2Query(eolParams, query), ['include_referrers', 'false'] as const]
  const window = { skip: 0, take: count(query, 'page_size'), token: single(query, 'page_token') }
  const nextPageToken = yield* eachPage({ ...tags, query: filters }, window, function* (rows) {
    // An exact name finds a referrer even where v2 is asked to hide them.
    const tagged = rows.filter(({ name }) => !String(name).startsWith('sha256-'))
    yield* emit(tagged.map((row) => eolTag.show[env.dialect]({ ...row, status: statusOf(row) })))
  })
  return items(eolEnvelope.show[env.dialect]({ nextPageToken }))
}

/** Names that move with the newest image instead of naming a version. */
const MOVING_NAMES = new Set(['latest', 'latest-dev'])

function* tagsSummary({ params, query }: V1Request, env: Env): Plan {
  const repoId = params.repo_id ?? ''
  let tagCount = 0
  let latest: JsonObject | undefined
  let newest: JsonObject | undefined
  const names = new Map<unknown, Longest>()
  const filters = [['uidp.children_of', repoId] as const, ...v2Query(shownKinds, query)]
  yield* eachPage({ ...tags, query: filters }, EVERYTHING, (rows) => {
    tagCount += rows.length
    for (const row of rows) {
      if (row.name === 'latest') latest = row
      if (!newest || Date.parse(String(row.updateTime)) > Date.parse(String(newest.updateTime))) newest = row
      if (!MOVING_NAMES.has(String(row.name))) names.set(row.digest, longest(String(row.name), names.get(row.digest)))
    }
    return undefined
  })
  const latestTag = latest ?? newest
  const latestVersion = latestTag && names.get(latestTag.digest)?.find((name) => name !== latestTag.name)
  const computed = { id: repoId, tagCount, lastUpdated: newest?.updateTime, latestTag, latestVersion }
  return ok(summary.show[env.dialect](computed))
}

/** The two longest names of one image: the longest may be the tag that a version is sought for, and that one does not count. */
type Longest = readonly [first: string, second?: string]

/** The longest name is the most exact version; of two equally long ones the earlier, in uid order, stays. */
function longest(name: string, known: Longest | undefined): Longest {
  if (!known) return [name]
  const [first, second = ''] = known
  if (name.length > first.length) return [name, first]
  return name.length > second.length ? [first, name] : known
}

function* countBySource({ params }: V1Request, env: Env): Plan {
  let matching = 0
  yield* eachPage({ path: repo.v2, plural: repo.plural, order: repo.order, query: [] }, EVERYTHING, (rows) => {
    for (const { sync_config } of rows) if ((sync_config as JsonObject | null | undefined)?.source === params.id) matching += 1
    return undefined
  })
  return ok(repoCount.show[env.dialect]({ count: matching }))
}
