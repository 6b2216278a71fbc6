import { constants, type IncomingHttpHeaders, type OutgoingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import { whenClosed } from '../listen/on-close.ts'
import { guarded } from '../relay/guard.ts'
import { closedCode } from './status/closed-code.ts'

/** The content types of gRPC, with the codec of their messages. */
const TYPE = /^application\/grpc(?:\+(proto|json))? *(?:;|$)/i

/** Reads the codec of a call from its content type; undefined if it is unknown. */
export function grpcCodec({ 'content-type': type = '' }: IncomingHttpHeaders): 'proto' | 'json' | undefined {
  const [known, codec = 'proto'] = TYPE.exec(type) ?? []
  return known === undefined ? undefined : (codec.toLowerCase() as 'proto' | 'json')
}

/** The head and the trailers of an answer on a bare stream. */
export interface GrpcHead {
  /** Sends a head that messages follow; `trailers` are sent after them. */
  begin(head: OutgoingHttpHeaders, trailers: OutgoingHttpHeaders): void
  /** Replaces the trailers. */
  trailers(trailers: OutgoingHttpHeaders): void
  /** Sends head and trailers in one block; no message follows. */
  whole(trailers: OutgoingHttpHeaders): void
  /** Answers an unknown codec: a content type that HTTP does not take (gRPC over HTTP/2, Requests). */
  refuseType(): void
}

/** `ended` is called once, when the stream is closed, with the code that the client sees. */
export function createGrpcHead(stream: ServerHttp2Stream, headers: IncomingHttpHeaders, ended: (code: number) => void): GrpcHead {
  let last: OutgoingHttpHeaders = {}
  const type = headers['content-type'] ?? ''
  stream.on('error', () => {})
  const sendTrailers = guarded(
    () => stream.sendTrailers(last),
    () => stream.close(constants.NGHTTP2_INTERNAL_ERROR),
  )
  whenClosed(stream, { over: () => ended(closedCode(stream.rstCode ?? 0, last['grpc-status'])), next: undefined })
  return {
    begin(head, trailers) {
      last = trailers
      stream.on('wantTrailers', sendTrailers)
      stream.respond({ ':status': 200, 'content-type': type, ...head }, BEFORE_MESSAGES)
    },
    trailers(trailers) {
      last = trailers
    },
    whole(trailers) {
      last = trailers
      stream.respond({ ':status': 200, 'content-type': type, ...ACCEPTED, ...trailers }, WHOLE)
    },
    refuseType() {
      stream.resume()
      stream.respond({ ':status': 415, 'accept-post': TYPES }, WHOLE)
    },
  }
}

const BEFORE_MESSAGES = { waitForTrailers: true, sendDate: false }
const WHOLE = { endStream: true, sendDate: false }
const ACCEPTED = { 'grpc-accept-encoding': 'identity,gzip' }
const TYPES = 'application/grpc, application/grpc+proto, application/grpc+json'
