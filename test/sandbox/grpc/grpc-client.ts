import { Client, credentials, Metadata, type ServiceError, type StatusObject } from '@grpc/grpc-js'
import protojson from 'protobufjs/ext/protojson.js'
import { afterAll } from 'vitest'
import { grpcApi } from '../../../src/sandbox/grpc/server.ts'

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
