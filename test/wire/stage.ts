import { EventEmitter, once } from 'node:events'
import http2, { type ClientHttp2Session, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { WireHandler } from '../../src/grpc/wire/call.ts'
import type { WireSettings } from '../../src/grpc/wire/framing.ts'
import { createServeGrpc } from '../../src/grpc/wire/grpc.ts'
import { createRoom } from '../../src/serve/bounds.ts'
import { createDeadlines } from '../../src/serve/listen/times.ts'

/** The settings of a wire under test, and what was reported to them. */
export function stagedSettings(given: Partial<WireSettings> = {}): WireSettings & { readonly failures: unknown[] } {
  const failures: unknown[] = []
  const settings = { requestBytes: 1000, room: createRoom(100_000), deadlines: createDeadlines(60_000), ...given }
  return { ...settings, failures, failed: (error) => void failures.push(error) }
}

/** What a client of gRPC got. */
export interface GrpcAnswered {
  readonly head: IncomingHttpHeaders
  readonly trailers: IncomingHttpHeaders
  readonly body: Buffer
  /** The code and the text of the status, wherever it stands. */
  readonly code: number
  readonly message: string
}

export interface GrpcStage {
  readonly session: ClientHttp2Session
  readonly failures: readonly unknown[]
  /** Resolves to the code that the wire reports at the end of the next call. */
  ended(): Promise<number>
  handler: WireHandler
  /** Sends a body in these pieces and returns the answer. */
  call(pieces: Buffer | readonly Buffer[], headers?: OutgoingHttpHeaders): Promise<GrpcAnswered>
}

/** Starts a server of HTTP/2 that serves every stream by the wire, and a connection to it. It ends with the test. */
export async function startGrpc(given: Partial<WireSettings> = {}, create = createServeGrpc): Promise<GrpcStage> {
  const settings = stagedSettings(given)
  const serve = create(settings)
  const ends = new EventEmitter()
  const server = http2.createServer()
  const stage = { handler: echo } as { handler: WireHandler }
  server.on('stream', (stream, headers) =>
    serve(
      stream,
      headers,
      (call) => stage.handler(call),
      (code) => ends.emit('end', code),
    ),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  onTestFinished(() => {
    session.destroy()
    server.close()
  })
  const call = (pieces: Buffer | readonly Buffer[], headers: OutgoingHttpHeaders = {}) => callOn(session, [pieces].flat(), headers)
  const ended = async () => (await once(ends, 'end'))[0] as number
  return Object.assign(stage, { session, failures: settings.failures, ended, call })
}

/** Answers with the message. */
export const echo: WireHandler = ({ message }) => Promise.resolve({ message: [message] })

async function callOn(session: ClientHttp2Session, pieces: readonly Buffer[], headers: OutgoingHttpHeaders): Promise<GrpcAnswered> {
  const stream = session.request({
    ':method': 'POST',
    ':path': '/test.Echo/Unary',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
  const answered = { head: {} as IncomingHttpHeaders, trailers: {} as IncomingHttpHeaders }
  stream.on('response', (head) => Object.assign(answered, { head: plain(head) }))
  stream.on('trailers', (trailers) => Object.assign(answered, { trailers: plain(trailers) }))
  const body: Buffer[] = []
  stream.on('data', (piece: Buffer) => body.push(piece))
  const closed = once(stream, 'close')
  for (const piece of pieces) stream.write(piece)
  stream.end()
  await closed
  const { head, trailers } = answered
  const said = { ...head, ...trailers }
  const message = decodeURIComponent(String(said['grpc-message'] ?? ''))
  return { head, trailers, body: Buffer.concat(body), code: Number(said['grpc-status'] ?? Number.NaN), message }
}

/** Without the symbols that Node adds. */
const plain = (headers: IncomingHttpHeaders) => Object.fromEntries(Object.entries(headers))

/** Frames a message. */
export function frame(message: Buffer | string, flags = 0): Buffer {
  const bytes = Buffer.from(message)
  const prefix = Buffer.alloc(5, flags)
  prefix.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([prefix, bytes])
}
