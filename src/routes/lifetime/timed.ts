import type { RequestListener, ServerResponse } from 'node:http'
import { constants, type ServerHttp2Stream } from 'node:http2'
import { ApiError } from '../../errors.ts'
import { type ClientTimes, type Cut, createTimeLimits, type TimeLimits } from '../../listen/times/time-limits.ts'
import { breakOff } from '../../relay/cut.ts'
import { refuse } from '../refusal.ts'

const REQUEST_TIMEOUT = 408

/** The time limits of clients, applied to HTTP. `cut` counts clients that exceeded one. */
export function createClientLimits(times: ClientTimes, cut: (why: Cut) => void): TimeLimits<TimedRequest, ServerResponse> {
  const late = () => {
    const message = `the request body did not come within limits.bodyTimeoutMs (${times.bodyMs})`
    return new ApiError('INVALID_ARGUMENT', message, { headers: { connection: 'close' } })
  }
  const ends = { late: (response: ServerResponse) => refuse(response, late(), REQUEST_TIMEOUT), close, breakOff: breakOffAnswer, cut }
  return createTimeLimits(times, ends, () => performance.now())
}

/** Applies the limits to every request, even a refused one. */
export function createTimed({ watch }: TimeLimits<TimedRequest, ServerResponse>, handler: RequestListener): RequestListener {
  return (request, response) => {
    watch(response, hasNoBody(request) ? undefined : request)
    handler(request, response)
  }
}

/** The parts of a request that the limits use; `stream` exists over HTTP/2. */
export interface TimedRequest {
  readonly complete: boolean
  /** Node sets it to null when the connection is gone. */
  readonly socket: { destroy(): unknown } | null
  readonly stream?: ServerHttp2Stream
}

/** The client's half of a bare stream. It is a class because every call has one. */
export class TimedStream implements TimedRequest {
  readonly stream: ServerHttp2Stream
  readonly socket: ServerHttp2Stream

  constructor(stream: ServerHttp2Stream) {
    this.stream = stream
    this.socket = stream
  }

  get complete(): boolean {
    return this.stream.readableEnded || this.stream.destroyed
  }
}

/** True if the head says that there is no body. An unread HTTP/2 request never completes by itself. */
function hasNoBody({ stream }: TimedRequest): boolean {
  return stream?.endAfterHeaders ?? false
}

function breakOffAnswer(response: ServerResponse | ServerHttp2Stream): void {
  if ('rstCode' in response) breakOff(response)
  else response.destroy()
}

function close({ stream, socket }: TimedRequest): void {
  if (stream) stream.close(constants.NGHTTP2_NO_ERROR)
  else socket?.destroy()
}
