import { items, type Transcript, transcript } from './transcript.ts'

const EVERY = 'ecosystems=ECOSYSTEM_JAVA&ecosystems=ECOSYSTEM_PYTHON'

const shared = { name: 'requests', description: 'HTTP for humans' }
const v2Artifact = {
  uid: 'art-1',
  ...shared,
  ecosystem: 'ECOSYSTEM_PYTHON',
  latestVersion: '2.32.0',
  versionCount: 12,
  createTime: '2025-01-01T00:00:00Z',
  updateTime: '2025-01-02T00:00:00Z',
}
const artifact = {
  id: 'art-1',
  ...shared,
  ecosystem: 'PYTHON',
  latest_version: '2.32.0',
  version_count: 12,
  created_at: '2025-01-01T00:00:00Z',
  updated_at: '2025-01-02T00:00:00Z',
}
const jar = {
  id: 'art-2',
  name: '',
  description: '',
  ecosystem: 'JAVA',
  latest_version: '',
  version_count: 0,
  created_at: null,
  updated_at: null,
}
const unknown = { ...jar, id: 'art-3', ecosystem: 'UNKNOWN' }
const listed = { items: [artifact, jar, unknown], next_page_token: 'next', total_artifacts: 7, skipped: 2 }
const nothing = { items: [], next_page_token: '', total_artifacts: 0, skipped: 0 }

const notInV2 = { source_type: 'SOURCE_TYPE_UNSPECIFIED', malware_scanned: false, malware_malicious: false, upstream_published_date: null }
const versions = [
  {
    id: 'v-1',
    name: 'requests',
    version: '2.10',
    description: 'words',
    created_at: '2025-01-01T00:00:00Z',
    updated_at: '2025-01-02T00:00:00Z',
    size_bytes: '9007199254740993',
    ...notInV2,
  },
  { id: 'v-2', name: '', version: '', description: '', created_at: null, updated_at: null, size_bytes: '0', ...notInV2 },
]
const counted = {
  counts: [
    { ecosystem: 'JAVA', total_artifacts: 30 },
    { ecosystem: 'PYTHON', total_artifacts: 40 },
    { ecosystem: 'UNKNOWN', total_artifacts: 0 },
  ],
}

/** Only v1 knows the upstream packages. */
const UPSTREAM_NEEDS_V1 = [
  'include_upstream',
  'needs a v1 service: v2 has no upstream packages; set upstream.v1 (CROSSWALK_UPSTREAM_V1) to pass it on',
] as const

export const libraries: readonly Transcript[] = [
  transcript('libraries.artifacts.list', 'without ecosystems every one of v2 is asked for; the total becomes a number')
    .sent('GET /libraries/v1/artifacts?page_size=3&skip=2')
    .asks(`GET /libraries/v2/artifacts?${EVERY}&page_size=3&skip=2`, {
      artifacts: [v2Artifact, { uid: 'art-2', ecosystem: 'ECOSYSTEM_JAVA' }, { uid: 'art-3', ecosystem: 'ECOSYSTEM_COBOL' }],
      nextPageToken: 'next',
      totalCount: '7',
      skipped: 2,
    })
    .answers(listed),
  transcript('libraries.artifacts.list', 'every filter')
    .sent('GET /libraries/v1/artifacts?ecosystems=1&query=req&cudaVersion=12.4&remediated=t&include_upstream=false&pageToken=here')
    .asks(
      'GET /libraries/v2/artifacts?ecosystems=ECOSYSTEM_JAVA&query=req&cuda_version=12.4&remediated=true&page_size=50&page_token=here',
      { artifacts: [], totalCount: '0' },
    )
    .answers(nothing),
  transcript('libraries.artifacts.list', 'a window is followed; an order, which v1 did not have here, is ignored as v1 ignored it')
    .sent('GET /libraries/v1/artifacts?limit=2&offset=1&order_by=colour')
    .asks(`GET /libraries/v2/artifacts?${EVERY}&page_size=2&skip=1`, { artifacts: [], skipped: 1 })
    .answers({ ...nothing, skipped: 1 }),
  transcript('libraries.artifacts.list', 'an unknown ecosystem is none')
    .sent('GET /libraries/v1/artifacts?ecosystems=UNKNOWN&ecosystems=0')
    .asks(`GET /libraries/v2/artifacts?${EVERY}&page_size=50`, { artifacts: [] })
    .answers(nothing),
  transcript('libraries.artifacts.list', 'an ecosystem that v2 lacks')
    .sent('GET /libraries/v1/artifacts?ecosystems=JAVASCRIPT')
    .refuses(
      'INVALID_ARGUMENT',
      'parsing field "ecosystems": "JAVASCRIPT" needs a v1 service: v2 lacks it; set upstream.v1 (CROSSWALK_UPSTREAM_V1) to pass it on',
    ),
  transcript('libraries.artifacts.list', 'upstream packages cannot be had')
    .sent('GET /libraries/v1/artifacts?include_upstream=true')
    .finds(UPSTREAM_NEEDS_V1),
  transcript('libraries.artifacts.list_versions', 'every version, newest first; sizes beyond 2^53 are exact')
    .sent('GET /libraries/v1/artifacts/art-1/versions')
    .asks('GET /libraries/v2/artifacts/art-1/versions?page_size=200', {
      artifactVersions: [
        {
          uid: 'v-1',
          name: 'requests',
          version: '2.10',
          description: 'words',
          createTime: '2025-01-01T00:00:00Z',
          updateTime: '2025-01-02T00:00:00Z',
          sizeBytes: '9007199254740993',
        },
        { uid: 'v-2' },
      ],
    })
    .answers(items(...versions)),
  transcript('libraries.artifacts.list_versions', 'the versions of nothing')
    .sent('GET /libraries/v1/artifacts/none/versions?include_upstream=0')
    .asks('GET /libraries/v2/artifacts/none/versions?page_size=200', 'NOT_FOUND')
    .answers(items()),
  transcript('libraries.artifacts.list_versions', 'upstream versions cannot be had')
    .sent('GET /libraries/v1/artifacts/art-1/versions?includeUpstream=1')
    .finds(UPSTREAM_NEEDS_V1),
  transcript('libraries.artifacts.count', 'counts become numbers')
    .sent('GET /libraries/v1/artifacts/count')
    .asks(`GET /libraries/v2/artifacts/count?${EVERY}`, {
      counts: [{ ecosystem: 'ECOSYSTEM_JAVA', totalCount: '30' }, { ecosystem: 'ECOSYSTEM_PYTHON', totalCount: '40' }, {}],
    })
    .answers(counted),
  transcript('libraries.artifacts.count', 'the counts of some ecosystems')
    .sent('GET /libraries/v1/artifacts/count?ecosystems=PYTHON&ecosystems=UNKNOWN&ecosystems=JAVA')
    .asks('GET /libraries/v2/artifacts/count?ecosystems=ECOSYSTEM_PYTHON&ecosystems=ECOSYSTEM_JAVA', { counts: [] })
    .answers({ counts: [] }),
]
