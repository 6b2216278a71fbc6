import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../errors/api-error.ts'

/** Knows requests that have come back. */
export interface LoopGuard {
  /** The error of a request that has passed through here before; every other is marked, in place, so that it is known when it does. */
  enter(headers: IncomingHttpHeaders): ApiError | undefined
}

/** The status of a request that goes round in circles (RFC 5842 §7.2). */
export const LOOP_DETECTED = 508

const HEADER = 'cdn-loop'
const NAME = 'crosswalk-'

/**
 * Marks requests with a word of its own, drawn by lot, in `CDN-Loop` (RFC 8586). `Via` would say the same, but services do other things by it:
 * nginx, for one, no longer compresses what it answers. Everything that carries a request to a service carries this header.
 */
export function createLoopGuard(): LoopGuard {
  const mark = NAME + randomBytes(9).toString('base64url')
  return {
    enter(headers) {
      const passed = headers[HEADER]
      if (passed?.includes(mark)) {
        return new ApiError('INTERNAL', 'this request has passed through here before: upstream.v2 or upstream.v1 leads back to this proxy')
      }
      headers[HEADER] = passed === undefined ? mark : `${passed}, ${mark}`
      return undefined
    },
  }
}

/** Whether a request has passed through a Crosswalk, this one or another. */
export function hasPassed({ [HEADER]: passed }: IncomingHttpHeaders): boolean {
  return passed?.includes(NAME) ?? false
}
