import { constants, type IncomingHttpHeaders } from 'node:http2'
import type { Signal } from '../../serve/signals.ts'
import type { Service } from '../../serve/upstream/health.ts'
import { PREFIX } from '../../wire/framing/frame.ts'
import { brokenOff, tooLong, unreachable } from './failures.ts'
import type { Sent } from './session.ts'

/** Headers or trailers; `raw` has names and values in turn, and repeated names as often as they came. */
export interface ReceivedHeaders {
  readonly headers: IncomingHttpHeaders
  readonly raw: readonly string[]
}

/** An answer as it arrived. */
export interface GatheredAnswer {
  readonly head: ReceivedHeaders
  /** Undefined if the head was all. */
  readonly trailers: ReceivedHeaders | undefined
  readonly body: Buffer
}

interface GatherSettings {
  readonly service: Service
  /** The maximum size of the message in bytes. */
  readonly answerBytes: number
}

type Arrived = [headers: IncomingHttpHeaders, flags: number, raw: readonly string[]]

const { NGHTTP2_CANCEL, NGHTTP2_NO_ERROR } = constants

/** Collects an answer up to the end of its stream. A stream that is left is reset, so that the service stops as well. */
export function gather({ stream, mayBeDone }: Sent, signal: Signal, { service, answerBytes }: GatherSettings): Promise<GatheredAnswer> {
  return new Promise((resolve, reject) => {
    let head: ReceivedHeaders | undefined
    let trailers: ReceivedHeaders | undefined
    const pieces: Buffer[] = []
    let bytes = 0
    const leave = (reason: unknown) => {
      reject(reason)
      stream.close(NGHTTP2_CANCEL)
      stream.resume()
    }
    const stop = () => leave(signal.reason)
    signal.addEventListener('abort', stop)
    stream.on('error', () => {})
    stream.once('response', (...[headers, , raw]: Arrived) => {
      head = { headers, raw }
    })
    stream.once('trailers', (...[headers, , raw]: Arrived) => {
      trailers = { headers, raw }
    })
    stream.on('data', (piece: Buffer) => {
      bytes += piece.length
      if (bytes > answerBytes + PREFIX) leave(tooLong(service, answerBytes))
      else pieces.push(piece)
    })
    stream.once('close', () => {
      signal.removeEventListener('abort', stop)
      if (head && stream.rstCode === NGHTTP2_NO_ERROR) resolve({ head, trailers, body: Buffer.concat(pieces) })
      else reject(mayBeDone() ? brokenOff(service) : unreachable(service))
    })
  })
}
