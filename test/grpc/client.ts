import { EventEmitter, once } from 'node:events'
import http2, { type IncomingHttpHeaders, type ServerHttp2Stream } from 'node:http2'
import {
  type CallOptions,
  ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type StatusObject,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'
import { closedLater, listening } from '../stage/upstream.ts'

/** Messages are bytes, so that no .proto is needed. */
const bytes = (value: Buffer) => value

function method(name: string, requestStream: boolean, responseStream: boolean): MethodDefinition<Buffer, Buffer> {
  const codec = { requestSerialize: bytes, requestDeserialize: bytes, responseSerialize: bytes, responseDeserialize: bytes }
  return { path: pathOf(name), requestStream, responseStream, ...codec }
}

/** Returns the full name of a method as in gRPC's `:path`. */
export const pathOf = (name: string) => `/test.Echo/${name}`

const SERVICE = {
  Unary: method('Unary', false, false),
  Refuse: method('Refuse', false, false),
  Hang: method('Hang', false, false),
  Down: method('Down', false, true),
  Break: method('Break', false, true),
  Up: method('Up', true, false),
  Impatient: method('Impatient', true, false),
  Both: method('Both', true, true),
}

export interface Echo {
  /** `127.0.0.1:port` */
  readonly address: string
  /** Emits `hang` and `cancelled` with the name of a method. */
  readonly events: EventEmitter
  /** The number of messages that Down wrote without waiting for its reader. */
  written: number
  /** The deadline of the last Unary call, in milliseconds since the epoch. */
  deadline: number
  /** Sends GOAWAY; calls in flight may finish. */
  retire(): Promise<void>
  kill(): void
}

/** Starts a real gRPC server on a free port, or on the given one. It ends with its test. */
export async function startEcho(
  port = 0,
  options: Record<string, number> = {},
  credentials = ServerCredentials.createInsecure(),
): Promise<Echo> {
  const server = new Server({ 'grpc.max_receive_message_length': -1, ...options })
  const events = new EventEmitter()
  const bound = await new Promise<number>((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, credentials, (error, taken) => (error ? reject(error) : resolve(taken)))
  })
  const echo: Echo = {
    address: `127.0.0.1:${bound}`,
    events,
    written: 0,
    deadline: 0,
    retire: () => new Promise((resolve) => server.tryShutdown(() => resolve())),
    kill: () => server.forceShutdown(),
  }
  server.addService(SERVICE, {
    Unary: unaryOfEcho(echo),
    Refuse: refuse,
    Hang: hang(echo),
    Down: downOfEcho(echo),
    Break: breakOff,
    Up: upOfEcho,
    Impatient: impatient,
    Both: bothOfEcho,
  })
  closedLater(async () => echo.kill())
  return echo
}

type Unary = ServerUnaryCall<Buffer, Buffer>
type Reader = ServerReadableStream<Buffer, Buffer>
type Writer = ServerWritableStream<Buffer, Buffer>
type Duplex = ServerDuplexStream<Buffer, Buffer>
type Done = sendUnaryData<Buffer>

/** Answers with the message. The call's own metadata comes back before and after it. */
const unaryOfEcho = (echo: Echo) => (call: Unary, done: Done) => {
  echo.deadline = Number(call.getDeadline())
  call.sendMetadata(own(call.metadata))
  done(null, call.request, own(call.metadata))
}

function own(metadata: Metadata): Metadata {
  const kept = new Metadata()
  for (const name of Object.keys(metadata.getMap())) {
    if (name.startsWith('x-')) for (const value of metadata.get(name)) kept.add(name, value)
  }
  return kept
}

/** Answers with trailers only: an error with details. */
function refuse(_: Unary, done: Done): void {
  const metadata = new Metadata()
  metadata.set('grpc-status-details-bin', Buffer.from([8, 5, 0, 255]))
  done({ code: status.NOT_FOUND, details: 'Straße nicht gefunden: 100 %', metadata })
}

const hang = (echo: Echo) => (call: Unary) => {
  call.once('cancelled', () => echo.events.emit('cancelled', 'Hang'))
  echo.events.emit('hang')
}

/** Answers with the requested number of messages of the requested size: `count size`. */
const downOfEcho = (echo: Echo) => async (call: Writer) => {
  const [count = 0, size = 0] = String(call.request).split(' ').map(Number)
  const cancelled = once(call, 'cancelled')
  cancelled.then(() => echo.events.emit('cancelled', 'Down'))
  echo.written = 0
  for (let at = 0; at < count && !call.cancelled; at += 1) {
    const goOn = call.write(Buffer.alloc(size, at))
    echo.written += 1
    if (!goOn) await Promise.race([once(call, 'drain'), cancelled])
  }
  call.end()
}

