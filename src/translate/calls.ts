import { ApiError } from '../errors/api-error.ts'
import { asApiError } from '../errors/to-v1.ts'
import type { JsonObject } from '../tables/json.ts'
import type { Call, Outcome } from '../tables/plan/plan.ts'
import type { AskTurn, Make, Teller } from '../tables/plan/turn.ts'

/** Takes the result of a call. */
export interface CallLanding {
  landed(body: JsonObject): void
  failed(error: Error): void
}

/** Makes one v2 call and delivers its JSON body or its error, possibly at once. */
export type Send = (call: Call, landing: CallLanding) => void

/** Limits of the calls of one v1 request, named as in the configuration. */
export interface CallLimits {
  /** The maximum number of v2 calls for one request. */
  readonly callsPerRequest: number
  /** The maximum number of parallel v2 calls for one request. */
  readonly parallelCalls: number
}

/** A call that began before the plan asked for it. */
interface Begun {
  readonly call: Call
  readonly outcome: Promise<Outcome>
}

/**
 * Makes the calls of one operation within its limits. Calls that a plan announces begin ahead, while an earlier page is still being
 * written. At most `parallelCalls` of them are begun and not yet asked for. A plan that waits for a slow client therefore holds no more
 * answers than that.
 */
export function createCalls(send: Send, limits: CallLimits): Make {
  let many: MakeMany | undefined
  let made = 0
  return (turn, teller) => {
    const [only] = turn.calls
    if (many || !only || turn.calls.length > 1 || turn.ahead) {
      many ??= createMany(send, limits, made)
      makeMany(many, turn, teller)
    } else if (made === limits.callsPerRequest) teller.failed(tooManyCalls(made))
    else {
      made += 1
      make(only, send, new Single(teller))
    }
  }
}

function make(call: Call, send: Send, landing: CallLanding): void {
  try {
    send(call, landing)
  } catch (error) {
    landing.failed(error as Error)
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

function makeMany(many: MakeMany, turn: AskTurn, teller: Teller): void {
  many(turn).then(
    (outcomes) => teller.told(outcomes),
    (thrown) => teller.failed(thrown),
  )
}

type MakeMany = (turn: AskTurn) => Promise<readonly Outcome[]>

/** Makes parallel and announced calls; `before` calls were made already. */
function createMany(send: Send, { callsPerRequest, parallelCalls }: CallLimits, before: number): MakeMany {
  const begun: Begun[] = []
  const waiting: (() => void)[] = []
  let underWay = 0
  let ahead: readonly Call[] = []
  let next = 0
  let made = before

  const go = (call: Call): Promise<Outcome> => {
    underWay += 1
    return new Promise((resolve) => {
      const end = (outcome: Outcome) => {
        underWay -= 1
        resolve(outcome)
        waiting.shift()?.()
      }
      make(call, send, { landed: (body) => end({ ok: true, body }), failed: (error) => end({ ok: false, error: asApiError(error) }) })
    })
  }
  const begin = (call: Call): Promise<Outcome> => {
    made += 1
    return underWay < parallelCalls ? go(call) : new Promise((resolve) => waiting.push(() => resolve(go(call))))
  }
  const outcomeOf = (call: Call): Promise<Outcome> => {
    const at = begun.findIndex((other) => other.call === call)
    const [known] = at < 0 ? [] : begun.splice(at, 1)
    return known?.outcome ?? begin(call)
  }
  const beginAhead = () => {
    for (; next < ahead.length && begun.length < parallelCalls && made < callsPerRequest; next += 1) {
      const call = ahead[next]
      if (call) begun.push({ call, outcome: begin(call) })
    }
  }
  return ({ calls, ahead: coming }) => {
    if (coming) {
      ahead = coming
      next = 0
      begun.length = 0
    }
    const known = begun.length === 0 ? 0 : calls.filter((call) => begun.some((other) => other.call === call)).length
    if (made + calls.length - known > callsPerRequest) return Promise.reject(tooManyCalls(callsPerRequest))
    const outcomes = calls.map(outcomeOf)
    beginAhead()
    return Promise.all(outcomes)
  }
}

function tooManyCalls(limit: number): ApiError {
  return new ApiError(
    'FAILED_PRECONDITION',
    `this request needs more v2 calls than limits.callsPerRequest (${limit}) allows; narrow its filter or raise the limit`,
  )
}
