import type { IncomingMessage } from 'node:http'
import { ApiError } from '../errors/api-error.ts'
import type { Signal } from '../upstream/signal.ts'

/**
 * The whole body of a request. Of more than `limit` bytes it is INVALID_ARGUMENT. When `signal` fires, reading ends with its reason.
 */
export async function readBytes(request: IncomingMessage, limit: number, signal: Signal): Promise<Buffer> {
  if (Number(request.headers['content-length'] ?? 0) > limit) throw tooLarge(limit)
  return gather(request, limit, signal)
}

function gather(request: IncomingMessage, limit: number, signal: Signal): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let bytes = 0
    const give = () => reject(signal.reason)
    if (signal.aborted) return give()
    signal.addEventListener('abort', give)
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > limit) reject(tooLarge(limit))
      else chunks.push(chunk)
    })
    request.once('end', () => {
      signal.removeEventListener('abort', give)
      resolve(Buffer.concat(chunks))
    })
    request.once('error', reject)
  })
}

/** A body as text. Whatever its Content-Type says (facts §12.5), it must be UTF-8; otherwise INVALID_ARGUMENT. */
export function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw new ApiError('INVALID_ARGUMENT', 'the request body is not UTF-8')
  }
}

function tooLarge(limit: number): ApiError {
  return new ApiError('INVALID_ARGUMENT', `the request body is larger than limits.requestBytes (${limit}) allows`, {
    headers: { connection: 'close' },
  })
}
