import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import { Client, credentials, Metadata, type ServiceError, type StatusObject } from '@grpc/grpc-js'
import protojson from 'protobufjs/ext/protojson.js'
import { afterAll } from 'vitest'
import { grpcApi } from '../../src/sandbox/grpc/server.ts'

// biome-ignore lint/suspicious/noExplicitAny: tests look into many shapes of JSON, and an expectation on a wrong one fails by itself
type Json = any

export type GrpcOptions = {
  /** A bearer token: demo-owner by default, none if null. */
  readonly token?: string | null
  readonly metadata?: Readonly<Record<string, string>>
  /** Cancels the call. */
  readonly cancel?: Promise<unknown>
}

/** What a call received. */
export type GrpcGot = {
  readonly code: number
  readonly message: string
  readonly json: Json
  readonly bytes: Buffer
  readonly metadata: Metadata
}

const metadataOf = ({ token = 'demo-owner', metadata = {} }: GrpcOptions): Metadata => {
  const sent = new Metadata()
  if (token !== null) sent.set('authorization', `Bearer ${token}`)
  for (const [name, value] of Object.entries(metadata)) sent.set(name, value)
  return sent
}

/** A gRPC client of the sandbox at `url()`. Requests and replies are JSON. */
export const grpcClient = (url: () => string) => {
  let client: Client | undefined
  const open = (): Client => {
    client ??= new Client(new URL(url()).host, credentials.createInsecure(), { 'grpc.max_receive_message_length': -1 })
    return client
  }
  afterAll(() => client?.close())
  const bytesOf = (path: string, request: Json): Buffer => {
    const method = grpcApi().find(path)
    if (!method) throw new Error(`the facts know no ${path}`)
    return Buffer.from(method.input.encode(protojson.fromJson(method.input, request)).finish())
  }
  const call = (path: string, request: Json = {}, options: GrpcOptions = {}): Promise<GrpcGot> =>
    new Promise((resolve) => {
      let status: StatusObject | undefined
      const same = (bytes: Buffer): Buffer => bytes
      const done = (error: ServiceError | null, bytes: Buffer = Buffer.alloc(0)): void => {
        const { code, details: message, metadata } = error ?? status ?? { code: 0, details: '', metadata: new Metadata() }
        const output = grpcApi().find(path)?.output
        resolve({ code, message, bytes, metadata, json: error || !output ? undefined : protojson.toJson(output, output.decode(bytes)) })
      }
      const pending = open().makeUnaryRequest(path, same, same, bytesOf(path, request), metadataOf(options), done)
      pending.on('status', (got) => {
        status = got
      })
      void options.cancel?.then(() => pending.cancel())
    })
  return { call }
}

/** What a raw call received. `reset` is the code of RST_STREAM; 0 without one. */
export type RawGot = {
  readonly headers: IncomingHttpHeaders
  readonly trailers: IncomingHttpHeaders
  readonly body: Buffer
  readonly reset: number
}

/** A message behind its prefix. */
export const framed = (message: Uint8Array, flag = 0): Buffer => {
  const prefix = Buffer.alloc(5)
  prefix[0] = flag
  prefix.writeUInt32BE(message.length, 1)
  return Buffer.concat([prefix, message])
}

/** A bare HTTP/2 client of `url()`: it sends any bytes as a call, and may leave the request open. */
export const rawClient = (url: () => string) => {
  let session: ClientHttp2Session | undefined
  afterAll(() => session?.destroy())
  const begin = (path: string, body: Uint8Array, headers: Readonly<Record<string, string>>, isWhole: boolean): Promise<RawGot> => {
    // The sandbox may close first.
    session ??= connect(url()).on('error', () => {})
    const stream = session.request({
      ':method': 'POST',
      ':path': path,
      'content-type': 'application/grpc',
      authorization: 'Bearer demo-owner',
      ...headers,
    })
    if (isWhole) stream.end(body)
    else stream.write(body)
    return new Promise((resolve) => {
      const got = { headers: {}, trailers: {} }
      const chunks: Buffer[] = []
      stream.on('response', (head) => Object.assign(got, { headers: head }))
      stream.on('trailers', (trailers) => Object.assign(got, { trailers }))
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('error', () => {})
      stream.on('close', () => resolve({ ...got, body: Buffer.concat(chunks), reset: stream.rstCode ?? 0 }))
    })
  }
  type Send = (path: string, body: Uint8Array, headers?: Readonly<Record<string, string>>) => Promise<RawGot>
  const send: Send = (path, body, headers = {}) => begin(path, body, headers, true)
  const sendWithoutEnd: Send = (path, body, headers = {}) => begin(path, body, headers, false)
  return { send, sendWithoutEnd }
}
