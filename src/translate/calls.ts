import { ApiError } from '../errors/api-error.ts'
import { asApiError } from '../errors/to-v1.ts'
import type { JsonObject } from '../tables/json.ts'
import type { Call, Outcome, Step } from '../tables/plan/plan.ts'

/** Makes one v2 call: its JSON body, or an ApiError. */
export type Send = (call: Call) => Promise<JsonObject>

/** What the calls of one v1 request may cost; the names are those of the configuration. */
export interface CallLimits {
  /** v2 calls that one request may cost. */
  readonly callsPerRequest: number
  /** v2 calls of one request under way at the same time. */
  readonly parallelCalls: number
}

type Ask = Extract<Step, { kind: 'ask' }>

type MakeCalls = (ask: Ask) => Promise<readonly Outcome[]>

/** A call that was begun before it was asked for. */
interface Begun {
  readonly call: Call
  readonly outcome: Promise<Outcome>
}

/**
 * Makes the calls of one plan within its limits. Calls that the plan says it will ask for next are begun ahead, so that they are under way
 * while an earlier page is still being written; at most `parallelCalls` of them are begun and not yet asked for, so that a plan that stands
 * still (because the client does not read) holds no more than that many answers.
 */
export function createCalls(send: Send, limits: CallLimits): MakeCalls {
  let many: MakeCalls | undefined
  let made = 0
  return (ask) => {
    const [only] = ask.calls
    if (many || !only || ask.calls.length > 1 || ask.ahead) {
      many ??= createMany(send, limits, made)
      return many(ask)
    }
    if (made === limits.callsPerRequest) return Promise.reject(tooManyCalls(made))
    made += 1
    return alone(send, only)
  }
}

/** A call that nothing stands beside: most requests need no other. */
async function alone(send: Send, call: Call): Promise<readonly Outcome[]> {
  try {
    return [{ ok: true, body: await send(call) }]
  } catch (error) {
    return [{ ok: false, error: asApiError(error) }]
  }
}

/** Calls side by side and ahead, behind `made` that were made before. */
function createMany(send: Send, { callsPerRequest, parallelCalls }: CallLimits, before: number): MakeCalls {
  const begun: Begun[] = []
  const waiting: (() => void)[] = []
  let underWay = 0
  let ahead: readonly Call[] = []
  let next = 0
  let made = before

  const go = async (call: Call): Promise<Outcome> => {
    underWay += 1
    try {
      return { ok: true, body: await send(call) }
    } catch (error) {
      return { ok: false, error: asApiError(error) }
    } finally {
      underWay -= 1
      waiting.shift()?.()
    }
  }
  const begin = (call: Call): Promise<Outcome> => {
    made += 1
    return underWay < parallelCalls ? go(call) : new Promise((resolve) => waiting.push(() => resolve(go(call))))
  }
  const make = (call: Call): Promise<Outcome> => {
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
    const outcomes = calls.map(make)
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
