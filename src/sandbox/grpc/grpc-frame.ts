import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { gatewayError } from '../status.ts'

/** Bytes of one message, the service's limit in both directions (semantics §4.3). */
export const MESSAGE_LIMIT = 100 * 1024 * 1024

/** A flag byte and four bytes of length. */
const PREFIX = 5

const inflate = promisify(gunzip)
const deflate = promisify(gzip)

const refuse = (error: NodeJS.ErrnoException): never =>
  error.code === 'ERR_BUFFER_TOO_LARGE'
    ? gatewayError('RESOURCE_EXHAUSTED', `grpc: message after decompression larger than max (${MESSAGE_LIMIT + 1} vs. ${MESSAGE_LIMIT})`)
    : gatewayError('INTERNAL', `grpc: failed to decompress the received message: ${error.message}`)

/** Refuses a message above the limit as soon as its length is known. `begun` are the first bytes of the request. */
export const checkLength = (begun: Buffer): void => {
  const length = begun.length < PREFIX ? 0 : begun.readUInt32BE(1)
  if (length > MESSAGE_LIMIT) gatewayError('RESOURCE_EXHAUSTED', `grpc: received message larger than max (${length} vs. ${MESSAGE_LIMIT})`)
}

/** The one message of a whole request, inflated. Refuses with the codes and texts of grpc-go (ASSUMPTIONS.md, "gRPC"). */
export const readFrame = async (body: Buffer, encoding: string | undefined): Promise<Buffer> => {
  if (body.length === 0) return gatewayError('INTERNAL', 'cardinality violation: received no request message from non-client-streaming RPC')
  if (body.length < PREFIX || body.length < PREFIX + body.readUInt32BE(1)) return gatewayError('INTERNAL', 'unexpected EOF')
  const end = PREFIX + body.readUInt32BE(1)
  if (body.length > end)
    return gatewayError('INTERNAL', 'cardinality violation: received multiple request messages for non-client-streaming RPC')
  const flag = body[0]!
  const message = body.subarray(PREFIX, end)
  if (flag === 0) return message
  if (flag !== 1) return gatewayError('INTERNAL', `grpc: received unexpected payload format ${flag}`)
  if (encoding !== 'gzip') return gatewayError('INTERNAL', 'grpc: compressed flag set with identity or empty encoding')
  return inflate(message, { maxOutputLength: MESSAGE_LIMIT }).catch(refuse)
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
