import type { ServerResponse } from 'node:http'
import { ApiError } from '../errors/api-error.ts'
import { askAgain } from '../errors/ask-again.ts'
import { createRoom, type Room } from '../limits/room.ts'
import { whenOver } from '../listen/on-close.ts'
import type { Signal } from '../upstream/signal.ts'

/** Bounds of bodies; the names are those of the configuration. */
export interface BodyLimits {
  readonly requestBytes: number
  readonly bodiesBytes: number
}

/**
 * Reads the whole body of the request that a response answers. One of more than `requestBytes` is INVALID_ARGUMENT; together they take at
 * most `bodiesBytes` until they are answered, and what comes beyond that is UNAVAILABLE. When `signal` fires, reading ends with its reason.
 */
export type ReadBytes = (response: ServerResponse, signal: Signal) => Promise<Buffer>

const NOTHING = Buffer.alloc(0)

/** Pieces are put together as they come: each of them kept would take a hundred bytes beside its own. `refused` is told when there was no room. */
export function createReadBytes(limits: BodyLimits, refused: () => void): ReadBytes {
  const room = createRoom(limits.bodiesBytes, refused)
  return async (response, signal) => {
    if (Number(response.req.headers['content-length'] ?? 0) > limits.requestBytes) throw tooLarge(limits)
    return gather(response, limits, room, signal)
  }
}

function gather(response: ServerResponse, limits: BodyLimits, room: Room, signal: Signal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const request = response.req
    let body = NOTHING
    let bytes = 0
    let wanted = true
    const refuse = (error: Error) => {
      wanted = false
      reject(error)
    }
    const give = () => refuse(signal.reason as Error)
    const over = () => {
      wanted = false
      room.give(body.length)
    }
    if (signal.aborted) return give()
    signal.addEventListener('abort', give)
    whenOver(response, { over, next: undefined })
    request.on('data', (piece: Buffer) => {
      if (!wanted) return
      const end = bytes + piece.length
      if (end > limits.requestBytes) return refuse(tooLarge(limits))
      if (end > body.length) {
        const larger = Math.max(end, Math.min(2 * body.length, limits.requestBytes))
        if (!room.take(larger - body.length)) return refuse(noRoom(limits))
        body = Buffer.concat([body], larger)
      }
      piece.copy(body, bytes)
      bytes = end
    })
    request.once('end', () => {
      signal.removeEventListener('abort', give)
      resolve(body.subarray(0, bytes))
    })
    request.once('error', reject)
  })
}

/** A body as text. Whatever its Content-Type says (facts §12.5), it must be UTF-8; otherwise INVALID_ARGUMENT. */
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
