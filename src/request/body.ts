import type { ServerResponse } from 'node:http'
import { ApiError } from '../errors/api-error.ts'
import { askAgain } from '../errors/ask-again.ts'
import { createRoom, type Room } from '../limits/room.ts'
import type { Signal } from '../limits/signal.ts'
import { whenClosed } from '../listen/on-close.ts'

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

const NOTHING = Buffer.alloc(0)

/**
 * Pieces are joined as they arrive: each piece, if kept, would cost a hundred bytes of overhead.
 * `refused` is called when there was no room.
 */
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
    whenClosed(response, { over, next: undefined })
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
