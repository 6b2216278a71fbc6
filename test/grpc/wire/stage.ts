import { EventEmitter, once } from 'node:events'
import http, {
  type IncomingHttpHeaders as NodeIncomingHttpHeaders,
  type OutgoingHttpHeaders as NodeOutgoingHttpHeaders,
  type RequestListener,
} from 'node:http'
import http2, { type ClientHttp2Session, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { WireHandler } from '../../../src/grpc/wire/call.ts'
import { createServePair } from '../../../src/grpc/wire/connect.ts'
import type { WireSettings } from '../../../src/grpc/wire/framing.ts'
import { createServeGrpc } from '../../../src/grpc/wire/grpc.ts'
import { createBudget } from '../../../src/serve/bounds.ts'
import { createDeadlines } from '../../../src/serve/listen/times.ts'
import { gathered } from '../../programs/faults/wire.ts'
import { listening } from '../../stage/upstream.ts'

/** The settings of a wire under test, and what was reported to them. */
export function stagedSettings(given: Partial<WireSettings> = {}): WireSettings & { readonly failures: unknown[] } {
  const failures: unknown[] = []
  const settings = { requestBytes: 1000, budget: createBudget(100_000), deadlines: createDeadlines(60_000), ...given }
  return { ...settings, failures, failed: (error) => void failures.push(error) }
}

type Staged = Partial<WireSettings> & { readonly handler?: WireHandler }

/** Starts a server of HTTP/2 that serves every stream by the wire, and a connection to it. It ends with the test. */
export async function startGrpc({ handler = echo, ...given }: Staged = {}, create = createServeGrpc) {
  const settings = stagedSettings(given)
  const serve = create(settings)
  const ends = new EventEmitter()
  const server = http2.createServer()
  const stage = { handler }
  server.on('stream', (stream, headers) =>
    serve(
      stream,
      headers,
      (call) => stage.handler(call),
      (code) => ends.emit('end', code),
    ),
  )
  const session = http2.connect((await listening(server)).url)
  onTestFinished(() => session.destroy())
  const call = (pieces: Buffer | readonly Buffer[], headers: OutgoingHttpHeaders = {}) => callOn(session, [pieces].flat(), headers)
  /** Resolves to the code that the wire reports at the end of the next call. */
  const ended = async () => (await once(ends, 'end'))[0] as number
  return Object.assign(stage, { session, failures: settings.failures, ended, call })
}

export const echo: WireHandler = ({ message }) => Promise.resolve({ message: [message] })

async function callOn(session: ClientHttp2Session, pieces: readonly Buffer[], headers: OutgoingHttpHeaders) {
  const stream = session.request({
    ':method': 'POST',
    ':path': '/test.Echo/Unary',
    'content-type': 'application/grpc',
    te: 'trailers',
    ...headers,
  })
  const answered = gathered(stream)
  for (const piece of pieces) stream.write(piece)
  stream.end()
  const { body, ...blocks } = await answered
  const [head, trailers] = [plain(blocks.head), plain(blocks.trailers)]
  const said = { ...head, ...trailers }
  const message = decodeURIComponent(String(said['grpc-message'] ?? ''))
  // The code and the text of the status, wherever it stands.
  return { head, trailers, body, code: Number(said['grpc-status'] ?? Number.NaN), message }
}

/** Without the symbols that Node adds. */
const plain = (headers: IncomingHttpHeaders) => Object.fromEntries(Object.entries(headers))

const message = '\t\ntest with whitespace\r\nand Unicode BMP ☺ and non-BMP 😈\t\n'

/** Answers with the status of the interop test `special_status_message` of gRPC. @public */
export const answerSpecially: WireHandler = () => Promise.resolve({ status: { code: 2, message, details: [] } })

/** How that message stands in the `grpc-message` trailer. */
export const SPECIAL = {
  message,
  encoded: '%09%0Atest with whitespace%0D%0Aand Unicode BMP %E2%98%BA and non-BMP %F0%9F%98%88%09%0A',
} as const

export interface PairAnswered {
  readonly status: number
  readonly headers: NodeIncomingHttpHeaders
  readonly body: Buffer
}

/** Starts a server that serves every request by the wire; `/test.Echo/Safe` has no side effects. It ends with the test. */
export async function startPairs(version: 1 | 2 = 1, { handler = echo, ...given }: Staged = {}) {
  const settings = stagedSettings(given)
  const serve = createServePair(settings)
  const stage = { handler }
  let tell: (code: number | undefined) => void = () => {}
  const answer: RequestListener = (request, response) => {
    const isSafe = request.url?.startsWith('/test.Echo/Safe') === true
    serve({ request, response }, { handler: (call) => stage.handler(call), isSafe, ended: (code) => tell(code) })
  }
  const server = version === 1 ? http.createServer(answer) : http2.createServer(answer as never)
  const { url } = await listening(server)
  const call = (body: Buffer | string | undefined, headers: NodeOutgoingHttpHeaders, target = 'POST /test.Echo/Unary') => {
    const [method = '', path = ''] = target.split(' ')
    return version === 1 ? ask1(url, { method, path, headers }, body) : ask2(url, { ':method': method, ':path': path, ...headers }, body)
  }
  /** Resolves to the code that the wire reports at the end of the next call. */
  const ended = () => new Promise<number | undefined>((resolve) => (tell = resolve))
  return Object.assign(stage, { url, failures: settings.failures, call, ended })
}

async function ask1(url: string, options: http.RequestOptions, body: Buffer | string | undefined): Promise<PairAnswered> {
  const request = http.request(url, { ...options, agent: false }).end(body)
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, body: await buffer(response) }
}

async function ask2(url: string, headers: NodeOutgoingHttpHeaders, body: Buffer | string | undefined): Promise<PairAnswered> {
  const session = http2.connect(url)
  const stream = session.request(headers).end(body)
  const [head] = (await once(stream, 'response')) as [NodeIncomingHttpHeaders]
  const answered = { status: Number(head[':status']), headers: head, body: await buffer(stream) }
  session.close()
  return answered
}
