import type { EventEmitter } from 'node:events'
import {
  type CallOptions,
  ChannelCredentials,
  Client,
  type ClientDuplexStream,
  type ClientReadableStream,
  type ClientUnaryCall,
  type ClientWritableStream,
  Metadata,
  type StatusObject,
} from '@grpc/grpc-js'
import { pathOf } from './echo.ts'

const bytes = (value: Buffer) => value

/** Nothing is tried again behind the test's back, and clients share no connection. */
const OPTIONS = {
  'grpc.max_receive_message_length': -1,
  'grpc.enable_retries': 0,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.ssl_target_name_override': 'localhost',
}

/** A client for `url`; `authority` is the PEM text of the certificate to trust when that is TLS. */
export function connect(url: string, authority?: string): Client {
  const secure = authority === undefined ? ChannelCredentials.createInsecure() : ChannelCredentials.createSsl(Buffer.from(authority))
  return new Client(new URL(url).host, secure, OPTIONS)
}

/** What a call brought. */
export interface Answer {
  readonly messages: readonly Buffer[]
  /** Metadata before the first message; undefined when there were trailers alone. */
  readonly initial: Metadata | undefined
  readonly status: StatusObject
}

type Call = ClientUnaryCall | ClientReadableStream<Buffer> | ClientWritableStream<Buffer> | ClientDuplexStream<Buffer, Buffer>

interface Begun<C extends Call> {
  readonly call: C
  readonly answer: Promise<Answer>
}

/** Follows a call to its status; the messages of a stream are read as they come. */
function follow<C extends Call>(call: C, messages: Buffer[] = []): Begun<C> {
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

/** One message up, one down. */
export function unary(
  client: Client,
  name: string,
  message: string | Buffer = '',
  { metadata = new Metadata(), ...options }: Options = {},
) {
  const messages: Buffer[] = []
  const keep = (_: unknown, value?: Buffer) => void (value && messages.push(value))
  return follow(client.makeUnaryRequest(pathOf(name), bytes, bytes, Buffer.from(message), metadata, options, keep), messages)
}

/** One message up, a stream down; nobody reads it until `read` is called. */
export function down(client: Client, name: string, message = '') {
  return client.makeServerStreamRequest(pathOf(name), bytes, bytes, Buffer.from(message), new Metadata(), {})
}

/** A stream up, one message down. */
export function up(client: Client, name: string) {
  const messages: Buffer[] = []
  return follow(
    client.makeClientStreamRequest(pathOf(name), bytes, bytes, (_, value) => void (value && messages.push(value))),
    messages,
  )
}

/** A stream both ways. */
export function both(client: Client, name: string) {
  return client.makeBidiStreamRequest(pathOf(name), bytes, bytes, new Metadata(), {})
}

/** Reads a stream to its end. */
export function read<C extends ClientReadableStream<Buffer> | ClientDuplexStream<Buffer, Buffer>>(call: C): Promise<Answer> {
  const messages: Buffer[] = []
  const { answer } = follow(call, messages)
  call.on('data', (message: Buffer) => messages.push(message))
  return answer
}
