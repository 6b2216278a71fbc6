import { requireCapability, visible } from '../auth/rights.ts'
import { anyHttp } from '../events/events.ts'
import { callerOf, type Query, readQuery } from '../http/route.ts'
import { equals, filterKey, pageOf, readPaging, readUidp, SORTABLE, scopeOf, selectRows, sortRows } from '../lists.ts'
import { resolvedVulns } from '../scans.ts'
import { selectDocuments, selectMetadata } from '../v2/advisory.ts'
import { sinkCheck, subscriptions } from '../v2/events.ts'
import { type Resource, uidParam, unscopedPage } from '../v2/resource.ts'
import { type AdvisoryWish, advisories, advisoryFilters, latestKind, namesOrOrigin, wishReader } from '../v2/vulnerabilities.ts'
import {
  type Advisory,
  type AdvisoryEvent,
  eventTypeNames,
  FALSE_POSITIVE_TYPES,
  REFERENCE_TYPES,
  SEVERITY_TYPES,
  type Subscription,
} from '../world/model.ts'
import { parentOf, type Store } from '../world/store.ts'
import {
  choice,
  int32,
  int64,
  list,
  type Member,
  message,
  object,
  oneof,
  optional,
  prefixed,
  readOnly,
  text,
  time,
  typeNames,
  v1Names,
} from './message.ts'
import { encode, type Operation } from './operation.ts'
import { arrange, createOperation, deleteOperation, listOperation, longPages, ownPaging, readWindow, type Written } from './operations.ts'

const reviewStatus = prefixed('ReviewStatus', 'REVIEW_STATE_', 1, 'PENDING', 'APPROVED', 'REQUEST_CHANGES', 'REJECTED')
const falsePositive = typeNames('FalsePositiveDetermination.Type', FALSE_POSITIVE_TYPES)

const nvd = message('Detection.NVDAPI', [text('cpe_searched'), text('cpe_found')])

/** A run of a scanner and its finding. The feed and advisories store two of the members under different names. */
const scanMessage = (subpackage: string, component: string) =>
  message('Detection.ScanV1', [
    text('scanner'),
    text('subpackage_name', { from: subpackage }),
    text('component_id'),
    text('component_name', { from: component }),
    text('component_version'),
    text('component_type'),
    text('component_location'),
    text('artifact_version'),
    text('scanner_version'),
    text('grype_db_built'),
    text('grype_db_checksum'),
  ])

const detectionMessage = (scan: ReturnType<typeof scanMessage>) =>
  message('Detection', oneof('type', object(nvd)('nvdapi'), object(message('Detection.Manual', []))('manual'), object(scan)('scanv1')))

/** The members of a fix that advisories and the feed share. */
const FIX_MEMBERS: readonly Member[] = [text('fixed_version'), text('scanner_version'), text('grype_db_built'), text('grype_db_checksum')]

/** An object that holds a note and `members`. */
const noted = (name: string, ...members: readonly Member[]): Member => object(message(name, [...members, text('note')]))(name)

/** AdvisoryEvent (facts §5.2). */
export const advisoryEvent = message('AdvisoryEvent', [
  text('id', { from: 'uid' }),
  time('timestamp', { from: 'createTime' }),
  ...oneof(
    'type',
    object(detectionMessage(scanMessage('subpackage', 'component')))('detection'),
    noted('fixed', ...FIX_MEMBERS),
    noted('false_positive_determination', choice(falsePositive)('type')),
    noted('analysis_not_planned'),
    noted('fix_not_planned'),
    noted('pending_upstream_fix'),
    noted('true_positive_determination'),
    noted('patched', list(text('patched_versions'))),
    noted('component_location_changed', text('previous_location'), text('new_location')),
  ),
  text('findings'),
  text('author'),
  text('reviewer'),
  choice(reviewStatus)('status', { from: 'reviewState' }),
  optional(text('issue')),
])

export const advisoryEventList = message('AdvisoryEventList', [text('parent_id'), list(object(advisoryEvent)('items'))])

/** Advisory (facts §5.1). Its times already have the specification's names. One id keeps the contract's spelling. */
export const advisory = message('Advisory', [
  text('id', { from: 'uid' }),
  text('artifact_type'),
  text('artifact_name'),
  text('artifact_architecture'),
  optional(text('component_name')),
  optional(text('component_location')),
  optional(text('component_type')),
  time('created_at', { from: 'createTime' }),
  time('updated_at', { from: 'updateTime' }),
  optional(time('deleted_at', { from: 'deleteTime' })),
  list(text('aliases')),
  list(object(advisoryEvent)('events')),
  text('advisory_id'),
  text('author'),
  optional(text('legacyAdvisoryID', { from: 'legacyAdvisoryId' })),
])

