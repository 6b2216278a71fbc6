import { isPaged } from '../choose/page-token.ts'
import type { Accepted } from './accepted.ts'
import { type Backend, hasFailed, type Incoming, isRead } from './backend.ts'
import type { Budget } from './budget.ts'
import { drain } from './tee.ts'

/**
 * A read that v2 fails with 5xx or a time-out is answered from v1, as long as the budget lasts. Never a write, which may have happened.
 * Never a list that is read by page token: neither side knows the other's. What v1 cannot answer either keeps v2's error.
 */
export function fallback(v2: Backend, v1: Backend, budget: Budget, accepted: Accepted): Backend {
  return async (incoming) => {
    const served = await v2(incoming)
    const { answer } = served
    if (!hasFailed(answer.status) || !mayFallBack(incoming) || !budget.take(!accepted.has(incoming.credential))) return served
    try {
      const instead = await v1(incoming)
      if (!hasFailed(instead.answer.status)) return { ...instead, failed: answer }
      await drain(instead.answer, 0)
      return served
    } catch {
      return served
    }
  }
}

function mayFallBack({ operation, client }: Incoming): boolean {
  return isRead(operation) && !client.aborted && !isPaged(operation)
}
