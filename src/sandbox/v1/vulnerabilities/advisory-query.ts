import type { Query } from '../../http/query.ts'
import { type AdvisoryWish, latestKind, namesOrOrigin, wishReader } from '../../v2/vulnerabilities/advisory-filters.ts'
import { eventTypeNames } from '../../v2/vulnerabilities/event-kinds.ts'
import { reviewStatus } from '../messages/advisory-events.ts'
import { v1Names } from '../vocabulary.ts'

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
export const orderOf = (query: Query): string => ORDERS[query.choice('order_by', Object.keys(ORDERS))] ?? ''

/** All nine kinds: only v1 has moved components. */
const EVENT_TYPES = eventTypeNames(9)

/** Reads the filters of `GET /vulnerabilities/v1/advisories`: most have v2's names in the singular (facts §5.1). */
export const readV1Wish = (query: Query): AdvisoryWish => {
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
