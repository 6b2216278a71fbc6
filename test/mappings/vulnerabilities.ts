import { type Transcript, transcript } from './transcript.ts'

const LIST = 'GET /vulnerabilities/v2/advisories'

const v2Scan = { scannerVersion: '0.9', grypeDbBuilt: 'monday', grypeDbChecksum: 'sha256:db' }
const scan = { scanner_version: '0.9', grype_db_built: 'monday', grype_db_checksum: 'sha256:db' }
const noScan = { scanner_version: '', grype_db_built: '', grype_db_checksum: '' }
const v2Component = { componentId: 'c1', componentVersion: '1.0', componentType: 'apk', componentLocation: '/lib', artifactVersion: '2.0' }
const component = {
  component_id: 'c1',
  component_version: '1.0',
  component_type: 'apk',
  component_location: '/lib',
  artifact_version: '2.0',
}
const noComponent = { component_id: '', component_version: '', component_type: '', component_location: '', artifact_version: '' }
const unset = { findings: '', author: '', reviewer: '', status: 'UNKNOWN' }

/** The members that every event has besides its type, and one event of each type: v2's form and v1's (facts §5.2). */
const common = { author: 'ann', reviewer: 'bob', findings: 'eyJhIjoxfQ==', issue: 'ISSUE-1' }
const EVENTS: readonly (readonly [v2: Record<string, unknown>, v1: Record<string, unknown>])[] = [
  [
    {
      createTime: '2025-01-01T00:00:00Z',
      ...common,
      reviewState: 'REVIEW_STATE_APPROVED',
      detection: { nvdapi: { cpeSearched: 'cpe:a', cpeFound: 'cpe:b' } },
    },
    {
      timestamp: '2025-01-01T00:00:00Z',
      ...common,
      status: 'APPROVED',
      detection: { nvdapi: { cpe_searched: 'cpe:a', cpe_found: 'cpe:b' } },
    },
  ],
  [{ detection: { nvdapi: {} } }, { ...unset, detection: { nvdapi: { cpe_searched: '', cpe_found: '' } } }],
  [
    { detection: { manual: {} }, reviewState: 'REVIEW_STATE_PENDING' },
    { ...unset, status: 'PENDING', detection: { manual: {} } },
  ],
  [
    { detection: { scanv1: { scanner: 'grype', subpackage: 'libssl3', component: 'openssl', ...v2Component, ...v2Scan } } },
    { ...unset, detection: { scanv1: { scanner: 'grype', subpackage_name: 'libssl3', component_name: 'openssl', ...component, ...scan } } },
  ],
  [
    { detection: { scanv1: {} } },
    { ...unset, detection: { scanv1: { scanner: '', subpackage_name: '', component_name: '', ...noComponent, ...noScan } } },
  ],
  [{ fixed: { fixedVersion: '3.0.1-r2', note: 'n', ...v2Scan } }, { ...unset, fixed: { fixed_version: '3.0.1-r2', note: 'n', ...scan } }],
  [{ fixed: {} }, { ...unset, fixed: { fixed_version: '', note: '', ...noScan } }],
  [
    { falsePositiveDetermination: { type: 'TYPE_INLINE_MITIGATIONS_EXIST', note: 'fp' }, reviewState: 'REVIEW_STATE_REJECTED' },
    { ...unset, status: 'REJECTED', false_positive_determination: { type: 'INLINE_MITIGATIONS_EXIST', note: 'fp' } },
  ],
  [{ falsePositiveDetermination: {} }, { ...unset, false_positive_determination: { type: 'UNSPECIFIED', note: '' } }],
  [{ analysisNotPlanned: { note: 'anp' } }, { ...unset, analysis_not_planned: { note: 'anp' } }],
  [{ analysisNotPlanned: {} }, { ...unset, analysis_not_planned: { note: '' } }],
  [{ fixNotPlanned: { note: 'fnp' } }, { ...unset, fix_not_planned: { note: 'fnp' } }],
  [{ fixNotPlanned: {} }, { ...unset, fix_not_planned: { note: '' } }],
  [{ pendingUpstreamFix: { note: 'puf' } }, { ...unset, pending_upstream_fix: { note: 'puf' } }],
  [{ pendingUpstreamFix: {} }, { ...unset, pending_upstream_fix: { note: '' } }],
  [
    { truePositiveDetermination: { note: 'tp' }, reviewState: 'REVIEW_STATE_REQUEST_CHANGES' },
    { ...unset, status: 'REQUEST_CHANGES', true_positive_determination: { note: 'tp' } },
  ],
  [{ truePositiveDetermination: {} }, { ...unset, true_positive_determination: { note: '' } }],
  [{ patched: { patchedVersions: ['1.1', '1.2'], note: 'p' } }, { ...unset, patched: { patched_versions: ['1.1', '1.2'], note: 'p' } }],
  [{ patched: {} }, { ...unset, patched: { patched_versions: [], note: '' } }],
  // A change of the component's location: v2 has no such type, so the event has none.
  [{ reviewState: 'REVIEW_STATE_THAT_IS_NEW' }, unset],
]
const v2Events = EVENTS.map(([v2], at) => ({ uid: `org/adv/${at}`, ...v2 }))
const events = EVENTS.map(([, v1], at) => ({ id: `org/adv/${at}`, timestamp: null, ...v1 }))

