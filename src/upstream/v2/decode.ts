import { promisify } from 'node:util'
import { brotliDecompress, unzip } from 'node:zlib'
import { ApiError, brokenAnswer } from '../../errors.ts'
import { type AnswerRoom, fill, takePiece } from './answer-room.ts'

type Decoder = (bytes: Buffer, options: { maxOutputLength: number }) => Promise<Buffer>

/** `unzip` reads gzip and deflate and tells them apart by their first bytes. */
const DECODERS: Readonly<Record<string, Decoder>> = {
  gzip: promisify(unzip) as Decoder,
  'x-gzip': promisify(unzip) as Decoder,
  deflate: promisify(unzip) as Decoder,
  br: promisify(brotliDecompress) as Decoder,
  identity: async (bytes) => bytes,
}

/** One coding is usual, two occur. Each costs as much as the answer, and a header has room for thousands. */
const MOST_CODINGS = 5

/**
 * Removes the content codings of an answer. We ask for none, but a load balancer or a cache may add one. At most `limit` bytes result, so
 * that a small answer cannot fill the memory. A larger result, too many codings, and an unknown or a broken coding are INTERNAL.
 */
export async function decode(bytes: Buffer, encoding: string, limit: number): Promise<Buffer> {
  const codings = encoding.split(',').map((name) => name.trim().toLowerCase())
  if (codings.length > MOST_CODINGS)
    throw new ApiError('INTERNAL', `the v2 service sent an answer in more than ${MOST_CODINGS} content codings`)
  let decoded = bytes
  for (const coding of codings.reverse()) {
    const decoder = Object.hasOwn(DECODERS, coding) ? DECODERS[coding] : undefined
    if (!decoder) throw new ApiError('INTERNAL', `the v2 service sent an answer in the unknown content coding ${JSON.stringify(coding)}`)
    decoded = await undone(decoder, decoded, limit)
  }
  return decoded
}

async function undone(decoder: Decoder, bytes: Buffer, limit: number): Promise<Buffer> {
  try {
    return await decoder(bytes, { maxOutputLength: limit })
  } catch (error) {
    throw isBeyondOutput(error) ? tooLarge(limit, error) : brokenAnswer(error)
  }
}

export function tooLarge(limit: number, cause?: unknown): ApiError {
  return new ApiError('INTERNAL', `the v2 service sent an answer of more than limits.answerBytes (${limit})`, { cause })
}

interface Bounds {
  readonly answerBytes: number
  readonly room?: AnswerRoom | undefined
}

/** Decodes an answer whose bytes were taken from the room. Its content may be a thousand times as long, and needs room too. */
export async function decodeWithin({ room, answerBytes }: Bounds, bytes: Buffer, encoding: string): Promise<Buffer> {
  if (!room) return decode(bytes, encoding, answerBytes)
  const most = Math.min(answerBytes, bytes.length + Math.max(0, room.left))
  const decoded = await decode(bytes, encoding, most).catch((error) => {
    if (isBeyondOutput(error.cause)) fill(room)
    throw error
  })
  if (!takePiece(room, decoded, bytes.length)) throw tooLarge(answerBytes)
  return decoded
}

function isBeyondOutput(error: unknown): boolean {
  return (error as { code?: string } | undefined)?.code === 'ERR_BUFFER_TOO_LARGE'
}

export function lengthOf(headers: readonly Buffer[]): number | undefined {
  const text = headerOf(headers, 'content-length')
  return text === undefined ? undefined : Number(text)
}

/** Names and values alternate. A repeated header is one list (RFC 9110 §5.3). */
export function headerOf(headers: readonly Buffer[], wanted: 'content-encoding' | 'content-length'): string | undefined {
  let found: string | undefined
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]
    if (name?.length !== wanted.length || name.toString('latin1').toLowerCase() !== wanted) continue
    const value = headers[at + 1]?.toString('latin1')
    found = found === undefined ? value : `${found},${value}`
  }
  return found
}
