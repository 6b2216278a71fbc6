import { ApiError } from '../../errors.ts'
import { createCalls, type Send } from '../../serve/calls.ts'
import type { Env, Operation, V1Request } from '../../tables/operation.ts'
import { type Call, type Make, run } from '../../tables/turn.ts'

/** No limits: no client waits, and nothing is written. */
const LIMITS = { callsPerRequest: Number.POSITIVE_INFINITY, parallelCalls: Number.POSITIVE_INFINITY }

/**
 * Returns the first v2 call of a write that would change something, without making it. Reads that the operation needs first are made.
 * Returns undefined if the operation refuses the request or needs no write.
 */
export function wouldSend({ begin }: Operation, request: V1Request, env: Env, send: Send): Promise<Call | undefined> {
  const read = createCalls(send, LIMITS)
  return new Promise((resolve, reject) => {
    if (!begin) return resolve(undefined)
    const make: Make = (turn, teller) => {
      const write = turn.calls.find(({ method }) => method !== 'GET')
      if (write) resolve(write)
      else read(turn, teller)
    }
    const ended = () => resolve(undefined)
    const failed = (thrown: unknown) => (thrown instanceof ApiError ? resolve(undefined) : reject(thrown))
    run(() => begin(request, env), make, { rows: () => true, ended, failed })
  })
}