const shared = { aliases: ['CVE-2025-1', 'GHSA-1'], author: 'ann' }
const v2Advisory = {
  uid: 'org/adv',
  artifactType: 'apk',
  artifactName: 'openssl',
  artifactArchitecture: 'x86_64',
  componentName: 'libcrypto',
  componentLocation: '/usr/lib',
  componentType: 'binary',
  createTime: '2025-01-01T00:00:00.123456789Z',
  updateTime: '2025-01-02T00:00:00Z',
  deleteTime: '2025-01-03T00:00:00Z',
  ...shared,
  events: v2Events,
  advisoryId: 'CGA-1111',
  legacyAdvisoryId: 'old-1',
  severities: [{ type: 'CVSS', score: '9.8' }],
}
const advisory = {
  id: 'org/adv',
  artifact_type: 'apk',
  artifact_name: 'openssl',
  artifact_architecture: 'x86_64',
  component_name: 'libcrypto',
  component_location: '/usr/lib',
  component_type: 'binary',
  created_at: '2025-01-01T00:00:00.123456789Z',
  updated_at: '2025-01-02T00:00:00Z',
  deleted_at: '2025-01-03T00:00:00Z',
  ...shared,
  events,
  advisory_id: 'CGA-1111',
  legacyAdvisoryID: 'old-1',
}
const bare = {
  id: 'org/bare',
  artifact_type: '',
  artifact_name: '',
  artifact_architecture: '',
  created_at: null,
  updated_at: null,
  aliases: [],
  events: [],
  advisory_id: '',
  author: '',
}

const listed = { id: 'org', items: [advisory, bare], next_page_token: '', total_count: '2' }
const byId = { id: 'org', items: [bare], next_page_token: '', total_count: '1' }
const none = { id: '', items: [], next_page_token: '' }

/** In numerical order. */
const EVENT_TYPES = [
  'UNSPECIFIED',
  'DETECTION',
  'TRUE_POSITIVE_DETERMINATION',
  'FIXED',
  'FALSE_POSITIVE_DETERMINATION',
  'ANALYSIS_NOT_PLANNED',
  'FIX_NOT_PLANNED',
  'PENDING_UPSTREAM_FIX',
  'PATCHED',
]

