import {
  action,
  choice,
  choicesParam,
  enumMap,
  flag,
  flagParam,
  gone,
  identical,
  int,
  list,
  long,
  message,
  type Operation,
  objects,
  readOnly,
  resource,
  text,
  time,
  type V1Request,
  v1OnlyFlag,
  v2Query,
} from '../../src/tables/language.ts'

export const ecosystem = enumMap(
  'Ecosystem',
  [
    ['UNKNOWN', 'ECOSYSTEM_UNSPECIFIED', 0, 0],
    ['JAVA', 'ECOSYSTEM_JAVA', 1, 1],
    ['PYTHON', 'ECOSYSTEM_PYTHON', 2, 2],
  ],
  [
    ['JAVASCRIPT', 3],
    ['JAVA_ATHENA', 4],
    ['PYTHON_ATHENA', 5],
    ['JAVASCRIPT_ATHENA', 6],
    ['DOTNET', 7],
    ['DOTNET_ATHENA', 8],
    ['GO', 9],
    ['GO_ATHENA', 10],
  ],
)
const sourceType = identical(
  'SourceType',
  ['SOURCE_TYPE_UNSPECIFIED'],
  [
    ['SOURCE_TYPE_INTERNAL', 1],
    ['SOURCE_TYPE_INTERNAL_REMEDIATED', 2],
    ['SOURCE_TYPE_UPSTREAM_REGISTRY', 3],
  ],
)

const artifact = resource('artifact', {
  v2: '/libraries/v2/artifacts',
  plural: 'artifacts',
  order: 'name',
  fields: {
    id: readOnly('uid'),
    name: text('name'),
    description: text('description'),
    ecosystem: choice('ecosystem', ecosystem),
    latest_version: text('latestVersion'),
    version_count: int('versionCount'),
    created_at: readOnly(time('createTime')),
    updated_at: readOnly(time('updateTime')),
  },
})

// facts §6.1
const NOT_IN_V2 = 'an artifact version of v2 has no such member'

const version = resource('artifact version', {
  v2: '/libraries/v2/artifacts/{id}/versions',
  plural: 'artifactVersions',
  order: 'version desc',
  fields: {
    id: readOnly('uid'),
    name: text('name'),
    version: text('version'),
    description: text('description'),
    created_at: readOnly(time('createTime')),
    updated_at: readOnly(time('updateTime')),
    size_bytes: long('sizeBytes'),
    source_type: gone((source) => choice(source, sourceType), NOT_IN_V2),
    malware_scanned: gone(flag, NOT_IN_V2),
    malware_malicious: gone(flag, NOT_IN_V2),
    upstream_published_date: gone(time, NOT_IN_V2),
  },
})

const ecosystems = {
  ecosystems: { ...choicesParam('ecosystems', ecosystem), zeroIsNone: true as const, made: 'JAVA and PYTHON are all that v2 has' },
}
const includeUpstream = {
  include_upstream: v1OnlyFlag('v2 has no upstream packages', 'leave it out; the list then has built packages only'),
}

export const artifactOperations: readonly Operation[] = [
  list('libraries.artifacts.list', 'GET /libraries/v1/artifacts', artifact, {
    query: { ...ecosystems, query: 'query', cuda_version: 'cuda_version', remediated: flagParam('remediated'), ...includeUpstream },
    more: { params: [], query: everyEcosystem },
    pages: true,
    skips: true,
    envelope: message('artifacts', { next_page_token: text('nextPageToken'), total_artifacts: int('totalCount'), skipped: int('skipped') }),
  }),
  list('libraries.artifacts.list_versions', 'GET /libraries/v1/artifacts/{id}/versions', version, { query: includeUpstream }),
  action('libraries.artifacts.count', 'GET /libraries/v1/artifacts/count', {
    v2: 'GET /libraries/v2/artifacts/count',
    params: ecosystems,
    more: everyEcosystem,
    answer: message('artifact counts', {
      counts: objects('counts', { ecosystem: choice('ecosystem', ecosystem), total_artifacts: int('totalCount') }),
    }),
    missing: 'empty',
  }),
]

/** v2 requires ecosystems. A v1 client that names none means all; these are all that v2 has (facts §6). */
function everyEcosystem({ query }: Pick<V1Request, 'query'>): [string, string][] {
  if (v2Query(ecosystems, query).length > 0) return []
  return ecosystem.rows.filter((row) => row !== ecosystem.zero).map(([, v2]) => ['ecosystems', v2])
}
