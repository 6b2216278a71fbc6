import type { IncomingHttpHeaders } from 'node:http'
import { ApiError } from '../../errors.ts'
import type { Signal } from '../../serve/signals.ts'
import { lengthOf } from '../framing/frame.ts'
import { gzipped, type Inflated, inflated } from '../framing/gzip.ts'
import { readBody } from '../framing/read-body.ts'
import { sendPieces } from '../framing/send-pieces.ts'
import { connectTimeout } from '../timeout.ts'
import type { WireReply } from '../wire-call.ts'
import { metadata } from '../wire-metadata.ts'
import { boundsOf, type WireSettings } from '../wire-settings.ts'
import { connectError } from './connect-error.ts'
import { type PairCall, pathOf, type WebPair } from './pair.ts'

/** The content types of unary calls of Connect. */
const TYPE = /^application\/(proto|json) *(?:; *charset="?utf-8"? *)?$/i

/** Reads a POST as a unary call of Connect; undefined if its content type is another. */
export function connectCall({ request, response }: WebPair, settings: WireSettings): PairCall | undefined {
  const { headers } = request
  const codec = TYPE.exec(headers['content-type'] ?? '')?.[1]?.toLowerCase() as 'proto' | 'json' | undefined
  if (codec === undefined) return undefined
  const read = async (signal: Signal): Promise<Inflated> => {
    checkVersion(headers['connect-protocol-version'])
    const coding = codingOf(headers['content-encoding'])
    const message = await readBody({ body: request, ending: response, headers }, 0, signal, settings)
    return coding === 'gzip' ? inflated(message, boundsOf(settings), malformed) : { message, release() {} }
  }
  return {
    call: { path: pathOf(request), protocol: 'connect', codec, headers, isGet: false },
    timeoutMs: () => connectTimeout(headers['connect-timeout-ms'] as string | undefined),
    read,
    write: connectWrite(response, `application/${codec}`, headers['content-encoding'] === 'gzip' && takesGzip(headers)),
  }
}

/** Only version 1 is there. A client need not say it. */
export function checkVersion(version: string | readonly string[] | undefined): void {
  if (version !== undefined && version !== '1') throw new ApiError('INVALID_ARGUMENT', 'the version of Connect is 1')
}

/** Reads the name of a compression. An unknown one is UNIMPLEMENTED. */
export function codingOf(coding = 'identity'): 'gzip' | 'identity' {
  if (coding !== 'gzip' && coding !== 'identity') throw new ApiError('UNIMPLEMENTED', 'the compression is none of gzip and identity')
  return coding
}

export function malformed(cause: unknown): ApiError {
  return new ApiError('INVALID_ARGUMENT', 'the message cannot be decompressed', { cause })
}

/** True if a client takes gzip. */
export function takesGzip({ 'accept-encoding': accepted = '' }: IncomingHttpHeaders): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|$)/i.test(String(accepted))
}

/** Returns what sends a reply: its message as it is, or an error as JSON. Trailers are headers with a prefix. */
export function connectWrite(response: WebPair['response'], type: string, isCompressed: boolean): PairCall['write'] {
  return async (reply: WireReply) => {
    const zipped = 'message' in reply && isCompressed ? await gzipped(reply.message) : undefined
    if (response.headersSent) return
    const error = 'status' in reply ? connectError(reply.status) : undefined
    const pieces = error ? [Buffer.from(error.text)] : (zipped ?? ('message' in reply ? reply.message : []))
    const trailers = Object.entries(metadata(reply.trailers)).map(([name, value]) => [`trailer-${name}`, value])
    response.writeHead(error?.status ?? 200, {
      ...metadata(reply.headers),
      ...Object.fromEntries(trailers),
      'content-type': error ? 'application/json' : type,
      ...(zipped && { 'content-encoding': 'gzip' }),
      'content-length': lengthOf(pieces),
    })
    sendPieces(response, pieces)
  }
}
