import type { Answer, Ask } from '../http/route.ts'
import { isObject } from '../messages/message.ts'
import { parentOf, rootOf } from '../world/uid.ts'

/** How a successful call becomes an event (semantics §7.2, §7.3). */

/** A call that was answered. */
export type Call = { readonly ask: Ask; readonly answer: Answer }

export const VERSIONS = ['v2', 'v1'] as const

export type Version = (typeof VERSIONS)[number]

/** What one endpoint of one version announces. */
export type Rule = {
  /** The event type without its prefix: `iam.group.created.v1`. */
  readonly event: string
  readonly subject: (call: Call) => string
  /** The group the event happened at; `/` above every organization. */
  readonly group: (subject: string, call: Call) => string
  /** What subscribers are told; undefined leaves the member out. */
  readonly body: (call: Call, subject: string) => unknown
  /** The proto name of the body without `chainguard.platform.`. */
  readonly bodyType: string
  /** Attributes beside those every event has. */
  readonly extensions?: (subject: string) => Readonly<Record<string, string>>
}

/** Endpoint → event: `METHOD template` with the names of the variables left out, as the two versions call them differently. */
export type Entry = readonly [endpoint: string, rule: Rule]

type Json = Readonly<Record<string, unknown>>

/** A JSON object, or an empty one in the place of anything else. */
export const jsonOf = (value: unknown): Json => (isObject(value) ? value : {})

/** Subject: what the answer is about. */
export const made: Rule['subject'] = ({ answer }) => String(jsonOf(answer.body)['uid'] ?? jsonOf(answer.body)['id'] ?? '')

/** Subject: what the path names. */
export const addressed: Rule['subject'] = ({ ask }) => Object.values(ask.params)[0] ?? ''

/** Group: the subject itself. */
export const itself: Rule['group'] = (subject) => subject
/** Group: the one the subject is in. */
export const around: Rule['group'] = (subject) => parentOf(subject) || '/'
/** Group: the organization of the subject. */
export const organization: Rule['group'] = (subject) => rootOf(subject)

/** Body: the answer. */
export const answered: Rule['body'] = ({ answer }) => answer.body

/** Body: the answer with these members alone. */
export const onlyAnswered =
  (...names: readonly string[]): Rule['body'] =>
  ({ answer }) =>
    Object.fromEntries(Object.entries(jsonOf(answer.body)).filter(([name]) => names.includes(name)))

/** Body: the answer without these members. */
export const answeredWithout =
  (...names: readonly string[]): Rule['body'] =>
  ({ answer }) =>
    Object.fromEntries(Object.entries(jsonOf(answer.body)).filter(([name]) => !names.includes(name)))

/** Body: the request of a delete, in the name each version has for a uid. */
export const requested =
  (version: Version): Rule['body'] =>
  (_call, subject) => ({ [version === 'v2' ? 'uid' : 'id']: subject })

/** Body: these members of the request's own. */
export const carried =
  (...names: readonly string[]): Rule['body'] =>
  ({ ask }) =>
    Object.fromEntries(Object.entries(jsonOf(ask.body)).filter(([name]) => names.includes(name)))

/** No body at all. */
export const nothing: Rule['body'] = () => undefined
