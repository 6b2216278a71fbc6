import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { create, fromBinary, type Message, toBinary } from '@bufbuild/protobuf'
import { createServePair } from '../../../src/grpc/wire/connect.ts'
import { createServeGrpc } from '../../../src/grpc/wire/grpc.ts'
import { createRoom } from '../../../src/serve/bounds.ts'
import { type Certificate, createListener } from '../../../src/serve/listen/listener.ts'
import { createDeadlines } from '../../../src/serve/listen/times.ts'
import { messageNamed } from './messages.ts'
import { conform, SERVICE } from './service.ts'

// The runner of connectrpc/conformance starts this program: a request comes on standard input, its answer says where the server listens.

interface Wanted extends Message {
  readonly useTls: boolean
  readonly messageReceiveLimit: number
  readonly serverCreds?: { readonly cert: Uint8Array; readonly key: Uint8Array }
}

const MEBIBYTE = 2 ** 20
const LIMITS = { headerBytes: 65_536, headersTimeoutMs: 10_000, idleTimeoutMs: 60_000, maxStreams: 100, connections: 0 }

const wanted = fromBinary(messageNamed('ServerCompatRequest'), await firstMessage()) as Wanted
const failed = (error: unknown) => void process.stderr.write(`${(error as Error)?.stack ?? error}\n`)
const settings = {
  requestBytes: wanted.messageReceiveLimit || 4 * MEBIBYTE,
  room: createRoom(64 * MEBIBYTE),
  deadlines: createDeadlines(60_000),
  failed,
}
const grpc = createServeGrpc(settings)
const pair = createServePair(settings)

const request: RequestListener = (arrived, response) => {
  if (!arrived.url?.startsWith(SERVICE)) return void response.writeHead(404).end()
  pair({ request: arrived, response }, { handler: conform, isSafe: arrived.url.startsWith(`${SERVICE}IdempotentUnary`) })
}

const certificate: Certificate | undefined =
  wanted.useTls && wanted.serverCreds
    ? { cert: Buffer.from(wanted.serverCreds.cert).toString(), key: Buffer.from(wanted.serverCreds.key).toString() }
    : undefined
const listener = createListener((stream, headers) => grpc(stream, headers, conform), { certificate, ...LIMITS })
const server = listener.create({ request, expectation: request, failed, dropped() {} })
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const schema = messageNamed('ServerCompatResponse')
const pemCert = wanted.serverCreds?.cert ?? new Uint8Array()
write(toBinary(schema, create(schema, { host: '127.0.0.1', port, ...(certificate && { pemCert }) })))
process.once('SIGTERM', () => process.exit(0))

/** Reads a message after its length, four bytes. */
async function firstMessage(): Promise<Buffer> {
  let all = Buffer.alloc(0)
  for await (const piece of process.stdin) {
    all = Buffer.concat([all, piece as Buffer])
    if (all.length >= 4 && all.length >= 4 + all.readUInt32BE()) break
  }
  return all.subarray(4, 4 + all.readUInt32BE())
}

function write(bytes: Uint8Array): void {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(bytes.length)
  process.stdout.write(Buffer.concat([length, bytes]))
}
