import { enumMap, identical } from '../../src/mapping/enums.ts'
import { long, objects, optional, parentOf, readOnly, text, texts, time } from '../../src/mapping/field.ts'
import { isObject } from '../../src/mapping/json.ts'
import { items } from '../../src/mapping/list.ts'
import type { Env, Operation, V1Request } from '../../src/mapping/operation.ts'
import { list, operation } from '../../src/mapping/operations.ts'
import { ask, emit, type Plan, ROWS } from '../../src/mapping/plan.ts'
import { choiceParam, choicesParam, scope, textsParam } from '../../src/mapping/query.ts'
import { message, resource } from '../../src/mapping/resource.ts'
import { uidInPath } from '../../src/mapping/uid.ts'
import { readWindow, WINDOW_PARAMETERS } from '../../src/mapping/window.ts'
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
  ['EVENT_TYPE_FILTER_COMPONENT_LOCATION_CHANGED'],
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

const advisory = resource('advisory', {
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

const event = message('advisory event', advisoryEvent)
const eventsEnvelope = message('advisory events', { parent_id: text(parentOf('uid')) })

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
      event_statuses: choicesParam('event_review_states', reviewStatus),
      event_author: textsParam('event_authors'),
      event_reviewer: textsParam('event_reviewers'),
      exclude_event_author: textsParam('exclude_event_authors'),
      event_types: choicesParam('event_types', eventType),
      latest_event_type: choiceParam('latest_event_type', eventType),
      origin: 'origin',
    },
    byId: 'id',
    orders: orderBy,
    envelope: message('advisories', {
      id: text(parentOf('first.uid')),
      next_page_token: text('nextPageToken'),
      total_count: optional(long('totalCount')),
    }),
  }),
  operation('vulnerabilities.advisory_events.list', 'GET /vulnerabilities/v1/advisories/{parent_id=**}/events', {
    kind: 'emulated',
    because: 'v2 keeps the events inside the advisory; component_location_changed events arrive without a type (facts §5.2)',
    calls: [`GET ${advisory.v2}/{parent_id}`],
    ownParams: WINDOW_PARAMETERS,
    answer: event,
    rows: true,
    envelope: eventsEnvelope,
    missing: 'empty',
    empty: (dialect) => ({ [ROWS]: [], ...eventsEnvelope.show[dialect]({}) }),
    plan: eventsOf,
  }),
]

/** A window of the events as of any v1 list; they are few, and v2 sends them all. */
function* eventsOf({ params, query }: V1Request, env: Env): Plan {
  const { skip, take } = readWindow(query)
  const found = yield* ask({ method: 'GET', path: `${advisory.v2}/${uidInPath(params.parent_id ?? '', 'parent_id')}`, query: [] })
  const events = Array.isArray(found.events) ? found.events.filter(isObject) : []
  yield* emit(events.slice(skip, take === undefined ? undefined : skip + take).map(event.show[env.dialect]))
  return items(eventsEnvelope.show[env.dialect](found))
}
