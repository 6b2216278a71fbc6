import { once } from 'node:events'
import http2, { type ClientHttp2Session, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import { text } from 'node:stream/consumers'

export interface Answer2 {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Makes one request over HTTP/2; rejects if the stream breaks off. */
export async function fetch2(session: ClientHttp2Session, path: string, headers: OutgoingHttpHeaders = {}, body?: string | Buffer) {
  const stream = session.request({ ':path': path, ...headers }, { endStream: body === undefined })
  if (body !== undefined) stream.end(body)
  const closed = new Promise<number>((resolve) => stream.once('close', () => resolve(stream.rstCode ?? 0)))
  const [answer] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  const content = await text(stream)
  if ((await closed) !== 0) throw new Error(`the stream was reset: ${stream.rstCode}`)
  return { status: Number(answer[':status']), headers: answer, body: content } satisfies Answer2
}

/** Connects with HTTP/2 from the first byte, over TLS or in plain text. */
export async function connect2(url: string, ca?: string): Promise<ClientHttp2Session> {
  const session = http2.connect(url, { ...(ca !== undefined && { ca, servername: 'localhost' }) })
  session.on('error', () => {})
  await once(session, 'remoteSettings')
  return session
}
