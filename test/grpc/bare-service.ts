import { once } from 'node:events'
import http2, { type IncomingHttpHeaders, type ServerHttp2Session, type ServerHttp2Stream } from 'node:http2'
import type { AddressInfo } from 'node:net'

/** A service that speaks HTTP/2 and answers as told, right or wrong. */
export interface BareService {
  readonly url: string
  close(): void
}

/** Starts it on a free port of this machine. `answer` takes each stream, whose errors are ignored. */
export async function startBareService(answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void): Promise<BareService> {
  const sessions = new Set<ServerHttp2Session>()
  const server = http2.createServer()
  server.on('session', (session) => {
    sessions.add(session)
    session.on('error', () => {})
  })
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    answer(stream, headers)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close() {
      for (const session of sessions) session.destroy()
      server.close()
    },
  }
}

/** Writes a message with its prefix. */
export function framed(message: string | Uint8Array, flags = 0): Buffer {
  const bytes = Buffer.from(message as string)
  const prefix = Buffer.alloc(5)
  prefix[0] = flags
  prefix.writeUInt32BE(bytes.length, 1)
  return Buffer.concat([prefix, bytes])
}

/** Answers with a body, and with trailers if there are any. */
export function answerWith(stream: ServerHttp2Stream, body: Uint8Array, trailers?: Readonly<Record<string, string>>, head = {}): void {
  stream.respond({ ':status': 200, 'content-type': 'application/grpc', ...head }, { waitForTrailers: trailers !== undefined })
  if (trailers) stream.once('wantTrailers', () => stream.sendTrailers(trailers))
  stream.end(body)
}