function breakOff(call: Writer): void {
  call.write(Buffer.from('one'))
  call.write(Buffer.from('two'))
  call.emit('error', { code: status.DATA_LOSS, details: 'no third' })
}

async function upOfEcho(call: Reader, done: Done): Promise<void> {
  let count = 0
  for await (const message of call) count += (message as Buffer).length
  done(null, Buffer.from(String(count)))
}

/** Answers after the first message, whatever follows it. */
function impatient(call: Reader, done: Done): void {
  call.once('data', () => done({ code: status.RESOURCE_EXHAUSTED, details: 'enough' }))
}

function bothOfEcho(call: Duplex): void {
  call.on('data', (message: Buffer) => call.write(message))
  call.on('end', () => call.end())
}

/** Calls are not silently retried, and clients share no connection. */
const OPTIONS = {
  'grpc.max_receive_message_length': -1,
  'grpc.enable_retries': 0,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.ssl_target_name_override': 'localhost',
}

/** Creates a client for `url`; with TLS, `authority` is the trusted certificate as PEM text. It is closed with its test. */
export function connect(url: string, authority?: string): Client {
  const secure = authority === undefined ? ChannelCredentials.createInsecure() : ChannelCredentials.createSsl(Buffer.from(authority))
  const client = new Client(new URL(url).host, secure, OPTIONS)
  closedLater(async () => client.close())
  return client
}

export interface Answer {
  readonly messages: readonly Buffer[]
  /** Metadata before the first message; undefined if there were only trailers. */
  readonly initial: Metadata | undefined
  readonly status: StatusObject
}

type Call = ClientUnaryCall | ClientReadableStream<Buffer> | ClientWritableStream<Buffer> | ClientDuplexStream<Buffer, Buffer>

/** Follows a call to its status; reads the messages of a stream as they arrive. */
function follow<C extends Call>(call: C, messages: Buffer[] = []) {
  let initial: Metadata | undefined
  const answer = new Promise<Answer>((resolve) => {
    const events: EventEmitter = call
    events.on('error', () => {})
    events.on('metadata', (metadata: Metadata) => {
      initial = metadata
    })
    events.on('status', (status: StatusObject) => setImmediate(() => resolve({ messages, initial, status })))
  })
  return { call, answer }
}

type Options = CallOptions & { readonly metadata?: Metadata }

/** Sends one message to a method of Echo and reads one. */
export function unary(client: Client, name: string, message: string | Buffer = '', options: Options = {}) {
  return callPath(client, pathOf(name), message, options)
}

/** The same for the method of a path. */
export function callPath(
  client: Client,
  path: string,
  message: string | Buffer = '',
  { metadata = new Metadata(), ...options }: Options = {},
) {
  const messages: Buffer[] = []
  const keep = (_: unknown, value?: Buffer) => void (value && messages.push(value))
  return follow(client.makeUnaryRequest(path, bytes, bytes, Buffer.from(message), metadata, options, keep), messages)
}

/** Sends one message; the stream down stays unread until `read` is called. */
export function down(client: Client, name: string, message = '') {
  return client.makeServerStreamRequest(pathOf(name), bytes, bytes, Buffer.from(message), new Metadata(), {})
}

export function up(client: Client, name: string) {
  const messages: Buffer[] = []
  return follow(
    client.makeClientStreamRequest(pathOf(name), bytes, bytes, (_, value) => void (value && messages.push(value))),
    messages,
  )
}

export function both(client: Client, name: string) {
  return client.makeBidiStreamRequest(pathOf(name), bytes, bytes, new Metadata(), {})
}

export function read<C extends ClientReadableStream<Buffer> | ClientDuplexStream<Buffer, Buffer>>(call: C): Promise<Answer> {
  const messages: Buffer[] = []
  const { answer } = follow(call, messages)
  call.on('data', (message: Buffer) => messages.push(message))
  return answer
}

/** Starts a service that speaks HTTP/2, and answers as told, right or wrong. `answer` takes each stream, whose errors are ignored. */
export function startBareService(answer: (stream: ServerHttp2Stream, headers: IncomingHttpHeaders) => void) {
  const server = http2.createServer()
  server.on('session', (session) => session.on('error', () => {}))
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    answer(stream, headers)
  })
  return listening(server)
}

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
