import type { IncomingHttpHeaders } from 'node:http'
import type { Agent, Dispatcher } from 'undici'
import { ApiError, fromTransport, unrelayable } from '../../errors.ts'
import { relayableGroups } from '../../heads.ts'
import { endToEnd } from '../heads.ts'
import { abortSignalOf, type Signal } from '../signals.ts'
import { type Carries, placeOf } from './exchange.ts'
import type { Service } from './health.ts'
import { parseHeaders } from './undici.ts'

/** A REST request as received, or as a call of another protocol became one. */
export interface RawRequest {
  readonly id: string
  readonly method: string
  /** Path and query, still encoded. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body?: Buffer | undefined
}

/** The head of a service's answer. */
interface RestHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[]>>
}

/** An answer of a service whose body has not been read. */
interface RestAnswer extends RestHead {
  readonly stream: AsyncIterable<Uint8Array>
}

interface AskRestSettings {
  readonly service: Service
  readonly pool: Agent
  /** The origin of the service, with an optional path prefix. */
  readonly base: string
  /** Milliseconds until the service must begin to answer; its body has no limit. */
  readonly answerMs: number
}

/** Sends a request to a service once. Rejects if no answer arrives, with what stopped it. */
export type AskRest = (request: RawRequest, signal: Signal) => Promise<RestAnswer>

