import type { Answer, Carry, Target } from '../target.ts'
import { type Call, callOf } from './call.ts'
import { type Inexpressible, NotExpressible } from './inexpressible.ts'

/** When a client gives up. */
export interface Until {
  readonly timeoutMs?: number
  readonly signal?: AbortSignal
}

/** A client that is none of ours. */
export interface Client {
  readonly call: (call: Call, token: string | undefined, until?: Until) => Promise<Answer>
  readonly close: () => void
}

/** A target whose requests are calls. */
export interface Carried {
  readonly target: Target
  /** The numbers of requests that were sent over REST, by reason, and of calls. */
  readonly besides: Map<Inexpressible, number>
  readonly calls: () => number
  readonly close: () => void
}

/** Returns a target whose requests are calls. A request that no call can express is sent as it is. */
export function carried(target: Target, { call, close }: Client): Carried {
  const besides = new Map<Inexpressible, number>()
  let calls = 0
  const carry: Carry = (request, token) => {
    const made = expressed(request)
    if (typeof made === 'string') {
      besides.set(made, (besides.get(made) ?? 0) + 1)
      return undefined
    }
    calls += 1
    return call(made, token)
  }
  return { target: { ...target, carry }, besides, calls: () => calls, close }
}

function expressed(request: Parameters<Carry>[0]): Call | Inexpressible {
  try {
    return callOf(request)
  } catch (thrown) {
    if (thrown instanceof NotExpressible) return thrown.because
    throw thrown
  }
}
