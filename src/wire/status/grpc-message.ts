/** Spaces at the ends are encoded as well, because no header may begin or end with one (RFC 9113 §8.2.1). */
const ENCODED = /[^\x20-\x7e]+|%|^ +| +$/g

/**
 * Encodes a message for the `grpc-message` trailer: `café: 5%` becomes `caf%C3%A9: 5%25`. Nothing but bytes outside 0x20 to 0x7E and the
 * percent sign are encoded (gRPC over HTTP/2, Responses). Clients that decode by `decodeURI` show any other encoded character as it came.
 */
export function grpcMessage(message: string): string {
  return message.replace(ENCODED, (piece) => Buffer.from(piece).toString('hex').toUpperCase().replace(/../g, '%$&'))
}
