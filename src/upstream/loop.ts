import { randomBytes } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../errors.ts'

/** Detects requests that have come back. */
export interface LoopGuard {
  /** Returns the error of a request that has passed through here before. Marks every other request, in place, so that it is recognised. */
  enter(headers: IncomingHttpHeaders): ApiError | undefined
}

/** The status of a request in a loop (RFC 5842 §7.2). */
export const LOOP_DETECTED = 508

const HEADER = 'cdn-loop'
const NAME = 'crosswalk-'

/** Marks a request that Crosswalk sends for itself, so that no admin port obeys it. */
export const FROM_CROSSWALK = { [HEADER]: `${NAME}notify` } as const

/**
 * Marks requests with a random word of its own in `CDN-Loop` (RFC 8586).
 * `Via` has side effects: nginx, for example, stops compressing its answers. Every carrier of requests passes this header on.
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

/** True if a request has passed through any Crosswalk. */
export function hasPassed({ [HEADER]: passed }: IncomingHttpHeaders): boolean {
  return passed?.includes(NAME) ?? false
}
