import { type ClientHttp2Session, connect, type IncomingHttpHeaders } from 'node:http2'
import { afterAll } from 'vitest'

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