export function createAskRest({ service, pool, ...place }: AskRestSettings): AskRest {
  const sent = createSent(place)
  return async (request, signal) => {
    try {
      const { statusCode, headers, body } = await pool.request({ ...sent(request), signal: abortSignalOf(signal) })
      try {
        return { ...headOf(service, statusCode, headers), stream: body }
      } catch (error) {
        body.on('error', () => {}).destroy()
        throw error
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : error
    }
  }
}

/** Returns a function that turns a request as received into the one that is sent to a service. */
function createSent({ base, answerMs }: Pick<AskRestSettings, 'base' | 'answerMs'>) {
  const { origin, prefix } = placeOf(base)
  return ({ id, method, url, headers, body }: RawRequest): Dispatcher.DispatchOptions & { readonly origin: string } => ({
    origin,
    path: prefix + url,
    method: method as 'GET',
    headers: requestHeaders(headers, id),
    body: body ?? null,
    headersTimeout: answerMs,
    bodyTimeout: 0,
  })
}

/** Returns the head of an answer in a form that clients of both HTTP versions can be given. Throws an ApiError if there is none. */
export function headOf(service: Service, status: number, headers: IncomingHttpHeaders): RestHead {
  const head = relayableGroups(status, endToEnd(headers))
  if ('problem' in head) throw unrelayable(service, head.problem)
  return { status, headers: head.headers }
}

/** Headers of our own connections to the service and to the client; they are not passed on. */
const OURS = new Set(['host', 'content-length', 'expect', 'x-crosswalk-mode'])

function requestHeaders(headers: IncomingHttpHeaders, id: string): Record<string, string | string[]> {
  const kept = endToEnd(headers)
  const sent: Record<string, string | string[]> = {}
  for (const name of Object.keys(kept)) {
    const value = kept[name]
    if (value !== undefined && !OURS.has(name)) sent[name] = value
  }
  sent['x-request-id'] = id
  return sent
}

/** Sends a request to the v1 service once. An ApiError says that no answer arrives, or that its body breaks off. */
export function createAskV1(settings: Omit<AskRestSettings, 'service'>): AskRest {
  const ask = createAskRest({ service: 'v1', ...settings })
  return async (request, signal) => {
    try {
      const { stream, ...head } = await ask(request, signal)
      return { ...head, stream: bodyOf(stream) }
    } catch (error) {
      throw fromV1Transport(error)
    }
  }
}

async function* bodyOf(stream: RestAnswer['stream']) {
  try {
    yield* stream
  } catch (error) {
    throw fromV1Transport(error)
  }
}

/** The error of a call to v1 without an answer. */
export function fromV1Transport(cause: unknown): ApiError {
  const { code, message, unsent } = fromTransport(cause, 'v1')
  const said = code === 'DEADLINE_EXCEEDED' ? 'the v1 service did not answer in time' : message
  return new ApiError(code, said, { cause, ...(unsent && { unsent }) })
}

/** An answer of v1 that no client gets. */
export interface ReadAnswer extends RestHead {
  /** `pieces` is undefined if the body has more bytes than were asked for. `broken`: the connection broke before its end. */
  readonly body: { readonly pieces: readonly Buffer[] | undefined; readonly broken: boolean }
  /** Bytes of the pieces. */
  readonly size: number
}

/** Sends a request to the v1 service once and reads at most `limit` bytes of its answer. Rejects with an ApiError if no answer arrives. */
export type ReadV1 = (request: RawRequest, limit: number, signal: Signal) => Promise<ReadAnswer>

/** Reads with a handler of its own: undici's `request` would add a stream and an abort signal to each. */
export function createReadV1({ pool, ...place }: Omit<AskRestSettings, 'service' | 'pool'> & { readonly pool: Carries }): ReadV1 {
  const sent = createSent(place)
  return (request, limit, signal) =>
    new Promise((landed, failed) => {
      if (signal.aborted) failed(fromV1Transport(signal.reason))
      else pool.dispatch(sent(request), new Reading({ limit, signal, landed, failed }))
    })
}

interface Waiting {
  readonly limit: number
  readonly signal: Signal
  readonly landed: (answer: ReadAnswer) => void
  readonly failed: (error: unknown) => void
}

/** Collects one answer. A connection keeps the handler of its last request; the handler therefore drops everything at the end. */
class Reading implements Dispatcher.DispatchHandler {
  #waiting: Waiting | undefined
  #abort: ((reason?: Error) => void) | undefined
  #head: RestHead | undefined
  #pieces: Buffer[] = []
  #size = 0
  readonly #limit: number

  constructor(waiting: Waiting) {
    this.#waiting = waiting
    this.#limit = waiting.limit
    waiting.signal.addEventListener('abort', this)
  }

  /** The signal fired. */
  handleEvent(): void {
    const reason = this.#waiting?.signal.reason as Error
    const abort = this.#abort
    this.onError(reason)
    abort?.(reason)
  }

  /** Called before anything is sent. */
  onConnect(abort: (reason?: Error) => void): void {
    if (this.#waiting) this.#abort = abort
    else abort()
  }

  onHeaders(status: number, headers: Buffer[]): boolean {
    // A head that is not the last one says nothing.
    if (status < 200) return true
    const named = parseHeaders(headers) as Record<string, string | string[]>
    this.#head = headOf('v1', status, named)
    if (Number(named['content-length'] ?? 0) > this.#limit) this.#tooLarge()
    return true
  }

  onData(piece: Buffer): boolean {
    this.#size += piece.length
    if (this.#size > this.#limit) this.#tooLarge()
    else this.#pieces.push(piece)
    return true
  }

  onComplete(): void {
    this.#end(this.#pieces)
  }

  onError(error: Error): void {
    if (this.#head) this.#end([], true)
    else this.#taken()?.failed(fromV1Transport(error))
  }

  #tooLarge(): void {
    const abort = this.#abort
    this.#end(undefined)
    abort?.(new Error('the answer is larger than what is read of it'))
  }

  #end(pieces: readonly Buffer[] | undefined, broken = false): void {
    const size = pieces && pieces.length > 0 ? this.#size : 0
    if (this.#head) this.#taken()?.landed({ ...this.#head, body: { pieces, broken }, size })
  }

  /** Returns who waits, once. */
  #taken(): Waiting | undefined {
    const waiting = this.#waiting
    waiting?.signal.removeEventListener('abort', this)
    this.#waiting = undefined
    this.#abort = undefined
    this.#pieces = []
    return waiting
  }
}