/** Every filter of the list: v1's name and value, v2's name and value (facts §5.1). */
const FILTERS: readonly (readonly [v1: string, v2: string])[] = [
  ['uidp.ancestors_of=a', 'uidp.ancestors_of=a'],
  ['uidp.descendants_of=b', 'uidp.descendants_of=b'],
  ['uidp.children_of=c', 'uidp.children_of=c'],
  ['uidp.in_root=t', 'uidp.in_root=true'],
  ['uidp.ids=d&uidp.ids=e', 'uidp.ids=d&uidp.ids=e'],
  ['advisory_ids=1&advisory_ids=2', 'advisory_ids=1&advisory_ids=2'],
  ['legacy_advisory_ids=3&legacyAdvisoryIds=4', 'legacy_advisory_ids=3&legacy_advisory_ids=4'],
  ['aliases=CVE-1&aliases=CVE-2', 'aliases=CVE-1&aliases=CVE-2'],
  ['artifact_type=apk&artifactType=oci', 'artifact_types=apk&artifact_types=oci'],
  ['artifact_name=curl&artifactName=wget', 'artifact_names=curl&artifact_names=wget'],
  ['artifact_architecture=a&artifactArchitecture=b', 'artifact_architectures=a&artifact_architectures=b'],
  ['component_name=lib&componentName=bin', 'component_names=lib&component_names=bin'],
  ['component_type=apk&componentType=go', 'component_types=apk&component_types=go'],
  ['component_location=/usr&componentLocation=/opt', 'component_locations=/usr&component_locations=/opt'],
  ['event_statuses=PENDING&event_statuses=2', 'event_review_states=REVIEW_STATE_PENDING&event_review_states=REVIEW_STATE_APPROVED'],
  ['event_author=ann&eventAuthor=bob', 'event_authors=ann&event_authors=bob'],
  ['event_reviewer=cat&eventReviewer=dan', 'event_reviewers=cat&event_reviewers=dan'],
  ['exclude_event_author=eve&excludeEventAuthor=fay', 'exclude_event_authors=eve&exclude_event_authors=fay'],
  ['event_types=EVENT_TYPE_FILTER_FIXED&eventTypes=1', 'event_types=EVENT_TYPE_FILTER_FIXED&event_types=EVENT_TYPE_FILTER_DETECTION'],
  ['latest_event_type=EVENT_TYPE_FILTER_PATCHED', 'latest_event_type=EVENT_TYPE_FILTER_PATCHED'],
  ['origin=openssl', 'origin=openssl'],
  // The zero value filters nothing.
  ...EVENT_TYPES.map((name, at) => [`latest_event_type=${at}`, at === 0 ? '' : `latest_event_type=EVENT_TYPE_FILTER_${name}`] as const),
]

/** If nothing is found, the envelope names what was asked for (facts §5.1). */
const asked = (query: string) => /^uidp\.(?:children_of|descendants_of)=(.*)$/.exec(query)?.[1] ?? ''

const filtered = FILTERS.map(
  ([v1, v2]): Transcript =>
    transcript('vulnerabilities.advisories.list', `filtered by ${v1}`)
      .sent(`GET /vulnerabilities/v1/advisories?${v1}`)
      .asks(`${LIST}?${v2 && `${v2}&`}page_size=50`, { advisories: [] })
      .answers({ ...none, id: asked(v1) }),
)

const ORDERS: readonly (readonly [v1: string, v2: string])[] = [
  ['ID_ASC', 'uid'],
  ['ID_DESC', 'uid desc'],
  ['CREATED_AT_ASC', 'created_at'],
  ['CREATED_AT_DESC', 'created_at desc'],
  ['ALIASES_ASC', 'aliases'],
  ['ALIASES_DESC', 'aliases desc'],
  ['UPDATED_AT_ASC', 'updated_at'],
  ['UPDATED_AT_DESC', 'updated_at desc'],
  ['DELETED_AT_ASC', 'deleted_at'],
  ['DELETED_AT_DESC', 'deleted_at desc'],
]

/** By name and by number (facts §16.7, §18). */
const ordered = ORDERS.flatMap(([v1, v2], at) =>
  [v1, String(at + 1)].map(
    (order): Transcript =>
      transcript('vulnerabilities.advisories.list', `in order ${order}`)
        .sent(`GET /vulnerabilities/v1/advisories?orderBy=${order}`)
        .asks(`${LIST}?order_by=${v2}&page_size=50`, { advisories: [] })
        .answers(none),
  ),
)