export const advisoriesList = message('AdvisoriesList', [
  text('id'),
  list(object(advisory)('items')),
  text('next_page_token'),
  optional(int64('total_count')),
])

const feedFalsePositive = typeNames('FalsePositiveDetermination.Type', FALSE_POSITIVE_TYPES, 'FPT_TYPE_')
const referenceType = typeNames('Reference.Type', REFERENCE_TYPES)

/** v1 has UBUNTU besides, which no stored row uses (facts §18). */
const severityType = typeNames('Severity.Type', [...SEVERITY_TYPES, 'TYPE_UBUNTU'])

const event = message('Event', [
  time('timestamp'),
  ...oneof(
    'data',
    noted('true_positive_determination'),
    noted('false_positive_determination', choice(feedFalsePositive)('type')),
    object(message('Fixed', FIX_MEMBERS))('fixed'),
    object(detectionMessage(scanMessage('subpackageName', 'componentName')))('detection'),
    noted('analysis_not_planned'),
    noted('fix_not_planned'),
    noted('pending_upstream_fix'),
  ),
])

const documentAdvisory = message('Advisory', [text('id'), list(object(event)('events')), list(text('aliases')), text('package_namespace')])

/** Document (facts §7): `id` is a package here, not a uid. */
export const document = message('Document', [text('id'), list(object(documentAdvisory)('advisories'))])

const severity = message('Severity', [choice(severityType)('type'), text('score')])
const reference = message('Reference', [choice(referenceType)('type'), text('url')])

/** VulnerabilityMetadata (facts §7). */
const vulnerabilityMetadata = message('VulnerabilityMetadata', [
  text('id'),
  text('summary'),
  text('details'),
  list(object(reference)('references')),
  list(object(severity)('severity', { from: 'severities' })),
])

export const vulnerabilityMetadataList = message('VulnerabilityMetadataList', [
  list(object(vulnerabilityMetadata)('items')),
  text('next_page_token'),
  optional(int64('total_count')),
  int32('skipped'),
])

const resolvedVuln = message('ResolvedVuln', [text('id'), list(text('aliases')), list(object(severity)('cvss_severities'))])
const resolvedVulnsReport = message('ResolvedVulnsReport', [time('date'), list(object(resolvedVuln)('resolved_vulns'))])

/** ResolvedVulnsReportList (facts §7). */
const resolvedVulnsReportList = message('ResolvedVulnsReportList', [list(object(resolvedVulnsReport)('items'))])

/** Subscription (facts §8). */
export const subscription = message('Subscription', [readOnly(text('id', { from: 'uid' })), text('sink')], ['group_id'])

/** The advisory feed (facts §7). Documents and metadata need no token. Metadata had pages in v1 already (facts §10.2). */
export const feedOperations: readonly Operation[] = [
  {
    method: 'GET',
    template: '/advisory/v1/documents',
    auth: 'none',
    answer: ({ query }, { store, options }) => ({
      items: arrange(selectDocuments(store, query), query).map((row) => encode(row, document, options.v1Dialect)),
    }),
  },
  {
    method: 'GET',
    template: '/advisory/v1/metadata',
    auth: 'none',
    answer: (ask, world) => {
      const { rows: items, ...envelope } = unscopedPage(ask, world, selectMetadata(world.store, ask.query))
      return encode({ ...envelope, items }, vulnerabilityMetadataList, world.options.v1Dialect)
    },
  },
  {
    method: 'GET',
    template: '/advisory/v1/images/resolved_vulns',
    answer: (ask, world) => encode({ items: resolvedVulns(ask, world, ['from', 'to']) }, resolvedVulnsReportList, world.options.v1Dialect),
  },
]

/** The service's subscriptions. v1 also accepts sinks with plain HTTP (facts §24.13). */
const v1Subscriptions: Resource<Subscription> = { ...subscriptions, checkCreate: sinkCheck(() => anyHttp) }

const written: Written<Subscription> = { resource: v1Subscriptions, path: '/events/v1/subscriptions', message: subscription }

/** Subscriptions (facts §8). */
export const subscriptionOperations: readonly Operation[] = [
  listOperation({ ...written, idParameter: 'id', scoped: true }),
  createOperation(written, 'parent_id'),
  deleteOperation(written),
]

