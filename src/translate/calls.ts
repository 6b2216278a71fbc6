import { asApiError } from '../errors.ts'
import type { JsonObject } from '../tables/json.ts'
import type { Make, Teller } from '../tables/turn.ts'
import { ManyCalls } from './many-calls.ts'
import { type CallLanding, type CallLimits, type Send, start, tooManyCalls } from './send-call.ts'

/**
 * Makes the calls of one operation within its limits. Calls that a plan announces begin ahead, while an earlier page is still being
 * written. At most `parallelCalls` of them are begun and not yet asked for. A plan that waits for a slow client therefore holds no more
 * answers than that.
 */
export function createCalls(send: Send, limits: CallLimits): Make {
  let many: ManyCalls | undefined
  let made = 0
  return (turn, teller) => {
    const [only] = turn.calls
    if (many || !only || turn.calls.length > 1 || turn.ahead) {
      many ??= new ManyCalls(send, limits, made)
      many.make(turn, teller)
    } else if (made === limits.callsPerRequest) teller.failed(tooManyCalls(made))
    else {
      made += 1
      start(only, send, new Single(teller))
    }
  }
}

/** Lands the only call of a turn. A class, because every request has one. */
class Single implements CallLanding {
  readonly #teller: Teller

  constructor(teller: Teller) {
    this.#teller = teller
  }

  landed(body: JsonObject): void {
    this.#teller.told([{ ok: true, body }])
  }

  failed(error: Error): void {
    this.#teller.told([{ ok: false, error: asApiError(error) }])
  }
}
