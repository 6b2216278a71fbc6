import { ApiError } from '../../errors.ts'
import { tooLarge } from '../framing/frame.ts'
import { type Inflated, inflated } from '../framing/gzip.ts'
import { connectTimeout } from '../timeout.ts'
import { boundsOf, type WireSettings } from '../wire-settings.ts'
import { checkVersion, codingOf, connectWrite, malformed, takesGzip } from './connect.ts'
import { type PairCall, pathOf, type WebPair } from './pair.ts'

/**
 * Reads a GET as a unary call of Connect, whose message stands in the query: `?connect=v1&encoding=json&message=%7B%7D`.
 * It is undefined if the query names no codec that is known.
 */
export function connectGetCall({ request, response }: WebPair, settings: WireSettings): PairCall | undefined {
  const { headers, url = '' } = request
  const query = new URLSearchParams(url.slice(pathOf(request).length))
  const codec = query.get('encoding')
  if (codec !== 'proto' && codec !== 'json') return undefined
  const compression = query.get('compression') ?? undefined
  const read = async (): Promise<Inflated> => {
    checkVersion(query.get('connect')?.replace(/^v/, ''))
    const coding = codingOf(compression)
    const message = messageIn(query)
    if (message.length > settings.requestBytes) throw tooLarge(settings.requestBytes)
    return coding === 'gzip' ? inflated(message, boundsOf(settings), malformed) : { message, release() {} }
  }
  return {
    call: { path: pathOf(request), protocol: 'connect', codec, headers, isGet: true },
    timeoutMs: () => connectTimeout(headers['connect-timeout-ms'] as string | undefined),
    read,
    write: connectWrite(response, `application/${codec}`, compression === 'gzip' && takesGzip(headers)),
  }
}

/** Base64 is that of URLs or of mail, with or without padding. */
function messageIn(query: URLSearchParams): Buffer {
  const text = query.get('message')
  if (text === null) throw new ApiError('INVALID_ARGUMENT', 'the query has no message')
  if (query.get('base64') !== '1') return Buffer.from(text)
  // A plus sign in a query is a space.
  const written = text.replaceAll(' ', '+')
  if (!/^[\w+/-]*={0,2}$/.test(written)) throw new ApiError('INVALID_ARGUMENT', 'the message in the query is not base64')
  return Buffer.from(written, 'base64url')
}
