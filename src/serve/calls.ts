import { ApiError, asApiError } from '../errors.ts'
import type { JsonObject } from '../tables/json.ts'
import type { AskTurn, Call, CallReceiver, Outcome, OutcomeReceiver } from '../tables/turn.ts'

/** Makes one v2 call and delivers its JSON body or its error, possibly at once. If it throws, the call ends with that error. */
export type Send = (call: Call, receiver: CallReceiver) => void

/** Limits of the calls of one v1 request, named as in the configuration. */
export interface CallLimits {
  /** The maximum number of v2 calls for one request. */
  readonly callsPerRequest: number
  /** The maximum number of parallel v2 calls for one request. */
  readonly parallelCalls: number
}

/** Returns the error of a request that needs more calls than it may make. */
export function tooManyCalls(limit: number): ApiError {
  return new ApiError(
    'FAILED_PRECONDITION',
    `this request needs more v2 calls than limits.callsPerRequest (${limit}) allows; narrow the filter or raise the limit`,
  )
}

/**
 * Makes the calls of one operation within its limits; `made` calls were made before. Calls that a plan announces begin ahead, while an
 * earlier page is still being written. At most `parallelCalls` of them are begun and not yet asked for. A plan that waits for a slow client
 * therefore holds no more answers than that. It uses no promise: a call whose answer is kept ends at once, and a list has hundreds of those.
 */
export class ManyCalls {
  readonly #send: Send
  readonly #limits: CallLimits
  /** Announced calls that have begun and that the plan has not asked for. */
  readonly #early: Begun[] = []
  readonly #waiting: Begun[] = []
  #ahead: readonly Call[] = []
  #next = 0
  #made: number
  #underWay = 0
  #isStarting = false
  #wanted: readonly Begun[] = []
  #missing = 0
  #receiver: OutcomeReceiver | undefined

  constructor(send: Send, limits: CallLimits, made = 0) {
    this.#send = send
    this.#limits = limits
    this.#made = made
  }

  /**
   * Makes the calls of a turn. The receiver gets their outcomes once all are there, possibly at once. Calls beyond the limit are not made; the
   * plan gets that as their failure, because it may have written before.
   */
  sendCalls({ calls, ahead }: AskTurn, receiver: OutcomeReceiver): void {
    if (calls.length === 0 && !ahead) {
      setImmediate(() => receiver.settled([]))
      return
    }
    if (ahead) {
      this.#ahead = ahead
      this.#next = 0
      this.#early.length = 0
    }
    const { callsPerRequest } = this.#limits
    const known = this.#early.length === 0 ? 0 : calls.filter((call) => this.#early.some((other) => other.call === call)).length
    if (this.#made + calls.length - known > callsPerRequest) {
      const error = tooManyCalls(callsPerRequest)
      receiver.settled(calls.map(() => ({ ok: false, error })))
      return
    }
    this.#wanted = calls.map((call) => this.#begunOf(call))
    this.#beginAhead()
    this.#receiver = receiver
    this.#missing = 0
    for (const one of this.#wanted) if (one.want()) this.#missing += 1
    this.#tell()
  }

  /** Takes note of a call that has ended. */
  over(isWanted: boolean): void {
    this.#underWay -= 1
    this.#startWaiting()
    if (!isWanted) return
    this.#missing -= 1
    this.#tell()
  }

  #begunOf(call: Call): Begun {
    const at = this.#early.findIndex((other) => other.call === call)
    const [known] = at < 0 ? [] : this.#early.splice(at, 1)
    return known ?? this.#begin(call)
  }

  #begin(call: Call): Begun {
    this.#made += 1
    const begun = new Begun(call, this)
    this.#waiting.push(begun)
    this.#startWaiting()
    return begun
  }

  /** Starts what waits, in a loop: a call that ends at once does not grow the stack. */
  #startWaiting(): void {
    if (this.#isStarting) return
    this.#isStarting = true
    while (this.#underWay < this.#limits.parallelCalls) {
      const next = this.#waiting.shift()
      if (!next) break
      this.#underWay += 1
      try {
        this.#send(next.call, next)
      } catch (error) {
        next.failed(error as Error)
      }
    }
    this.#isStarting = false
  }

  #beginAhead(): void {
    const { callsPerRequest, parallelCalls } = this.#limits
    for (; this.#next < this.#ahead.length && this.#early.length < parallelCalls && this.#made < callsPerRequest; this.#next += 1) {
      const call = this.#ahead[this.#next]
      if (call) this.#early.push(this.#begin(call))
    }
  }

  #tell(): void {
    const receiver = this.#receiver
    if (this.#missing > 0 || !receiver) return
    this.#receiver = undefined
    receiver.settled(this.#wanted.map(({ outcome }) => outcome as Outcome))
  }
}

/** A call that has begun. A class, because some requests have hundreds. */
class Begun implements CallReceiver {
  readonly call: Call
  outcome: Outcome | undefined
  readonly #calls: ManyCalls
  #isWanted = false

  constructor(call: Call, calls: ManyCalls) {
    this.call = call
    this.outcome = undefined
    this.#calls = calls
  }

  /** Returns true if the plan, which now wants the outcome, must wait for it. */
  want(): boolean {
    this.#isWanted = this.outcome === undefined
    return this.#isWanted
  }

  received(body: JsonObject): void {
    this.#end({ ok: true, body })
  }

  failed(error: Error): void {
    this.#end({ ok: false, error: asApiError(error) })
  }

  #end(outcome: Outcome): void {
    this.outcome = outcome
    this.#calls.over(this.#isWanted)
  }
}
