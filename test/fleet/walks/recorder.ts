import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http2, { type Http2ServerRequest, type Http2ServerResponse, type ServerHttp2Session } from 'node:http2'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'

/** A key, its certificate, and the authorities of clients, which show none without. */
export interface Identity {
  readonly key: string
  readonly cert: string
  readonly ca?: string
}

/** A service of REST and gRPC over TLS that counts how often each request arrived. It is v1 and v2. */
export interface Recorder {
  readonly port: number
  /** How often a request arrived, by its id. */
  readonly arrived: ReadonlyMap<string, number>
  /** The names in the certificates of clients, in the order of their requests. */
  readonly peers: readonly (string | undefined)[]
  identify(identity: Identity): void
  /** Ends each connection with its next answer, as a service does that is about to close. */
  leave(): void
  /** Resolves when the last connection has ended. */
  close(): Promise<void>
}

/** Bytes before each message of gRPC. */
const PREFIX = 5

function framed(message: string): Buffer {
  const frame = Buffer.alloc(PREFIX)
  frame.writeUInt32BE(Buffer.byteLength(message), 1)
  return Buffer.concat([frame, Buffer.from(message)])
}

/** The message of a stream that asks for `count` messages, one each `everyMs`. */
export const streamOf = (id: string, count: number, everyMs: number) => `${id} ${count} ${everyMs}`

export async function startRecorder({ key, cert, ca }: Identity, host = '127.0.0.1', port = 0): Promise<Recorder> {
  const arrived = new Map<string, number>()
  const peers: (string | undefined)[] = []
  const sessions = new Set<ServerHttp2Session>()
  let isLeaving = false
  const secure = { key, cert, ...(ca !== undefined && { ca, requestCert: true, rejectUnauthorized: true }) }
  const server = http2.createSecureServer({ ...secure, allowHTTP1: true, ALPNProtocols: ['h2', 'http/1.1'] })
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    if (isLeaving) session.close()
  })
  server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
    const isGrpc = request.headers['content-type']?.startsWith('application/grpc') ?? false
    const count = (id: string) => {
      arrived.set(id, (arrived.get(id) ?? 0) + 1)
      peers.push(((isGrpc ? request.stream.session?.socket : request.socket) as TLSSocket | undefined)?.getPeerCertificate()?.subject?.CN)
    }
    response.on('error', () => {})
    if (isLeaving && !isGrpc) response.setHeader('connection', 'close')
    const answered = isGrpc ? answerCall(request, response, count) : answerRequest(request, response, count)
    answered.catch(() => void request.destroy())
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    arrived,
    peers,
    identify: (identity) => server.setSecureContext(identity),
    leave() {
      isLeaving = true
      for (const session of sessions) session.close()
    },
    close: () => new Promise((resolve) => void server.close(() => resolve())),
  }
}

async function answerRequest(request: Http2ServerRequest, response: Http2ServerResponse, count: (id: string) => void): Promise<void> {
  const body = await text(request)
  const { pathname, searchParams } = new URL(request.url, 'https://recorder')
  const json = (value: unknown) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(value))
  }
  if (request.headers['user-agent'] === 'crosswalk') return json({ response: 'pong' })
  const id: string = body === '' ? (searchParams.get('name') ?? searchParams.get('repo_id') ?? pathname) : JSON.parse(body).name
  count(id)
  const group = { uid: createHash('sha1').update(id).digest('hex'), name: id }
  if (pathname.includes('/v1/')) json({ items: [{ id }] })
  else json(request.method === 'GET' ? { groups: [group] } : group)
}

async function answerCall(request: Http2ServerRequest, response: Http2ServerResponse, count: (id: string) => void): Promise<void> {
  const message = (await text(request)).slice(PREFIX)
  const [id = '', messages, everyMs] = message.split(' ')
  count(id)
  response.writeHead(200, { 'content-type': 'application/grpc' })
  response.addTrailers({ 'grpc-status': '0' })
  for (let nth = 0; nth < Number(messages ?? 0); nth += 1) {
    response.write(framed(`${id} ${nth}`))
    await delay(Number(everyMs))
  }
  response.end(framed(message))
}
