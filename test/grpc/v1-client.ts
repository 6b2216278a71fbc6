import { type Client, Metadata, type StatusObject } from '@grpc/grpc-js'
import { decodeMessage, encodeMessage } from '../contract/rpc/call.ts'
import { type Json, methods } from '../contract/rpc/protojson.ts'
import { connect } from './client.ts'

export interface Called {
  readonly code: number
  readonly text: string
  /** Undefined with an error. */
  // biome-ignore lint/suspicious/noExplicitAny: a decoded message, looked into by the tests
  readonly message: any
  readonly headers: Metadata | undefined
  readonly trailers: Metadata
}

interface CallOptions {
  readonly metadata?: Readonly<Record<string, string>>
  readonly timeout?: number
}

/** A client of the v1 services that encodes messages by protobufjs. */
export interface V1Client {
  /** `call('iam.Groups/List', { name: 'a' })` */
  call(name: string, message?: Json, options?: CallOptions): Promise<Called>
  begin(name: string, message?: Json, options?: CallOptions): { cancel(): void; readonly called: Promise<Called> }
  close(): void
}

const PACKAGE = '/chainguard.platform.'

export function v1Client(url: string, token: string, client: Client = connect(url)): V1Client {
  const begin: V1Client['begin'] = (name, message = {}, { metadata = {}, timeout } = {}) => {
    const path = PACKAGE + name
    const method = methods.find((one) => one.path === path)
    if (!method) throw new Error(`no method ${path}`)
    const sent = new Metadata()
    for (const [key, value] of Object.entries({ authorization: `Bearer ${token}`, ...metadata })) sent.set(key, value)
    let answer: Buffer | undefined
    let headers: Metadata | undefined
    const encode = (value: Json) => Buffer.from(encodeMessage(method.input, value))
    const options = timeout === undefined ? {} : { deadline: Date.now() + timeout }
    const call = client.makeUnaryRequest(
      path,
      encode,
      (bytes: Buffer) => bytes,
      message,
      sent,
      options,
      (_, value) => {
        answer = value
      },
    )
    const called = new Promise<Called>((resolve) => {
      call.on('metadata', (received: Metadata) => {
        headers = received
      })
      call.on('status', ({ code, details: text, metadata: trailers }: StatusObject) =>
        setImmediate(() => resolve({ code, text, message: answer && decodeMessage(method.output, answer), headers, trailers })),
      )
    })
    return { cancel: () => call.cancel(), called }
  }
  return { begin, call: (...asked) => begin(...asked).called, close: () => client.close() }
}
