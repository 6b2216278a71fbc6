import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { ServerHttp2Stream } from 'node:http2'
import { gather } from '../../serve/request.ts'
import type { Closing, Signal } from '../../serve/signals.ts'
import { boundsOf, type WireSettings } from '../wire-settings.ts'
import { tooLarge } from './frame.ts'

/** A request, and the answer or stream that ends with it. */
export interface WireRequest {
  readonly body: IncomingMessage | ServerHttp2Stream
  readonly ending: Closing
  readonly headers: IncomingHttpHeaders
}

/** Reads a body of at most `requestBytes` and the bytes of its frame; RESOURCE_EXHAUSTED beyond. */
export function readBody(request: WireRequest, frameBytes: number, signal: Signal, settings: WireSettings): Promise<Buffer> {
  const { requestBytes, room, noRoom } = boundsOf(settings)
  const most = requestBytes + frameBytes
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > most) return refused(declared <= 2 * most ? discarded(request, signal) : undefined, requestBytes)
  return gather(request.body, request.ending, { most, room, tooLarge: () => tooLarge(requestBytes), noRoom }, signal)
}

async function refused(until: Promise<void> | undefined, requestBytes: number): Promise<never> {
  await until
  throw tooLarge(requestBytes)
}

/**
 * Reads a body that nobody wants. Clients of connect-go end their request when its refusal arrives. It is then shorter than declared, and
 * Node's HTTP/2 resets the stream before the refusal is whole.
 */
function discarded({ body }: WireRequest, signal: Signal): Promise<void> {
  return new Promise((resolve) => {
    body.once('end', resolve).once('error', () => resolve())
    signal.addEventListener('abort', () => resolve())
    body.resume()
  })
}
