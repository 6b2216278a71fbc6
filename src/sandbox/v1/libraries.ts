import { callerOf, type Query } from '../http/route.ts'
import { artifactsIn, countArtifacts, isBuilt, searchArtifacts, searchOf, versionsOf } from '../v2/libraries.ts'
import { BY_NAME, unscopedPage } from '../v2/resource.ts'
import { choice, flag, int32, int64, list, message, object, prefixed, sameNames, text, time, v1Names } from './message.ts'
import { encode, encodeResource, type Operation } from './operation.ts'
import { arrange, ownPaging } from './operations.ts'

/** v2 has only the first two (facts §18). */
const ecosystem = prefixed(
  'Ecosystem',
  'ECOSYSTEM_',
  1,
  'JAVA',
  'PYTHON',
  'JAVASCRIPT',
  'JAVA_ATHENA',
  'PYTHON_ATHENA',
  'JAVASCRIPT_ATHENA',
  'DOTNET',
  'DOTNET_ATHENA',
  'GO',
  'GO_ATHENA',
)

const sourceType = sameNames(
  'SourceType',
  'SOURCE_TYPE_UNSPECIFIED',
  'SOURCE_TYPE_INTERNAL',
  'SOURCE_TYPE_INTERNAL_REMEDIATED',
  'SOURCE_TYPE_UPSTREAM_REGISTRY',
)

const dates = [time('created_at', { from: 'createTime' }), time('updated_at', { from: 'updateTime' })]

/** Artifact (facts §6.1). */
const artifact = message('Artifact', [
  text('id', { from: 'uid' }),
  text('name'),
  text('description'),
  choice(ecosystem)('ecosystem'),
  text('latest_version'),
  int32('version_count'),
  ...dates,
])

export const artifactList = message('ArtifactList', [
  list(object(artifact)('items')),
  text('next_page_token'),
  int32('total_artifacts'),
  int32('skipped'),
])

/** ArtifactVersion (facts §6.1): the last four members are v1's own. */
export const artifactVersion = message('ArtifactVersion', [
  text('id', { from: 'uid' }),
  text('name'),
  text('version'),
  text('description'),
  ...dates,
  int64('size_bytes'),
  choice(sourceType)('source_type'),
  flag('malware_scanned'),
  flag('malware_malicious'),
  time('upstream_published_date'),
])

const count = message('GetArtifactCountResponse.Count', [choice(ecosystem)('ecosystem'), int32('total_artifacts')])
export const artifactCount = message('GetArtifactCountResponse', [list(object(count)('counts'))])

const path = '/libraries/v1/artifacts'

/** The ecosystems that v1 counts if none is named: those of the catalog (facts §6.1, ASSUMPTIONS.md). */
const SERVED = ['ECOSYSTEM_JAVA', 'ECOSYSTEM_PYTHON']

/** The requested ecosystems by their stored names. v1 does not require one. */
const readEcosystems = (query: Query): readonly string[] => {
  const asked = query.choices('ecosystems', v1Names(ecosystem)).filter((name) => name !== ecosystem.zero)
  return asked.length === 0 ? SERVED : asked.map((name) => ecosystem.toStored.get(name) ?? name)
}

/** One page: this list had pages in v1 already (facts §10.2). Its order is fixed. */
const listArtifacts: Operation = {
  method: 'GET',
  template: path,
  answer: (ask, world) => {
    const ecosystems = readEcosystems(ask.query)
    // Every artifact has built versions, so that only a malformed value makes a difference.
    ask.query.flag('include_upstream')
    const search = searchOf(ask.query)
    const rows = searchArtifacts(artifactsIn(world, callerOf(ask), ecosystems), search, world.store)
    const list = { rows, key: JSON.stringify([ecosystems, search]), sortable: BY_NAME.sortable, order: { name: 'name', descending: false } }
    const page = unscopedPage({ query: ownPaging(ask.query, 'page_size', 'page_token', 'skip') }, world, list)
    const { rows: items, totalCount, ...envelope } = page
    return encode({ ...envelope, items, totalArtifacts: Number(totalCount) }, artifactList, world.options.v1Dialect)
  },
}

/** Every version of an artifact, sorted as text in descending order, upstream ones only on request. An unknown artifact has none. */
const listVersions: Operation = {
  method: 'GET',
  template: `${path}/{id}/versions`,
  answer: (ask, world) => {
    const upstream = ask.query.flag('include_upstream')
    const rows = versionsOf(world, callerOf(ask), ask.params['id'] ?? '').filter((row) => upstream || isBuilt(row))
    const shown = arrange(rows, ask.query, { name: 'version', descending: true }, { version: ({ version }) => version })
    return { items: shown.map((row) => encodeResource(row, artifactVersion, world.options.v1Dialect)) }
  },
}

const artifactCounts: Operation = {
  method: 'GET',
  template: `${path}/count`,
  answer: (ask, world) => {
    const counted = countArtifacts(world, callerOf(ask), readEcosystems(ask.query))
    const counts = counted.map(({ ecosystem: name, totalCount }) => ({ ecosystem: name, totalArtifacts: Number(totalCount) }))
    return encode({ counts }, artifactCount, world.options.v1Dialect)
  },
}

/** The operations below `/libraries/v1` that have a v2 counterpart (facts §6). */
export const libraryOperations: readonly Operation[] = [listArtifacts, listVersions, artifactCounts]
