import { requireCapability } from '../auth/rights.ts'
import type { Query } from '../http/route.ts'
import type { Filter } from '../lists.ts'
import { choice, DATED, listOf, type Message, messageType, nested, outputText, outputTime, text, valuesOf } from '../messages/message.ts'
import { notFound } from '../status.ts'
import {
  type Advisory,
  type AdvisoryEvent,
  eventType,
  eventTypeNames,
  FALSE_POSITIVE_TYPES,
  latestApproved,
  severityMessage,
} from '../world/model.ts'
import { type Act, resourceOf, routesOf } from './resource.ts'

const PACKAGE = 'chainguard.platform.vulnerabilities.v2.AdvisoryEvent'

/** By number (facts §18). */
const REVIEW_STATES = valuesOf('REVIEW_STATE', 'PENDING', 'APPROVED', 'REQUEST_CHANGES', 'REJECTED')

/** A member of the oneof `type` that holds a note and `fields`. */
const noted = <F extends Message['fields']>(name: string, fields: F) =>
  nested(messageType(`${PACKAGE}.${name}`, { ...fields, note: text() }), { oneof: 'type' })

const NVD = messageType(`${PACKAGE}.Detection.NVDAPI`, { cpeSearched: text(), cpeFound: text() })

const MANUAL = messageType(`${PACKAGE}.Detection.Manual`, {})

const SCAN = messageType(`${PACKAGE}.Detection.ScanV1`, {
  scanner: text(),
  subpackage: text(),
  componentId: text(),
  component: text(),
  componentVersion: text(),
  componentType: text(),
  componentLocation: text(),
  artifactVersion: text(),
  scannerVersion: text(),
  grypeDbBuilt: text(),
  grypeDbChecksum: text(),
})

const DETECTION = messageType(`${PACKAGE}.Detection`, {
  nvdapi: nested(NVD, { oneof: 'type' }),
  manual: nested(MANUAL, { oneof: 'type' }),
  scanv1: nested(SCAN, { oneof: 'type' }),
})

/** An event of an advisory. At most one member of `type` is set (semantics §3.13). */
export const advisoryEventMessage = messageType(PACKAGE, {
  uid: outputText,
  createTime: outputTime,
  findings: text(),
  author: text(),
  reviewer: text(),
  reviewState: choice(REVIEW_STATES),
  issue: text(),
  detection: nested(DETECTION, { oneof: 'type' }),
  fixed: noted('Fixed', { fixedVersion: text(), scannerVersion: text(), grypeDbBuilt: text(), grypeDbChecksum: text() }),
  falsePositiveDetermination: noted('FalsePositiveDetermination', { type: choice(FALSE_POSITIVE_TYPES) }),
  analysisNotPlanned: noted('AnalysisNotPlanned', {}),
  fixNotPlanned: noted('FixNotPlanned', {}),
  pendingUpstreamFix: noted('PendingUpstreamFix', {}),
  truePositiveDetermination: noted('TruePositiveDetermination', {}),
  patched: noted('Patched', { patchedVersions: listOf(text()) }),
})

type Values = ReadonlySet<string | undefined>

const any =
  (read: (event: AdvisoryEvent) => string | undefined) =>
  (values: Values) =>
  ({ events }: Advisory): boolean =>
    events.some((event) => values.has(read(event)))

const member =
  (name: keyof Advisory) =>
  (values: Values) =>
  (row: Advisory): boolean =>
    values.has(row[name] as string)

/** The text that search terms are matched against (semantics §3.13). */
const searched = ({ artifactName, componentName, aliases }: Advisory): string =>
  [artifactName, componentName, ...aliases].join('\n').toLowerCase()

/** The meaning of each condition. The values of one condition are alternatives. */
const CONDITIONS = {
  advisoryIds: member('advisoryId'),
  legacyAdvisoryIds: member('legacyAdvisoryId'),
  artifactNames: member('artifactName'),
  artifactTypes: member('artifactType'),
  artifactArchitectures: member('artifactArchitecture'),
  componentNames: member('componentName'),
  componentTypes: member('componentType'),
  componentLocations: member('componentLocation'),
  aliases: (values: Values) => (row: Advisory) => row.aliases.some((alias) => values.has(alias)),
  eventReviewStates: any(({ reviewState }) => reviewState),
  eventAuthors: any(({ author }) => author),
  excludeEventAuthors: (values: Values) => (row: Advisory) => !row.events.some(({ author }) => values.has(author)),
  eventReviewers: any(({ reviewer }) => reviewer),
  eventTypes: any(eventType),
  latestEventType: (values: Values) => (row: Advisory) => {
    const latest = latestApproved(row)
    return latest !== undefined && values.has(eventType(latest))
  },
  query: (values: Values) => (row: Advisory) => [...values].some((value) => searched(row).includes(String(value).toLowerCase())),
} as const

