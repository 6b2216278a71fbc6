import { constants, type Http2ServerRequest, type Http2ServerResponse } from 'node:http2'
import { breakOff } from '../../relay/cut.ts'

/** The carrier, the metrics and Node's own streams all listen for the end of an answer. They are more than the ten that Node expects. */
const LISTENERS = 20

/** Makes a request of HTTP/2 and its answer behave as those of HTTP/1.1 do, so that handlers know one form. */
export function asHttp1(request: Http2ServerRequest, response: Http2ServerResponse): void {
  speakHttp1(request)
  tellWholeFromCut(response)
  response.setMaxListeners(LISTENERS)
  if (request.method === 'HEAD') tellEndOfHead(response)
}

/** Normalises an HTTP/2 request to HTTP/1.1 headers (the host, and that a body follows), so that carriers handle one format. */
function speakHttp1({ headers, stream, authority }: Http2ServerRequest): void {
  headers.host ??= authority
  if (!stream.endAfterHeaders && headers['content-length'] === undefined) headers['transfer-encoding'] = 'chunked'
}

/**
 * Node reports a reset answer as finished, and ends a destroyed one as if it were complete.
 * A truncated answer must look truncated, to us and to the client. What comes after `destroy` is dropped.
 */
function tellWholeFromCut(response: Http2ServerResponse): void {
  const { stream } = response
  const isWhole = () => response.writableEnded && stream.rstCode === constants.NGHTTP2_NO_ERROR
  Object.defineProperty(response, 'writableFinished', { get: isWhole })
  const destroy = () => {
    Object.assign(response, { write: () => false, end: () => response })
    breakOff(stream)
    return response
  }
  Object.assign(response, { destroy })
}

/** Node does not report the end of an unanswered HEAD. */
function tellEndOfHead(response: Http2ServerResponse): void {
  let isTold = false
  response.once('close', () => {
    isTold = true
  })
  response.stream.once('close', () => setImmediate(() => !isTold && response.emit('close')))
}
