import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { type OnClose, whenClosed } from '../serve/signals.ts'
import { closedCode } from './status/closed-code.ts'

/** The content types of gRPC, with the codec of their messages. */
const TYPE = /^application\/grpc(?:\+(proto|json))? *(?:;|$)/i

/** Reads the codec of a call from its content type; undefined if it is unknown. */
export function grpcCodec({ 'content-type': type = '' }: IncomingHttpHeaders): 'proto' | 'json' | undefined {
  const [known, codec = 'proto'] = TYPE.exec(type) ?? []
  return known === undefined ? undefined : (codec.toLowerCase() as 'proto' | 'json')
}

/**
 * The head and the trailers of an answer on a bare stream. It is a class because every call has one, and what a stream holds outlives it.
 */
export class GrpcHead implements OnClose {
  next: OnClose | undefined
  #trailers: OutgoingHttpHeaders
  readonly #stream: ServerHttp2Stream
  readonly #type: string
  #ended: (code: number) => void

  /** `ended` is called once, when the stream is closed, with the code that the client sees. */
  constructor(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ended: (code: number) => void) {
    this.next = undefined
    this.#trailers = NONE
    this.#stream = stream
    this.#type = headers['content-type'] ?? ''
    this.#ended = ended
    stream.on('error', ignore)
    whenClosed(stream, this)
  }

  over(): void {
    this.#ended(closedCode(this.#stream))
    this.#ended = ignore
    this.#trailers = NONE
  }

  /** Sends a head that messages follow, and completes it for that; `trailers` are sent after them. */
  begin(head: OutgoingHttpHeaders, trailers: OutgoingHttpHeaders): void {
    this.#trailers = trailers
    this.#stream.on('wantTrailers', () => this.#sendTrailers())
    head[':status'] = 200
    head['content-type'] = this.#type
    this.#stream.respond(head, BEFORE_MESSAGES)
  }

  /** Replaces the trailers. */
  trailers(trailers: OutgoingHttpHeaders): void {
    this.#trailers = trailers
  }

  /** Sends head and trailers in one block; no message follows. */
  whole(trailers: OutgoingHttpHeaders): void {
    this.#trailers = trailers
    this.#stream.respond({ ':status': 200, 'content-type': this.#type, ...ACCEPTED, ...trailers }, WHOLE)
  }

  /** Answers an unknown codec: a content type that HTTP does not take (gRPC over HTTP/2, Requests). */
  refuseType(): void {
    this.#stream.resume()
    this.#stream.respond({ ':status': 415, 'accept-post': TYPES }, WHOLE)
  }

  #sendTrailers(): void {
    try {
      this.#stream.sendTrailers(this.#trailers)
    } catch {
      this.#stream.close(constants.NGHTTP2_INTERNAL_ERROR)
    }
  }
}

const ignore = () => {}
const NONE = {}
const BEFORE_MESSAGES = { waitForTrailers: true, sendDate: false }
const WHOLE = { endStream: true, sendDate: false }
const ACCEPTED = { 'grpc-accept-encoding': 'identity,gzip' }
const TYPES = 'application/grpc, application/grpc+proto, application/grpc+json'
