import { type ApiError, askAgain } from '../errors.ts'
import type { Room } from '../serve/bounds.ts'
import type { Deadlines } from '../serve/listen/times.ts'
import type { InflationBounds } from './framing/gzip.ts'

/** What all calls of the wire share. */
export interface WireSettings {
  /** Maximum bytes of a request message, as it came and inflated. */
  readonly requestBytes: number
  /** The bytes of all messages together until they are answered. */
  readonly room: Room
  /** Watches how long each call takes. */
  readonly deadlines: Deadlines
  /** Takes an exception of a handler that is no ApiError. */
  failed(error: unknown): void
}

/** Bounds of a message, with the error if there is no room for it. */
export function boundsOf({ requestBytes, room }: Pick<WireSettings, 'requestBytes' | 'room'>): InflationBounds {
  return { requestBytes, room, noRoom }
}

function noRoom(): ApiError {
  return askAgain('UNAVAILABLE', 'the messages that are here take more than limits.bodiesBytes allows')
}
