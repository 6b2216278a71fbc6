import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { gatewayError } from '../status.ts'

/** Bytes of one message, the service's limit in both directions (semantics §4.3). */
const MESSAGE_LIMIT = 100 * 1024 * 1024

/** A flag byte and four bytes of length. */
const PREFIX = 5

const inflate = promisify(gunzip)
const deflate = promisify(gzip)

const refuse = (error: NodeJS.ErrnoException, limit: number): never =>
  error.code === 'ERR_BUFFER_TOO_LARGE'
    ? gatewayError('RESOURCE_EXHAUSTED', `grpc: message after decompression larger than max (${limit + 1} vs. ${limit})`)
    : gatewayError('INTERNAL', `grpc: failed to decompress the received message: ${error.message}`)

/** The bytes of the one frame of a unary request. Refuses a longer request before all of it is here. */
const collect = async (chunks: AsyncIterable<Buffer>, limit: number): Promise<Buffer> => {
  const all: Buffer[] = []
  let received = 0
  let length: number | undefined
  for await (const chunk of chunks) {
    all.push(chunk)
    received += chunk.length
    if (length === undefined && received >= PREFIX) length = Buffer.concat(all).readUInt32BE(1)
    if (length === undefined) continue
    if (length > limit) gatewayError('RESOURCE_EXHAUSTED', `grpc: received message larger than max (${length} vs. ${limit})`)
    if (received > PREFIX + length)
      gatewayError('INTERNAL', 'cardinality violation: received multiple request messages for non-client-streaming RPC')
  }
  if (received === 0) gatewayError('INTERNAL', 'cardinality violation: received no request message from non-client-streaming RPC')
  if (length === undefined || received < PREFIX + length) gatewayError('INTERNAL', 'unexpected EOF')
  return Buffer.concat(all)
}

/**
 * The one message of a request, inflated, with at most `limit` bytes. Refuses with the codes and texts of grpc-go (ASSUMPTIONS.md,
 * "gRPC").
 */
export const readFrame = async (
  chunks: AsyncIterable<Buffer>,
  encoding: string | undefined,
  limit: number = MESSAGE_LIMIT,
): Promise<Buffer> => {
  const frame = await collect(chunks, limit)
  const flag = frame[0]
  const message = frame.subarray(PREFIX)
  if (flag === 0) return message
  if (flag !== 1) return gatewayError('INTERNAL', `grpc: received unexpected payload format ${flag}`)
  if (encoding !== 'gzip') return gatewayError('INTERNAL', 'grpc: compressed flag set with identity or empty encoding')
  return inflate(message, { maxOutputLength: limit }).catch((error: NodeJS.ErrnoException) => refuse(error, limit))
}

/** A message behind its prefix, compressed if the request named an encoding. */
export const writeFrame = async (message: Uint8Array, encoding: string | undefined): Promise<Buffer> => {
  if (message.length > MESSAGE_LIMIT)
    gatewayError('RESOURCE_EXHAUSTED', `grpc: trying to send message larger than max (${message.length} vs. ${MESSAGE_LIMIT})`)
  const content = encoding === undefined ? message : await deflate(message)
  const prefix = Buffer.alloc(PREFIX)
  prefix[0] = encoding === undefined ? 0 : 1
  prefix.writeUInt32BE(content.length, 1)
  return Buffer.concat([prefix, content])
}
