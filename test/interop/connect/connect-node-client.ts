import { type DescService, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { type CallOptions, ConnectError, createClient, type Transport } from '@connectrpc/connect'
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from '@connectrpc/connect-node'
import { readFacts } from '../../../src/grpc/facts.ts'
import { openRpc } from '../../../src/grpc/proto-files.ts'
import { type Detail, decodeMessage, encodeMessage, errorOf, okOf } from '../../compat/rpc/answer.ts'
import type { Client } from '../../compat/rpc/carry.ts'

/** Compresses every request. */
const GZIP = { sendCompression: compressionGzip, compressMinBytes: 0 }

type TransportOf = (baseUrl: string, sessionManager: Http2SessionManager) => Transport

/** The protocols of connect-node. */
export const TRANSPORTS: Readonly<Record<string, TransportOf>> = {
  'gRPC over HTTP/2': (baseUrl, sessionManager) => createGrpcTransport({ baseUrl, sessionManager, ...GZIP }),
  'gRPC-Web over HTTP/1.1': (baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: '1.1' }),
  'gRPC-Web over HTTP/2': (baseUrl, sessionManager) => createGrpcWebTransport({ baseUrl, httpVersion: '2', sessionManager, ...GZIP }),
  'Connect with JSON over HTTP/1.1': (baseUrl) => createConnectTransport({ baseUrl, httpVersion: '1.1', useBinaryFormat: false, ...GZIP }),
  'Connect over HTTP/2': (baseUrl, sessionManager) => createConnectTransport({ baseUrl, httpVersion: '2', sessionManager }),
}

const { registry } = openRpc([], readFacts())

type Ask = (message: Message, options: CallOptions) => Promise<Message>

/** Speaks a protocol by connect-node, with messages by protobuf-es. */
export function connectNodeClient(url: string, transportOf: TransportOf): Client {
  const sessions = new Http2SessionManager(url)
  const transport = transportOf(url, sessions)
  return {
    async call({ method: { path, input, output }, message, headers }, token, options = {}) {
      const [, service = '', name = ''] = path.split('/')
      const described = registry.getService(service) as DescService
      const method = described.methods.find((one) => one.name === name)
      if (!method) throw new Error(`there is no method ${path}`)
      const ask = (createClient(described, transport) as unknown as Record<string, Ask>)[method.localName] as Ask
      const metadata = { ...headers, ...(token !== undefined && { authorization: `Bearer ${token}` }) }
      try {
        const answer = await ask(fromBinary(method.input, encodeMessage(input, message)), { headers: metadata, ...options })
        return okOf(output, decodeMessage(output, toBinary(method.output, answer)))
      } catch (thrown) {
        const { code, rawMessage, details } = ConnectError.from(thrown)
        return errorOf(code, rawMessage, details as Detail[])
      }
    },
    close: () => sessions.abort(),
  }
}
