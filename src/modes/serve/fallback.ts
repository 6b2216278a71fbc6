import type { ClientRequest } from '../../serve/request.ts'
import { type Backend, hasFailed, isRead, type Served } from '../../serve/sides.ts'
import { isPaged } from '../choose/page-token.ts'
import type { Accepted } from './accepted.ts'
import type { Budget } from './budget.ts'
import { drain } from './tee.ts'

/** Returns what a client gets in place of v2's failed answer: v1's answer, or the same if v1 may not or cannot answer. */
export type Fallback = (request: ClientRequest, served: Served) => Promise<Served>

/**
 * Answers a read from v1 if v2 fails with 5xx or a timeout, within the budget. If v1 cannot answer either, v2's error stays.
 * Excluded are writes, which may have taken effect, and lists read by page token, because neither side can read the other's tokens.
 */
export function createFallback(v1: Backend, budget: Budget, accepted: Accepted): Fallback {
  return async (request, served) => {
    if (!mayFallBack(request) || !budget.take(!accepted.has(request.credential))) return served
    try {
      const instead = await v1(request)
      if (!hasFailed(instead.answer.status)) return { ...instead, failed: served.answer }
      await drain(instead.answer, 0)
      return served
    } catch {
      return served
    }
  }
}

function mayFallBack({ operation, client }: ClientRequest): boolean {
  return isRead(operation) && !client.aborted && !isPaged(operation)
}
