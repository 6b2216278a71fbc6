import { ApiError } from '../../errors/api-error.ts'
import { asApiError } from '../../errors/to-v1.ts'
import type { Env, Operation, V1Request } from '../../tables/language/operation.ts'
import type { Call, Outcome } from '../../tables/plan/plan.ts'

/** Makes one read. */
type Read = (call: Call) => ReturnType<(call: Call) => Promise<Record<string, unknown>>>

/**
 * The first v2 call of a write that would change something; it is not made. What the plan looks up before it is really read. undefined
 * when the plan refuses the request, or gets by without a write.
 */
export async function wouldSend(operation: Operation, request: V1Request, env: Env, read: Read): Promise<Call | undefined> {
  const plan = operation.plan?.(request, env)
  let outcomes: readonly Outcome[] = []
  while (plan) {
    const step = next(plan, outcomes)
    if (!step || step.done) return undefined
    const calls = step.value.kind === 'ask' ? step.value.calls : []
    const write = calls.find(({ method }) => method !== 'GET')
    if (write) return write
    outcomes = await Promise.all(calls.map(async (call) => outcomeOf(read(call))))
  }
  return undefined
}

function next(plan: ReturnType<NonNullable<Operation['plan']>>, outcomes: readonly Outcome[]) {
  try {
    return plan.next(outcomes)
  } catch (error) {
    if (error instanceof ApiError) return undefined
    throw error
  }
}

async function outcomeOf(answer: ReturnType<Read>): Promise<Outcome> {
  try {
    return { ok: true, body: await answer }
  } catch (error) {
    return { ok: false, error: asApiError(error) }
  }
}
