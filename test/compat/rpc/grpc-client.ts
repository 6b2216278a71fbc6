import { Client as Channel, ChannelCredentials, Metadata, type ServiceError } from '@grpc/grpc-js'
import { type Detail, decodeMessage, encodeMessage, errorOf, okOf } from './answer.ts'
import type { Client } from './carry.ts'
import { wireTypes } from './wire-types.ts'

const OPTIONS = { 'grpc.max_receive_message_length': -1, 'grpc.enable_retries': 0, 'grpc.use_local_subchannel_pool': 1 }

/** Speaks gRPC by grpc-js, with messages by protobufjs. */
export function grpcClient(url: string, options = {}): Client {
  const channel = new Channel(new URL(url).host, ChannelCredentials.createInsecure(), { ...OPTIONS, ...options })
  return {
    call: ({ method: { path, input, output }, message, headers }, token, { timeoutMs, signal } = {}) =>
      new Promise((resolve) => {
        const metadata = new Metadata()
        for (const [name, value] of Object.entries(headers)) metadata.set(name, value)
        if (token !== undefined) metadata.set('authorization', `Bearer ${token}`)
        const encode = (value: typeof message) => Buffer.from(encodeMessage(input, value))
        const decode = (bytes: Buffer) => decodeMessage(output, bytes)
        const deadline = timeoutMs === undefined ? {} : { deadline: Date.now() + timeoutMs }
        const call = channel.makeUnaryRequest(path, encode, decode, message, metadata, deadline, (error, answer) =>
          resolve(error ? errorOf(error.code, error.details, detailsOf(error)) : okOf(output, answer ?? {})),
        )
        signal?.addEventListener('abort', () => call.cancel(), { once: true })
      }),
    close: () => channel.close(),
  }
}

/** Reads google.rpc.Status from the trailers (facts §15). */
function detailsOf({ metadata }: ServiceError): readonly Detail[] {
  const [bytes] = metadata.get('grpc-status-details-bin')
  if (!(bytes instanceof Buffer)) return []
  const { details = [] } = wireTypes.lookupType('google.rpc.Status').decode(bytes) as unknown as {
    details?: readonly { type_url: string; value: Uint8Array }[]
  }
  return details.map(({ type_url, value }) => ({ type: type_url.slice(type_url.lastIndexOf('/') + 1), value }))
}
