import { ApiError } from '../errors.ts'
import type { JsonObject } from '../tables/json.ts'
import type { Call } from '../tables/turn.ts'

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

/** Starts a call. If that throws, the call lands with the error. */
export function start(call: Call, send: Send, landing: CallLanding): void {
  try {
    send(call, landing)
  } catch (error) {
    landing.failed(error as Error)
  }
}

/** Returns the error of a request that needs more calls than it may make. */
export function tooManyCalls(limit: number): ApiError {
  return new ApiError(
    'FAILED_PRECONDITION',
    `this request needs more v2 calls than limits.callsPerRequest (${limit}) allows; narrow its filter or raise the limit`,
  )
}
