import type { ServerResponse } from 'node:http'
import { ApiError, askAgain } from '../errors.ts'
import type { Room } from '../limits/room.ts'
import type { Signal } from '../limits/signal.ts'
import { gather } from '../listen/gather.ts'

/** Limits of request bodies, named as in the configuration. */
export interface BodyLimits {
  readonly requestBytes: number
  readonly bodiesBytes: number
}

/**
 * Reads the whole body of the request that a response answers. A body over `requestBytes` is INVALID_ARGUMENT. All bodies together take at
 * most `bodiesBytes` until they are answered; a body beyond that is UNAVAILABLE. When `signal` fires, reading fails with its reason.
 */
export type ReadBytes = (response: ServerResponse, signal: Signal) => Promise<Buffer>

/** `room` has the `bodiesBytes` that all bodies share. */
export function createReadBytes(limits: BodyLimits, room: Room): ReadBytes {
  const bounds = { most: limits.requestBytes, room, tooLarge: () => tooLarge(limits), noRoom: () => noRoom(limits) }
  return async (response, signal) => {
    if (Number(response.req.headers['content-length'] ?? 0) > limits.requestBytes) throw tooLarge(limits)
    return gather(response.req, response, bounds, signal)
  }
}

/** Decodes a body, which must be UTF-8 whatever its Content-Type says (facts §12.5). Otherwise INVALID_ARGUMENT. */
export function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ApiError('INVALID_ARGUMENT', 'the request body is not UTF-8')
  }
}

const CLOSE = { connection: 'close' }

function tooLarge({ requestBytes }: BodyLimits): ApiError {
  return new ApiError('INVALID_ARGUMENT', `the request body is larger than limits.requestBytes (${requestBytes}) allows`, {
    headers: CLOSE,
  })
}

function noRoom({ bodiesBytes }: BodyLimits): ApiError {
  return askAgain('UNAVAILABLE', `the request bodies that are here take more than limits.bodiesBytes (${bodiesBytes})`, { headers: CLOSE })
}
