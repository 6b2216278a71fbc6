import {
  asText,
  type Env,
  EVERYTHING,
  eachPage,
  type JsonObject,
  long,
  made,
  message,
  type Operation,
  object,
  ok,
  operation,
  type Plan,
  text,
  time,
  typed,
  uidSent,
  type V1Request,
  v2Query,
} from '../../src/tables/language.ts'
import { repo } from './repo.ts'
import { shownKinds, tag } from './tags.ts'

const tags = { path: tag.v2, plural: tag.plural, order: tag.order, row: typed(tag) }
const repos = { path: repo.v2, plural: repo.plural, order: repo.order, row: typed(repo), query: [] }
const summary = message('repo tags summary', {
  id: made('the uid of the repo', text('id')),
  tag_count: made('count the tags', long('tagCount')),
  last_updated: made('the latest updateTime of the tags', time('lastUpdated')),
  latest_tag: made('the tag with the name latest, or else that with the latest updateTime', object('latestTag', tag.fields)),
  latest_version: made('the longest other name of a tag with the digest of that tag', text('latestVersion')),
})
const repoCount = message('repo count', { count: made('count the repos with this uid in syncConfig.source', long('count')) })

/** v1 reads without a v2 endpoint, computed from whole v2 lists (facts §4.4). */
export const summaryOperations: readonly Operation[] = [
  operation('registry.repo_tags_summary.get', 'GET /registry/v1/repotagssummary/{repo_id=**}', {
    kind: 'emulated',
    because: 'counted from the tags of the repo; which of two equally long version names is the latest is not defined',
    calls: [`GET ${tag.v2}`],
    params: shownKinds,
    answer: summary,
    missing: 'empty',
    plan: tagsSummary,
  }),
  operation('registry.repo_count_by_source.get', 'GET /registry/v1/repocountbysource/{id=**}', {
    kind: 'emulated',
    because: 'only the repos that the caller can see are counted, v1 counted all of them: a lower bound',
    calls: [`GET ${repo.v2}`],
    answer: repoCount,
    missing: 'empty',
    plan: countBySource,
  }),
]

/** Names that follow the newest image instead of naming a version. */
const MOVING_NAMES = new Set(['latest', 'latest-dev'])

function* tagsSummary({ params, query }: V1Request, env: Env): Plan {
  // Without a repo, the list would have no scope and the summary would cover every tag.
  const repoId = uidSent(params.repo_id ?? '', 'repo_id')
  let tagCount = 0
  let latest: JsonObject | undefined
  let newest: JsonObject | undefined
  const names = new Map<unknown, Longest>()
  const filters = [['uidp.children_of', repoId] as const, ...v2Query(shownKinds, query)]
  yield* eachPage({ ...tags, query: filters }, EVERYTHING, (rows) => {
    tagCount += rows.length
    for (const row of rows) {
      if (row.name === 'latest') latest = row
      if (!newest || Date.parse(asText(row.updateTime)) > Date.parse(asText(newest.updateTime))) newest = row
      if (!MOVING_NAMES.has(asText(row.name))) names.set(row.digest, longest(asText(row.name), names.get(row.digest)))
    }
    return undefined
  })
  const latestTag = latest ?? newest
  const latestVersion = latestTag && names.get(latestTag.digest)?.find((name) => name !== latestTag.name)
  const computed = { id: repoId, tagCount, lastUpdated: newest?.updateTime, latestTag, latestVersion }
  return ok(summary.show[env.dialect](computed))
}

/** The two longest names of one image. The longest may be the tag whose version is wanted, which does not count. */
type Longest = readonly [first: string, second?: string]

/** The longest name is the most exact version. Of two equally long ones, the earlier in uid order wins. */
function longest(name: string, known: Longest | undefined): Longest {
  if (!known) return [name]
  const [first, second = ''] = known
  if (name.length > first.length) return [name, first]
  return name.length > second.length ? [first, name] : known
}

function* countBySource({ params }: V1Request, env: Env): Plan {
  const source = uidSent(params.id ?? '', 'id')
  let matching = 0
  yield* eachPage(repos, EVERYTHING, (rows) => {
    for (const { sync_config } of rows) if ((sync_config as JsonObject | null | undefined)?.source === source) matching += 1
    return undefined
  })
  return ok(repoCount.show[env.dialect]({ count: matching }))
}
