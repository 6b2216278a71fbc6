import { type Answer, callerOf, type Route } from '../http/route.ts'
import { revisionOf } from '../world/store.ts'
import type { Call, Rule } from './rule.ts'
import { ruleOf } from './rules.ts'

/** An occurrence that subscribers may be notified of. */
export type Occurrence = {
  /** `dev.chainguard.api.iam.group.created.v1` */
  readonly type: string
  readonly subject: string
  readonly group: string
  /** The path of its collection: `/iam/v2/groups`. */
  readonly sourcePath: string
  readonly bodyType: string
  readonly body: unknown
  /** The identity that caused it. */
  readonly actor: string
  readonly extensions: Readonly<Record<string, string>>
}

const TYPE_PREFIX = 'dev.chainguard.api.'
const BODY_PREFIX = 'chainguard.platform.'

/** The part of a template before its first variable or verb. */
const collectionOf = (template: string): string => template.replace(/(?:\/\{|:[A-Za-z]+$).*/s, '')

const occurrenceOf = (rule: Rule, template: string, call: Call): Occurrence => {
  const subject = rule.subject(call)
  return {
    type: TYPE_PREFIX + rule.event,
    subject,
    group: rule.group(subject, call),
    sourcePath: collectionOf(template),
    bodyType: BODY_PREFIX + rule.bodyType,
    body: rule.body(call, subject),
    actor: callerOf(call.ask).identityUid,
    extensions: rule.extensions?.(subject) ?? {},
  }
}

const announced = (route: Route, rule: Rule, publish: (occurrence: Occurrence) => void): Route => ({
  ...route,
  handle: async (ask, world): Promise<Answer> => {
    const before = revisionOf(world.store)
    const pending = route.handle(ask, world)
    // Handlers write before they return, so no other request can have written in between.
    const changed = revisionOf(world.store) !== before
    const answer = await pending
    if (changed) publish(occurrenceOf(rule, route.template, { ask, answer }))
    return answer
  },
})

/**
 * Wraps the routes. A route with an event publishes it after a successful call that changed something. An update with an empty mask and a
 * delete of a missing row publish nothing (semantics §6, ASSUMPTIONS.md).
 */
export const announcing = (routes: readonly Route[], publish: (occurrence: Occurrence) => void): readonly Route[] =>
  routes.map((route) => {
    const rule = ruleOf(route)
    return rule ? announced(route, rule, publish) : route
  })
