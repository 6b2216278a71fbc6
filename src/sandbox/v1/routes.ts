import type { Route } from '../http/route.ts'
import { feedOperations } from './advisory/feed.ts'
import { subscriptionOperations } from './events/subscriptions.ts'
import { iamOperations } from './iam/operations.ts'
import { libraryOperations } from './libraries/artifacts.ts'
import { type Operation, routeOf } from './operation.ts'
import { registryOperations, v1OnlyOperations } from './registry/operations.ts'
import { vulnerabilityOperations } from './vulnerabilities/advisories.ts'

/** The connectivity check (facts §9). */
const ping: Operation = { method: 'GET', template: '/ping/v1/ping', auth: 'none', answer: () => ({ response: 'pong' }) }

/**
 * Genuine v1 over the same store as v2, written from the facts about v1. Of the operations without a v2 counterpart, it serves those that
 * clients use most; the paths of the others are unknown.
 */
export const v1Routes: readonly Route[] = [
  ...iamOperations,
  ...registryOperations,
  ...v1OnlyOperations,
  ...vulnerabilityOperations,
  ...libraryOperations,
  ...feedOperations,
  ...subscriptionOperations,
  ping,
].map(routeOf)
