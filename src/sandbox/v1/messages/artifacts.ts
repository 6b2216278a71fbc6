import { choice, flag, int32, int64, list, message, object, text, time } from '../message.ts'
import { prefixed, sameNames } from '../vocabulary.ts'

/** v2 has only the first two (facts §18). */
export const ecosystem = prefixed(
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
