import type { Room } from '../limits/room.ts'
import type { Signal } from '../limits/signal.ts'
import { type Closing, whenClosed } from '../relay/on-close.ts'

/** What bounds a body, and the errors for one that exceeds it. */
export interface BodyBounds {
  /** Maximum bytes of one body. */
  readonly most: number
  /** The bytes of all bodies together. They are given back when the answer ends. */
  readonly room: Room
  readonly tooLarge: () => Error
  readonly noRoom: () => Error
}

/** A request body that arrives: a request, or an HTTP/2 stream. */
interface Arriving {
  readonly readableEnded: boolean
  on(event: 'data', listener: (piece: Buffer) => void): unknown
  on(event: 'end' | 'error', listener: (error: Error) => void): unknown
}

const NOTHING = Buffer.alloc(0)

/**
 * Reads a whole body. Pieces are joined as they arrive: each piece, if kept, would cost a hundred bytes of overhead. `ending` is the
 * answer, or the stream. When `signal` fires, reading fails with its reason.
 */
export function gather(arriving: Arriving, ending: Closing, { most, room, tooLarge, noRoom }: BodyBounds, signal: Signal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
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
    whenClosed(ending, { over, next: undefined })
    const whole = () => {
      signal.removeEventListener('abort', give)
      resolve(body.subarray(0, bytes))
    }
    // A body without a byte may have ended before it is read. Its end is not told again.
    if (arriving.readableEnded) return whole()
    arriving.on('data', (piece) => {
      if (!wanted) return
      const end = bytes + piece.length
      if (end > most) return refuse(tooLarge())
      if (end > body.length) {
        const larger = Math.max(end, Math.min(2 * body.length, most))
        if (!room.take(larger - body.length)) return refuse(noRoom())
        const before = body
        body = Buffer.allocUnsafe(larger)
        before.copy(body, 0, 0, bytes)
      }
      piece.copy(body, bytes)
      bytes = end
    })
    arriving.on('end', whole)
    arriving.on('error', reject)
  })
}
