import type { ClientRequest } from '../../request/request.ts'
import { isPaged } from '../choose/page-token.ts'
import type { Accepted } from './accepted.ts'
import { type Backend, hasFailed, isRead } from './backend.ts'
import type { Budget } from './budget.ts'
import { drain } from './tee.ts'

/**
 * A read that v2 fails with 5xx or a time-out is answered from v1, as long as the budget lasts. Never a write, which may have happened.
 * Never a list that is read by page token: neither side knows the other's. What v1 cannot answer either keeps v2's error.
 */
export function fallback(v2: Backend, v1: Backend, budget: Budget, accepted: Accepted): Backend {
  return async (request) => {
    const served = await v2(request)
    const { answer } = served
    if (!hasFailed(answer.status) || !mayFallBack(request) || !budget.take(!accepted.has(request.credential))) return served
    try {
      const instead = await v1(request)
      if (!hasFailed(instead.answer.status)) return { ...instead, failed: answer }
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
