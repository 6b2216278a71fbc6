import type { Answer, Ask } from '../http/route.ts'
import { isObject } from '../messages/message.ts'
import { parentOf, rootOf } from '../world/uid.ts'

/** How a successful call becomes an event (semantics §7.2, §7.3). */

/** A request and its answer. */
export type Call = { readonly ask: Ask; readonly answer: Answer }

export const VERSIONS = ['v2', 'v1'] as const

export type Version = (typeof VERSIONS)[number]

/** The event that one endpoint of one version announces. */
export type Rule = {
  /** The event type without its prefix: `iam.group.created.v1`. */
  readonly event: string
  readonly subject: (call: Call) => string
  /** The group of the event; `/` is above every organization. */
  readonly group: (subject: string, call: Call) => string
  /** The data sent to subscribers; undefined omits the member. */
  readonly body: (call: Call, subject: string) => unknown
  /** The proto name of the body without `chainguard.platform.`. */
  readonly bodyType: string
  /** Attributes beside those of every event. */
  readonly extensions?: (subject: string) => Readonly<Record<string, string>>
}

/** Endpoint → event. The endpoint is `METHOD template` without the names of the variables, which differ between the versions. */
export type Entry = readonly [endpoint: string, rule: Rule]

type Json = Readonly<Record<string, unknown>>

/** Returns a JSON object as it is, and an empty one for anything else. */
export const jsonOf = (value: unknown): Json => (isObject(value) ? value : {})

/** Subject: the uid in the answer. */
export const made: Rule['subject'] = ({ answer }) => String(jsonOf(answer.body)['uid'] ?? jsonOf(answer.body)['id'] ?? '')

/** Subject: the uid in the path. */
export const addressed: Rule['subject'] = ({ ask }) => Object.values(ask.params)[0] ?? ''

/** Group: the subject itself. */
export const itself: Rule['group'] = (subject) => subject
/** Group: the parent of the subject. */
export const around: Rule['group'] = (subject) => parentOf(subject) || '/'
/** Group: the organization of the subject. */
export const organization: Rule['group'] = (subject) => rootOf(subject)

/** Body: the answer. */
export const answered: Rule['body'] = ({ answer }) => answer.body

/** Body: these members of the answer. */
export const onlyAnswered =
  (...names: readonly string[]): Rule['body'] =>
  ({ answer }) =>
    Object.fromEntries(Object.entries(jsonOf(answer.body)).filter(([name]) => names.includes(name)))

/** Body: the answer without these members. */
export const answeredWithout =
  (...names: readonly string[]): Rule['body'] =>
  ({ answer }) =>
    Object.fromEntries(Object.entries(jsonOf(answer.body)).filter(([name]) => !names.includes(name)))

/** Body: the request of a delete, with each version's name for a uid. */
export const requested =
  (version: Version): Rule['body'] =>
  (_call, subject) => ({ [version === 'v2' ? 'uid' : 'id']: subject })

/** Body: these members of the request. */
export const carried =
  (...names: readonly string[]): Rule['body'] =>
  ({ ask }) =>
    Object.fromEntries(Object.entries(jsonOf(ask.body)).filter(([name]) => names.includes(name)))

/** No body at all. */
export const nothing: Rule['body'] = () => undefined
