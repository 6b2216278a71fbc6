import protojson from 'protobufjs/ext/protojson.js'
import type { GrpcApi } from './grpc-method.ts'

/** A google.rpc.Status as REST writes it. */
export type GrpcStatus = { readonly code: number; readonly message: string; readonly details: readonly unknown[] }

/** `grpc-message` encodes what is not printable ASCII, and the percent sign. */
const encodeMessage = (message: string): string =>
  [...Buffer.from(message)]
    .map((byte) => (byte >= 0x20 && byte <= 0x7e && byte !== 0x25 ? String.fromCharCode(byte) : escaped(byte)))
    .join('')

const escaped = (byte: number): string => `%${byte.toString(16).toUpperCase().padStart(2, '0')}`

/** The trailers of a call that failed. `grpc-status-details-bin` is there only with details. */
export const trailersOf = ({ root }: GrpcApi, status: GrpcStatus): Readonly<Record<string, string>> => {
  const { code, message, details } = status
  const trailers = { 'grpc-status': String(code), 'grpc-message': encodeMessage(message) }
  if (details.length === 0) return trailers
  const type = root.lookupType('google.rpc.Status')
  const bytes = type.encode(protojson.fromJson(type, status)).finish()
  return {
    ...trailers,
    'grpc-status-details-bin': Buffer.from(bytes)
      .toString('base64')
      .replace(/(?<!=)=+$/, ''),
  }
}
