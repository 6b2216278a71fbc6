import type { Route } from '../http/route.ts'
import { iamOperations } from './iam/operations.ts'
import { type Operation, routeOf } from './operation.ts'
import { registryOperations } from './registry/operations.ts'

/** The connectivity check (facts §9); the only operation that needs no token. */
const ping: Operation = { method: 'GET', template: '/ping/v1/ping', auth: 'none', answer: () => ({ response: 'pong' }) }

/**
 * Native v1 over the same store as v2, written from the facts about v1. Operations without a v2 counterpart are not served: their
 * paths are unknown here.
 */
export const v1Routes: readonly Route[] = [...iamOperations, ...registryOperations, ping].map(routeOf)
