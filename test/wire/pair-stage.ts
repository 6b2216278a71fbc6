import { once } from 'node:events'
import http, { type IncomingHttpHeaders, type OutgoingHttpHeaders, type RequestListener } from 'node:http'
import http2 from 'node:http2'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { WireHandler } from '../../src/grpc/wire/call.ts'
import { createServePair } from '../../src/grpc/wire/connect.ts'
import type { WireSettings } from '../../src/grpc/wire/framing.ts'
import { echo, stagedSettings } from './stage.ts'

/** What a client of HTTP got. */
export interface PairAnswered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface PairStage {
  readonly url: string
  readonly failures: readonly unknown[]
  handler: WireHandler
  /** The code that the wire reports at the end of the next call. */
  ended(): Promise<number | undefined>
  call(body: Buffer | string | undefined, headers: OutgoingHttpHeaders, target?: string): Promise<PairAnswered>
}

/** Starts a server that serves every request by the wire; `/test.Echo/Safe` has no side effects. It ends with the test. */
export async function startPairs(version: 1 | 2 = 1, given: Partial<WireSettings> = {}): Promise<PairStage> {
  const settings = stagedSettings(given)
  const serve = createServePair(settings)
  const stage = { handler: echo } as { handler: WireHandler }
  let tell: (code: number | undefined) => void = () => {}
  const answer: RequestListener = (request, response) => {
    const isSafe = request.url?.startsWith('/test.Echo/Safe') === true
    serve({ request, response }, { handler: (call) => stage.handler(call), isSafe, ended: (code) => tell(code) })
  }
  const server = version === 1 ? http.createServer(answer) : http2.createServer(answer as never)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(() => void server.close())
  const call: PairStage['call'] = (body, headers, target = 'POST /test.Echo/Unary') => {
    const [method = '', path = ''] = target.split(' ')
    return version === 1 ? ask1(url, { method, path, headers }, body) : ask2(url, { ':method': method, ':path': path, ...headers }, body)
  }
  const ended = () => new Promise<number | undefined>((resolve) => (tell = resolve))
  return Object.assign(stage, { url, failures: settings.failures, call, ended })
}

async function ask1(url: string, options: http.RequestOptions, body: Buffer | string | undefined): Promise<PairAnswered> {
  const request = http.request(url, { ...options, agent: false }).end(body)
  const [response] = (await once(request, 'response')) as [http.IncomingMessage]
  return { status: response.statusCode ?? 0, headers: response.headers, body: await whole(response) }
}

async function ask2(url: string, headers: OutgoingHttpHeaders, body: Buffer | string | undefined): Promise<PairAnswered> {
  const session = http2.connect(url)
  const stream = session.request(headers).end(body)
  const [head] = (await once(stream, 'response')) as [IncomingHttpHeaders]
  const answered = { status: Number(head[':status']), headers: head, body: await whole(stream) }
  session.close()
  return answered
}

async function whole(pieces: AsyncIterable<Buffer>): Promise<Buffer> {
  const all: Buffer[] = []
  for await (const piece of pieces) all.push(piece)
  return Buffer.concat(all)
}
