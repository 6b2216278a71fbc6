import { EventEmitter, once } from 'node:events'
import {
  Metadata,
  type MethodDefinition,
  Server,
  ServerCredentials,
  type ServerDuplexStream,
  type ServerReadableStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  status,
} from '@grpc/grpc-js'

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
  /** Breaks every connection. */
  kill(): void
}

/** Starts a real gRPC server on a free port, or on the given one. */
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
  server.addService(SERVICE, handlers(echo))
  return echo
}

function handlers(echo: Echo) {
  return {
    Unary: unary(echo),
    Refuse: refuse,
    Hang: hang(echo),
    Down: down(echo),
    Break: breakOff,
    Up: up,
    Impatient: impatient,
    Both: both,
  }
}

type Unary = ServerUnaryCall<Buffer, Buffer>
type Reader = ServerReadableStream<Buffer, Buffer>
type Writer = ServerWritableStream<Buffer, Buffer>
type Duplex = ServerDuplexStream<Buffer, Buffer>
type Done = sendUnaryData<Buffer>

/** Answers with the message. The call's own metadata comes back before and after it. */
const unary = (echo: Echo) => (call: Unary, done: Done) => {
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
const down = (echo: Echo) => async (call: Writer) => {
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

/** Answers with the number of bytes received. */
async function up(call: Reader, done: Done): Promise<void> {
  let count = 0
  for await (const message of call) count += (message as Buffer).length
  done(null, Buffer.from(String(count)))
}

/** Answers after the first message, whatever follows it. */
function impatient(call: Reader, done: Done): void {
  call.once('data', () => done({ code: status.RESOURCE_EXHAUSTED, details: 'enough' }))
}

function both(call: Duplex): void {
  call.on('data', (message: Buffer) => call.write(message))
  call.on('end', () => call.end())
}