export const vulnerabilities: readonly Transcript[] = [
  transcript(
    'vulnerabilities.advisories.list',
    'every member, events of every type; severities are v2 only; the envelope names the parent of the first row',
  )
    .sent('GET /vulnerabilities/v1/advisories?uidp.childrenOf=org')
    .asks(`${LIST}?uidp.children_of=org&page_size=50`, {
      advisories: [v2Advisory, { uid: 'org/bare' }],
      totalCount: '2',
      nextPageToken: '',
    })
    .answers(listed),
  ...filtered,
  ...ordered,
  transcript('vulnerabilities.advisories.list', 'an unspecified order is no order')
    .sent('GET /vulnerabilities/v1/advisories?order_by=ORDER_BY_UNSPECIFIED')
    .asks(`${LIST}?page_size=50`, { advisories: [] })
    .answers(none),
  transcript('vulnerabilities.advisories.list', 'page by page, with the tokens of v2')
    .sent('GET /vulnerabilities/v1/advisories?page_size=1&pageToken=before')
    .asks(`${LIST}?page_size=1&page_token=before`, { advisories: [{ uid: 'org/bare' }], nextPageToken: 'next' })
    .answers({ id: 'org', items: [bare], next_page_token: 'next' }),
  transcript('vulnerabilities.advisories.list', 'a window is followed; a skip, which v1 did not have here, is ignored as v1 ignored it')
    .sent('GET /vulnerabilities/v1/advisories?limit=2&offset=1&skip=x')
    .asks(`${LIST}?page_size=2&skip=1`, { advisories: [], skipped: 1 })
    .answers(none),
  transcript('vulnerabilities.advisories.list', 'a page is no larger than v2 makes one')
    .sent('GET /vulnerabilities/v1/advisories?page_size=1000')
    .asks(`${LIST}?page_size=200`, { advisories: [] })
    .answers(none),
  transcript('vulnerabilities.advisories.list', 'an order that is none of its own')
    .sent('GET /vulnerabilities/v1/advisories?order_by=uid desc')
    .refuses('INVALID_ARGUMENT', 'parsing field "order_by": "uid desc" is not a valid value'),
  transcript('vulnerabilities.advisories.list', 'an event type that v2 does not know')
    .sent('GET /vulnerabilities/v1/advisories?event_types=EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED')
    .refuses(
      'INVALID_ARGUMENT',
      'parsing field "event_types": "EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED" needs a v1 service: v2 lacks it; set upstream.v1 (CROSSWALK_UPSTREAM_V1) to pass it on',
    ),
  transcript('vulnerabilities.advisories.list', 'by id')
    .sent('GET /vulnerabilities/v1/advisories?id=org/bare')
    .asks(`${LIST}/org/bare`, { uid: 'org/bare' })
    .answers(byId),
  transcript('vulnerabilities.advisories.list', 'by the id of nothing')
    .sent('GET /vulnerabilities/v1/advisories?id=org/none')
    .asks(`${LIST}/org/none`, 'NOT_FOUND')
    .answers({ ...none, total_count: '0' }),
  transcript('vulnerabilities.advisories.list', 'by id and a filter that does not fit')
    .sent('GET /vulnerabilities/v1/advisories?id=org/adv&aliases=CVE-2025-9')
    .asks(`${LIST}/org/adv`, v2Advisory)
    .answers({ ...none, total_count: '0' }),
  transcript('vulnerabilities.advisory_events.list', 'the events of an advisory, from the advisory')
    .sent('GET /vulnerabilities/v1/advisories/org/adv/events')
    .asks(`${LIST}/org/adv`, v2Advisory)
    .answers({ items: events, parent_id: 'org' }),
  transcript('vulnerabilities.advisory_events.list', 'a window of the events')
    .sent('GET /vulnerabilities/v1/advisories/org/adv/events?offset=1&limit=2')
    .asks(`${LIST}/org/adv`, v2Advisory)
    .answers({ items: events.slice(1, 3), parent_id: 'org' }),
  transcript('vulnerabilities.advisory_events.list', 'one event by its own uid')
    .sent('GET /vulnerabilities/v1/advisories/org/adv/3/events')
    .asks(`${LIST}/org/adv/3`, 'NOT_FOUND')
    .asks(`${LIST}/org/adv`, v2Advisory)
    .answers({ items: events.slice(3, 4), parent_id: 'org' }),
  transcript('vulnerabilities.advisory_events.list', 'an event that its advisory does not have')
    .sent('GET /vulnerabilities/v1/advisories/org/adv/none/events')
    .asks(`${LIST}/org/adv/none`, 'NOT_FOUND')
    .asks(`${LIST}/org/adv`, v2Advisory)
    .answers({ items: [], parent_id: '' }),
  transcript('vulnerabilities.advisory_events.list', 'the events of nothing')
    .sent('GET /vulnerabilities/v1/advisories/org/none/events')
    .asks(`${LIST}/org/none`, 'NOT_FOUND')
    .asks(`${LIST}/org`, 'NOT_FOUND')
    .answers({ items: [], parent_id: '' }),
  transcript('vulnerabilities.advisory_events.list', 'the events of what the caller may not see')
    .sent('GET /vulnerabilities/v1/advisories/org/adv/events')
    .asks(`${LIST}/org/adv`, 'PERMISSION_DENIED')
    .refuses('PERMISSION_DENIED'),
]
