import { framed, lengthOf, prefix } from '../framing/frame.ts'
import { gzipped } from '../framing/gzip.ts'
import { readFramed } from '../framing/read-framed.ts'
import { sendPieces } from '../framing/send-pieces.ts'
import { grpcTrailers } from '../status/grpc-trailers.ts'
import { grpcTimeout } from '../timeout.ts'
import type { WireReply } from '../wire-call.ts'
import { metadata } from '../wire-metadata.ts'
import type { WireSettings } from '../wire-settings.ts'
import { type PairCall, pathOf, type WebPair } from './pair.ts'

/** The content types of gRPC-Web. Those with `-text` carry base64, for browsers that cannot read bytes. */
const TYPE = /^application\/grpc-web(-text)?(?:\+(proto|json))? *(?:;|$)/i

/** The flag of the frame that holds the trailers. */
const TRAILERS = 0x80

/** Reads a request as a call of gRPC-Web; undefined if its content type is another. */
export function grpcWebCall({ request, response }: WebPair, settings: WireSettings): PairCall | undefined {
  const { headers } = request
  const [type, text, codec = 'proto'] = TYPE.exec(headers['content-type'] ?? '') ?? []
  if (type === undefined) return undefined
  return {
    call: { path: pathOf(request), protocol: 'grpc-web', codec: codec.toLowerCase() as 'proto' | 'json', headers, isGet: false },
    timeoutMs: () => grpcTimeout(headers['grpc-timeout'] as string | undefined),
    read: (signal) => readFramed({ body: request, ending: response, headers, isText: text !== undefined }, signal, settings),
    async write(reply) {
      const zipped = 'message' in reply && headers['grpc-encoding'] === 'gzip' ? await gzipped(reply.message) : undefined
      const pieces = 'message' in reply ? framed(zipped ?? reply.message, zipped !== undefined) : []
      const whole = [...pieces, ...trailersFrame(reply)]
      const body = text ? [Buffer.from(Buffer.concat(whole).toString('base64'))] : whole
      const coding = zipped && { 'grpc-encoding': 'gzip' }
      if (response.headersSent) return
      response.writeHead(200, {
        'content-type': headers['content-type'],
        ...metadata(reply.headers),
        ...coding,
        'content-length': lengthOf(body),
      })
      sendPieces(response, body)
    },
  }
}

/** Writes the trailers as the last frame: names in lower case, one line each (gRPC-Web, Message framing). */
function trailersFrame(reply: WireReply): readonly Uint8Array[] {
  const lines = Object.entries(grpcTrailers(reply)).flatMap(([name, value]) => [value].flat().map((one) => `${name}: ${one}\r\n`))
  const text = Buffer.from(lines.join(''), 'latin1')
  return [prefix(TRAILERS, text.length), text]
}