/** v1's values of `order_by`, by number, and the order of each (facts §18). */
const ORDERS: Readonly<Record<string, string>> = {
  ORDER_BY_UNSPECIFIED: '',
  ID_ASC: 'uid',
  ID_DESC: 'uid desc',
  CREATED_AT_ASC: 'created_at',
  CREATED_AT_DESC: 'created_at desc',
  ALIASES_ASC: 'aliases',
  ALIASES_DESC: 'aliases desc',
  UPDATED_AT_ASC: 'updated_at',
  UPDATED_AT_DESC: 'updated_at desc',
  DELETED_AT_ASC: 'deleted_at',
  DELETED_AT_DESC: 'deleted_at desc',
}

/** The requested order in the service's form; empty for the default. */
const orderOf = (query: Query): string => ORDERS[query.choice('order_by', Object.keys(ORDERS))] ?? ''

/** All nine kinds: only v1 has moved components. */
const EVENT_TYPES = eventTypeNames(9)

/** Reads the filters of `GET /vulnerabilities/v1/advisories`: most have v2's names in the singular (facts §5.1). */
const readV1Wish = (query: Query): AdvisoryWish => {
  const { texts, enums } = wishReader(query)
  const statuses = enums('event_statuses', v1Names(reviewStatus))
  return {
    advisoryIds: texts('advisory_ids'),
    legacyAdvisoryIds: texts('legacy_advisory_ids'),
    artifactNames: namesOrOrigin(query, texts('artifact_name')),
    artifactTypes: texts('artifact_type'),
    artifactArchitectures: texts('artifact_architecture'),
    componentNames: texts('component_name'),
    componentTypes: texts('component_type'),
    componentLocations: texts('component_location'),
    aliases: texts('aliases'),
    eventReviewStates: statuses.map((status) => reviewStatus.toStored.get(status) ?? status),
    eventAuthors: texts('event_author'),
    excludeEventAuthors: texts('exclude_event_author'),
    eventReviewers: texts('event_reviewer'),
    eventTypes: enums('event_types', EVENT_TYPES),
    latestEventType: latestKind(query, EVENT_TYPES),
    query: [],
  }
}

const path = '/vulnerabilities/v1/advisories'

const sortable = { ...SORTABLE, ...advisories.sortable }

/** The query without `skip`, which this list lacks, and with its order, which is an enum. */
const pagedQuery = (query: Query): Query => {
  const order = orderOf(query)
  const paged = longPages(ownPaging(query, 'page_size', 'page_token'))
  return order === '' ? paged : readQuery([...paged.pairs, ['order_by', order]])
}

/** One page of the visible advisories. */
const listAdvisories: Operation = {
  method: 'GET',
  template: path,
  answer: (ask, world) => {
    const uidp = readUidp(ask.query)
    const filters = [...equals<Advisory>(ask.query, 'id', ({ uid }) => uid), ...advisoryFilters(readV1Wish(ask.query))]
    const key = `${advisories.plural} ${filterKey(uidp, filters)}`
    const paging = readPaging(pagedQuery(ask.query), world, { sortable, filterKey: key })
    const inReach = visible(world, callerOf(ask), 'advisories.list')
    const rows = selectRows(world.store.advisories, uidp, filters).filter(({ uid }) => inReach(uid))
    const { rows: page, ...envelope } = pageOf(world, sortRows(rows, paging.order, sortable), paging, sortable)
    const [first] = page
    // The group of the list: that of its first row, or the requested one (facts §5.1).
    const id = first ? parentOf(first.uid) : scopeOf(uidp)
    return encode({ ...envelope, id, items: page }, advisoriesList, world.options.v1Dialect)
  },
}

/** The advisory of `uid` with its events, or with the one event that `uid` names. */
const eventsAt = ({ advisories: table }: Store, uid: string): { readonly of: string; readonly items: readonly AdvisoryEvent[] } => {
  const named = table.get(uid)
  const found = named ?? table.get(parentOf(uid))
  const items = found?.deleteTime === undefined ? (found?.events ?? []) : []
  return { of: found?.uid ?? uid, items: named ? items : items.filter((event) => event.uid === uid) }
}

/** The events of an advisory, all or a window of them. A missing advisory has none (facts §5.2, specification §9.5). */
const listEvents: Operation = {
  method: 'GET',
  template: `${path}/{parent_id=**}/events`,
  answer: (ask, world) => {
    const uid = uidParam(ask, 'parent_id')
    requireCapability(world, callerOf(ask), 'advisories.list', uid)
    const { of, items } = eventsAt(world.store, uid)
    const { from, to } = readWindow(ask.query)
    const shown = items.slice(from, to)
    return encode(items.length === 0 ? {} : { parentId: parentOf(of), items: shown }, advisoryEventList, world.options.v1Dialect)
  },
}

/** The operations below `/vulnerabilities/v1` that have a v2 counterpart (facts §5). */
export const vulnerabilityOperations: readonly Operation[] = [listAdvisories, listEvents]
