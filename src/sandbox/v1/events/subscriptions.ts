import { anyHttp } from '../../events/sink.ts'
import { sinkCheck, subscriptions } from '../../v2/events/subscriptions.ts'
import type { Resource } from '../../v2/resource.ts'
import type { Subscription } from '../../world/model.ts'
import { listOperation } from '../list.ts'
import { subscription } from '../messages/subscriptions.ts'
import type { Operation } from '../operation.ts'
import { createOperation, deleteOperation, type Written } from '../writes.ts'

/** The service's subscriptions. v1 also accepts sinks with plain HTTP (facts §24.13). */
const v1Subscriptions: Resource<Subscription> = { ...subscriptions, checkCreate: sinkCheck(() => anyHttp) }

const written: Written<Subscription> = { resource: v1Subscriptions, path: '/events/v1/subscriptions', message: subscription }

/** Subscriptions (facts §8). */
export const subscriptionOperations: readonly Operation[] = [
  listOperation({ ...written, idParameter: 'id', scoped: true }),
  createOperation(written, 'parent_id'),
  deleteOperation(written),
]
