import { snakeCase } from '../../http/case.ts'
import type { Advisory, AdvisoryEvent } from '../../world/advisory-model.ts'

/** The members that determine the kind of an event, in the order of the filter enum's numbers, which start at 1 (facts §18). */
export const EVENT_KINDS = [
  'detection',
  'truePositiveDetermination',
  'fixed',
  'falsePositiveDetermination',
  'analysisNotPlanned',
  'fixNotPlanned',
  'pendingUpstreamFix',
  'patched',
  'componentLocationChanged',
] as const satisfies readonly (keyof AdvisoryEvent)[]

export type EventKind = (typeof EVENT_KINDS)[number]

/** The filter's name of a kind: `EVENT_TYPE_FILTER_FIX_NOT_PLANNED`. */
const filterName = (kind: EventKind): string => `EVENT_TYPE_FILTER_${snakeCase(kind).toUpperCase()}`

/** The values of the filter enum, by number, for the first `count` kinds. v2 lacks the last one. */
export const eventTypeNames = (count: number): readonly string[] => [
  'EVENT_TYPE_FILTER_UNSPECIFIED',
  ...EVENT_KINDS.slice(0, count).map(filterName),
]

/** The filter's name of the kind of `event`; undefined for an event without a type. */
export const eventType = (event: AdvisoryEvent): string | undefined => {
  const kind = EVENT_KINDS.find((name) => event[name] !== undefined)
  return kind && filterName(kind)
}

/** The current state of an advisory: its newest event approved by `at` (milliseconds), if any. */
export const latestApproved = ({ events }: Advisory, at = Number.POSITIVE_INFINITY): AdvisoryEvent | undefined =>
  events.filter(({ reviewState, createTime }) => reviewState === 'REVIEW_STATE_APPROVED' && Date.parse(createTime) <= at).at(-1)
