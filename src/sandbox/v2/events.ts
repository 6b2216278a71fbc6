import { httpOnLoopback, httpsOnly, type SchemeRule, sinkProblem } from '../events/events.ts'
import { ok, type Route } from '../http/route.ts'
import { messageType, outputText, text } from '../messages/message.ts'
import type { Subscription } from '../world/model.ts'
import type { World } from '../world/store.ts'
import { type CreateAct, resourceOf, routesOf } from './resource.ts'

/** (semantics §3.16) */
export const subscriptionMessage = messageType('chainguard.platform.events.v2.Subscription', {
  uid: outputText,
  sink: text({ required: true }),
})

/** Checks the sink against the schemes that the rule allows in this sandbox. */
export const sinkCheck =
  (rule: (world: World) => SchemeRule) =>
  ({ sink }: Subscription, { world }: CreateAct) => {
    const description = sinkProblem(sink, rule(world))
    return description === undefined ? [] : [{ field: 'sink', description }]
  }

/** Subscriptions of a group to the events at it and below (specification §6). They cannot be updated. */
export const subscriptions = resourceOf('events.Subscription', 'subscriptions', {
  message: subscriptionMessage,
  capabilities: { list: 'subscriptions.list', create: 'subscriptions.create', delete: 'subscriptions.delete' },
  sortable: { sink: ({ sink }) => sink },
  checkCreate: sinkCheck(({ options }) => (options.allowHttpSinks ? httpOnLoopback : httpsOnly)),
})

/** Everything below `/events/v2`. */
export const eventRoutes = routesOf(subscriptions)

/** The connectivity check (specification §4 rule 8). It needs no token. */
export const pingRoutes: readonly Route[] = [
  { method: 'GET', template: '/ping/v2/ping', auth: 'none', handle: () => ok({ response: 'pong' }) },
]
