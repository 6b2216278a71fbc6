import type { RequestListener, ServerResponse } from 'node:http'
import { constants, type ServerHttp2Stream } from 'node:http2'
import { ApiError } from '../../errors/api-error.ts'
import { type ClientTimes, type Cut, createTimeLimits, type TimeLimits } from '../../listen/time-limits.ts'
import { refuse } from '../refusal.ts'

const REQUEST_TIMEOUT = 408

/** The time limits of clients, in the words of HTTP. `cut` counts those that met one. */
export function createClientLimits(times: ClientTimes, cut: (why: Cut) => void): TimeLimits<TimedRequest, ServerResponse> {
  const late = () => {
    const message = `the request body did not come within limits.bodyTimeoutMs (${times.bodyMs})`
    return new ApiError('INVALID_ARGUMENT', message, { headers: { connection: 'close' } })
  }
  const ends = { late: (response: ServerResponse) => refuse(response, late(), REQUEST_TIMEOUT), close, cut }
  return createTimeLimits(times, ends, () => performance.now())
}

/** Every request has to keep them, also one that is refused. */
export function createTimed({ watch }: TimeLimits<TimedRequest, ServerResponse>, handler: RequestListener): RequestListener {
  return (request, response) => {
    watch(response, hasNoBody(request) ? undefined : request)
    handler(request, response)
  }
}

/** What is asked of a request; `stream` is there over HTTP/2. */
export interface TimedRequest {
  readonly complete: boolean
  /** Node forgets it when the connection is gone. */
  readonly socket: { destroy(): unknown } | null
  readonly stream?: ServerHttp2Stream
}

/** The client's half of a bare stream. */
export function timedStream(stream: ServerHttp2Stream): TimedRequest {
  return {
    stream,
    socket: stream,
    get complete() {
      return stream.readableEnded || stream.destroyed
    },
  }
}

/** Over HTTP/2 a request that nobody reads is never complete; that it has no body is known from its head. */
function hasNoBody({ stream }: TimedRequest): boolean {
  return stream?.endAfterHeaders ?? false
}

function close({ stream, socket }: TimedRequest): void {
  if (stream) stream.close(constants.NGHTTP2_NO_ERROR)
  else socket?.destroy()
}