/** The conditions of a list of advisories, with their values. A condition without values does not narrow. */
export type AdvisoryWish = Readonly<Record<keyof typeof CONDITIONS, readonly string[]>>

const withdrawn: Filter<Advisory> = { key: 'not deleted', matches: ({ deleteTime }) => deleteTime === undefined }

/** The filters of a list of advisories. Every condition must hold. Withdrawn advisories are never shown. */
export const advisoryFilters = (wish: AdvisoryWish): readonly Filter<Advisory>[] => {
  const asked = (Object.keys(CONDITIONS) as (keyof AdvisoryWish)[]).filter((name) => wish[name].length > 0)
  const made = asked.map((name) => ({ key: `${name}=${JSON.stringify(wish[name])}`, matches: CONDITIONS[name](new Set(wish[name])) }))
  return [withdrawn, ...made]
}

/** All kinds of v2, which lacks `componentLocationChanged` (facts §18). */
const EVENT_TYPES = eventTypeNames(8)

/** How a version of the API spells the conditions. */
export const wishReader = (query: Query) => ({
  /** Every text of a repeated parameter. Empty ones count as absent. */
  texts: (name: string): readonly string[] => query.texts(name).filter((value) => value !== ''),
  /** Every value of a repeated enum parameter. The zero counts as absent. */
  enums: (name: string, values: readonly string[]): readonly string[] => query.choices(name, values).filter((value) => value !== values[0]),
})

/** `origin` replaces the names of artifacts (semantics §3.13). */
export const namesOrOrigin = (query: Query, names: readonly string[]): readonly string[] =>
  query.text('origin') === '' ? names : [query.text('origin')]

/** The kind in `latest_event_type`. The zero counts as absent. */
export const latestKind = (query: Query, values: readonly string[]): readonly string[] => {
  const kind = query.choice('latest_event_type', values)
  return kind === values[0] ? [] : [kind]
}

/** Reads the parameters of `GET /vulnerabilities/v2/advisories`. */
const readWish = (query: Query): AdvisoryWish => {
  const { texts, enums } = wishReader(query)
  return {
    advisoryIds: texts('advisory_ids'),
    legacyAdvisoryIds: texts('legacy_advisory_ids'),
    artifactNames: namesOrOrigin(query, texts('artifact_names')),
    artifactTypes: texts('artifact_types'),
    artifactArchitectures: texts('artifact_architectures'),
    componentNames: texts('component_names'),
    componentTypes: texts('component_types'),
    componentLocations: texts('component_locations'),
    aliases: texts('aliases'),
    eventReviewStates: enums('event_review_states', REVIEW_STATES),
    eventAuthors: texts('event_authors'),
    excludeEventAuthors: texts('exclude_event_authors'),
    eventReviewers: texts('event_reviewers'),
    eventTypes: enums('event_types', EVENT_TYPES),
    latestEventType: latestKind(query, EVENT_TYPES),
    query: [query.text('query')].filter((value) => value !== ''),
  }
}

const ADVISORY_PACKAGE = 'chainguard.platform.vulnerabilities.v2'

/** (specification §2, semantics §3.13) */
export const advisoryMessage = messageType(`${ADVISORY_PACKAGE}.Advisory`, {
  uid: outputText,
  advisoryId: outputText,
  ...DATED,
  deleteTime: outputTime,
  author: text(),
  artifactName: text(),
  artifactType: text(),
  artifactArchitecture: text(),
  componentName: text(),
  componentLocation: text(),
  componentType: text(),
  aliases: listOf(text()),
  events: listOf(nested(advisoryEventMessage)),
  legacyAdvisoryId: outputText,
  severities: listOf(nested(severityMessage(ADVISORY_PACKAGE))),
})

const readable = ({ world, caller }: Act, uid: string): void => {
  requireCapability(world, caller, 'advisories.list', uid)
  if (world.store.advisories.get(uid)?.deleteTime !== undefined) notFound('vulnerabilities.Advisory', uid)
}

/** Advisories are read-only in v2 (specification §1, §4; semantics §3.13). */
export const advisories = resourceOf('vulnerabilities.Advisory', 'advisories', {
  message: advisoryMessage,
  capabilities: { list: 'advisories.list' },
  sortable: {
    advisory_id: ({ advisoryId }) => advisoryId,
    artifact_name: ({ artifactName }) => artifactName,
    aliases: (row) => row.aliases.join(','),
    deleted_at: ({ deleteTime }) => deleteTime ?? '',
  },
  filters: (query) => advisoryFilters(readWish(query)),
  readable,
})

/** Everything below `/vulnerabilities/v2`. */
export const vulnerabilityRoutes = routesOf(advisories)
