import { isSaid } from '../../src/errors.ts'
import {
  ask,
  choiceParam,
  choicesParam,
  enumMap,
  firstOf,
  identical,
  type JsonObject,
  list,
  long,
  made,
  message,
  type Operation,
  objects,
  optional,
  type Plan,
  parentOf,
  parentUid,
  type ReadWhole,
  readOnly,
  resource,
  scope,
  text,
  texts,
  textsParam,
  time,
  typed,
  uidInPath,
  type V1Request,
  wholeList,
} from '../../src/tables/language.ts'
import { advisoryEvent, reviewStatus } from './advisory-event.ts'

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
const eventType = identical(
  'EventTypeFilter',
  EVENT_TYPES.map((name) => `EVENT_TYPE_FILTER_${name}`),
  [['EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED', 9]],
)

/** v1 sorts by an enum, v2 by a column name (facts §18). */
const orderBy = enumMap('OrderBy', [
  ['ORDER_BY_UNSPECIFIED', '', 0],
  ['ID_ASC', 'uid', 1],
  ['ID_DESC', 'uid desc', 2],
  ['CREATED_AT_ASC', 'created_at', 3],
  ['CREATED_AT_DESC', 'created_at desc', 4],
  ['ALIASES_ASC', 'aliases', 5],
  ['ALIASES_DESC', 'aliases desc', 6],
  ['UPDATED_AT_ASC', 'updated_at', 7],
  ['UPDATED_AT_DESC', 'updated_at desc', 8],
  ['DELETED_AT_ASC', 'deleted_at', 9],
  ['DELETED_AT_DESC', 'deleted_at desc', 10],
])

export const advisory = resource('advisory', {
  v2: '/vulnerabilities/v2/advisories',
  plural: 'advisories',
  fields: {
    id: readOnly('uid'),
    artifact_type: text('artifactType'),
    artifact_name: text('artifactName'),
    artifact_architecture: text('artifactArchitecture'),
    component_name: optional(text('componentName')),
    component_location: optional(text('componentLocation')),
    component_type: optional(text('componentType')),
    created_at: readOnly(time('createTime')),
    updated_at: readOnly(time('updateTime')),
    deleted_at: optional(readOnly(time('deleteTime'))),
    aliases: texts('aliases'),
    events: objects('events', advisoryEvent),
    advisory_id: text('advisoryId'),
    author: text('author'),
    legacyAdvisoryID: optional(text('legacyAdvisoryId')),
  },
})

export const event = message('advisory event', advisoryEvent)

export const advisoryOperations: readonly Operation[] = [
  list('vulnerabilities.advisories.list', 'GET /vulnerabilities/v1/advisories', advisory, {
    query: {
      ...scope,
      advisory_ids: textsParam('advisory_ids'),
      legacy_advisory_ids: textsParam('legacy_advisory_ids'),
      aliases: textsParam('aliases'),
      artifact_type: textsParam('artifact_types'),
      artifact_name: textsParam('artifact_names'),
      artifact_architecture: textsParam('artifact_architectures'),
      component_name: textsParam('component_names'),
      component_type: textsParam('component_types'),
      component_location: textsParam('component_locations'),
      event_statuses: { ...choicesParam('event_review_states', reviewStatus), zeroIsNone: true },
      event_author: textsParam('event_authors'),
      event_reviewer: textsParam('event_reviewers'),
      exclude_event_author: textsParam('exclude_event_authors'),
      event_types: { ...choicesParam('event_types', eventType), zeroIsNone: true },
      latest_event_type: { ...choiceParam('latest_event_type', eventType), zeroIsNone: true },
      origin: 'origin',
    },
    byId: 'id',
    orders: orderBy,
    pages: true,
    longPages: true,
    // The parent of the listed rows; of an empty list, the requested parent (facts §5.1).
    envelope: message('advisories', {
      id: made('the uid of a row up to its last slash', text(firstOf(parentOf('first.uid'), 'scope'))),
      next_page_token: text('nextPageToken'),
      total_count: optional(long('totalCount')),
    }),
  }),
  wholeList('vulnerabilities.advisory_events.list', 'GET /vulnerabilities/v1/advisories/{parent_id=**}/events', {
    kind: 'emulated',
    // facts §5.2
    because: 'v2 keeps the events inside the advisory; component_location_changed events arrive without a type',
    calls: [`GET ${advisory.v2}/{parent_id}`],
    row: event,
    rowsIn: 'events',
    envelope: message('advisory events', { parent_id: text(parentOf('uid')) }),
    read: eventsOf,
  }),
]

/** The events of an advisory. v1 also accepted the uid of one event: its advisory's uid and one more part (facts §5.2, §17). */
function* eventsOf({ params: { parent_id: uid = '' } }: V1Request): ReturnType<ReadWhole> {
  const parent = parentUid(uid)
  try {
    const found = yield* get(uid)
    return { rows: found.events, envelope: found }
  } catch (error) {
    if (parent === undefined || !isSaid(error, 'NOT_FOUND')) throw error
  }
  const found = yield* get(parent)
  const named = ((found.events ?? []) as readonly JsonObject[]).filter((one) => one.uid === uid)
  return { rows: named, envelope: named.length > 0 ? found : {} }
}

function* get(uid: string): Plan<JsonObject> {
  return yield* ask({ method: 'GET', path: `${advisory.v2}/${uidInPath(uid, 'parent_id')}`, query: [] }, typed(advisory))
}
