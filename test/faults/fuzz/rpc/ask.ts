import http2, { type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2'
import { openLane } from '../lanes.ts'
import type { RpcCase } from './draw.ts'

/** What a client received; names of headers and trailers are in lower case. */
export interface RpcGiven {
  /** 0 if no head arrived. */
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
  readonly trailers: ReadonlyMap<string, string>
  /** The code of RST_STREAM, 0 for none. */
  readonly reset: number
}

/** A client with a connection of each protocol, which asks one thing at a time. */
export interface RpcAsker {
  ask(one: RpcCase): Promise<RpcGiven>
  close(): void
}

/** Milliseconds after which a client that waits gives up. */
const WAIT = 20

export function openRpcAsker(url: () => string): RpcAsker {
  let session: ClientHttp2Session | undefined
  const lane = openLane(url())
  const over2 = (one: RpcCase) => {
    if (!session || session.closed || session.destroyed) {
      session = http2.connect(url(), { rejectUnauthorized: false })
      session.on('error', () => {})
    }
    return ask2(session, one)
  }
  return {
    ask: (one) => (one.over === 'HTTP/2' ? over2(one) : ask1(lane, one)),
    close() {
      session?.destroy()
      lane.close()
    },
  }
}

const headersOf = ({ type, parts }: RpcCase): Readonly<Record<string, string>> =>
  Object.fromEntries([['content-type', type], ...parts.flatMap((part) => ('header' in part ? [part.header] : []))])

const piecesOf = ({ parts }: RpcCase) => parts.flatMap((part) => ('bytes' in part ? [part.bytes] : []))

async function ask1(lane: ReturnType<typeof openLane>, one: RpcCase): Promise<RpcGiven> {
  const body = Buffer.concat(piecesOf(one))
  const lines = Object.entries({ ...headersOf(one), 'content-length': String(body.length) }).map(([name, value]) => `${name}: ${value}\r\n`)
  const head = `POST ${one.path} HTTP/1.1\r\nhost: x\r\n${lines.join('')}\r\n`
  const answer = await lane.ask({ text: head + body.toString('latin1'), isHead: false })
  const bytes = Buffer.from(answer?.body ?? '', 'latin1')
  return { status: answer?.status ?? 0, headers: answer?.headers ?? new Map(), body: bytes, trailers: new Map(), reset: 0 }
}

function ask2(session: ClientHttp2Session, one: RpcCase): Promise<RpcGiven> {
  return new Promise((resolve) => {
    let headers: IncomingHttpHeaders = {}
    let trailers: IncomingHttpHeaders = {}
    const body: Buffer[] = []
    const stream = session.request({ ':method': 'POST', ':path': one.path, ...headersOf(one) })
    stream.on('response', (head) => {
      headers = head
    })
    stream.on('trailers', (head) => {
      trailers = head
    })
    stream.on('data', (chunk: Buffer) => body.push(chunk))
    stream.on('error', () => {})
    stream.once('close', () =>
      resolve({
        status: Number(headers[':status'] ?? 0),
        headers: mapOf(headers),
        body: Buffer.concat(body),
        trailers: mapOf(trailers),
        reset: stream.rstCode ?? 0,
      }),
    )
    for (const piece of piecesOf(one)) stream.write(piece)
    if (one.ends === 'end') stream.end()
    else if (one.ends === 'reset') stream.close(http2.constants.NGHTTP2_CANCEL)
    else setTimeout(() => stream.close(http2.constants.NGHTTP2_CANCEL), WAIT)
  })
}

const mapOf = (headers: IncomingHttpHeaders) => new Map(Object.entries(headers).map(([name, value]) => [name, String(value)]))
