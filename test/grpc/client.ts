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

/** Calls are not silently retried, and clients share no connection. */
const OPTIONS = {
  'grpc.max_receive_message_length': -1,
  'grpc.enable_retries': 0,
  'grpc.use_local_subchannel_pool': 1,
  'grpc.ssl_target_name_override': 'localhost',
}

/** Creates a client for `url`; with TLS, `authority` is the trusted certificate as PEM text. */
export function connect(url: string, authority?: string): Client {
  const secure = authority === undefined ? ChannelCredentials.createInsecure() : ChannelCredentials.createSsl(Buffer.from(authority))
  return new Client(new URL(url).host, secure, OPTIONS)
}

/** The result of a call. */
export interface Answer {
  readonly messages: readonly Buffer[]
  /** Metadata before the first message; undefined if there were only trailers. */
  readonly initial: Metadata | undefined
  readonly status: StatusObject
}

type Call = ClientUnaryCall | ClientReadableStream<Buffer> | ClientWritableStream<Buffer> | ClientDuplexStream<Buffer, Buffer>

interface Begun<C extends Call> {
  readonly call: C
  readonly answer: Promise<Answer>
}

/** Follows a call to its status; reads the messages of a stream as they arrive. */
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

/** Opens a stream up with one message down. */
export function up(client: Client, name: string) {
  const messages: Buffer[] = []
  return follow(
    client.makeClientStreamRequest(pathOf(name), bytes, bytes, (_, value) => void (value && messages.push(value))),
    messages,
  )
}

/** Opens a stream both ways. */
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
