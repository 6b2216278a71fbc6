import { once } from 'node:events'
import http from 'node:http'
import http2, { type IncomingHttpHeaders } from 'node:http2'
import type { Writable } from 'node:stream'
import { CODES, type CodeName } from '../../../../src/errors.ts'
import type { WireCase } from './draw.ts'

/** What a call got. A connection that ended has neither code nor status. */
export interface WireAnswered {
  readonly code: number | undefined
  readonly http: number | undefined
  readonly message: Buffer
}

const GONE: WireAnswered = { code: undefined, http: undefined, message: Buffer.alloc(0) }

/** Makes calls on connections of its own. */
export function createAskers(url: string) {
  const session = http2.connect(url)
  session.on('error', () => {})
  const agent = new http.Agent({ keepAlive: true, maxSockets: 32 })
  return {
    ask: (drawn: WireCase) => (drawn.version === 2 ? ask2(session, drawn) : ask1(url, agent, drawn)),
    async close() {
      agent.destroy()
      if (session.destroyed) return
      session.destroy()
      await once(session, 'close')
    },
  }
}

async function ask2(session: http2.ClientHttp2Session, drawn: WireCase): Promise<WireAnswered> {
  const stream = session.request(
    { ':method': methodOf(drawn), ':path': pathOf(drawn), ...drawn.headers },
    { endStream: drawn.way === 'get' },
  )
  let said: IncomingHttpHeaders = {}
  stream.on('response', (head) => Object.assign(said, head))
  stream.on('trailers', (trailers) => {
    said = { ...said, ...trailers }
  })
  const body: Buffer[] = []
  stream.on('data', (piece: Buffer) => body.push(piece))
  stream.on('error', () => {})
  const closed = once(stream, 'close')
  send(stream, drawn, () => stream.close(http2.constants.NGHTTP2_CANCEL))
  if (drawn.end === 'never') stream.once('end', () => stream.close())
  await closed
  return said[':status'] === undefined ? GONE : answeredOf(drawn, Number(said[':status']), said, Buffer.concat(body))
}

function ask1(url: string, agent: http.Agent, drawn: WireCase): Promise<WireAnswered> {
  return new Promise((resolve) => {
    const request = http.request(url, { agent, method: methodOf(drawn), path: pathOf(drawn), headers: drawn.headers })
    request.on('error', () => resolve(GONE))
    request.on('response', (response) => {
      const body: Buffer[] = []
      response.on('data', (piece: Buffer) => body.push(piece))
      response.on('error', () => resolve(GONE))
      response.on('end', () => {
        resolve(answeredOf(drawn, response.statusCode ?? 0, response.headers, Buffer.concat(body)))
        if (drawn.end === 'never') request.destroy()
      })
    })
    send(request, drawn, () => request.destroy())
  })
}

/** Sends the pieces of a body, all of them or less. */
function send(to: Writable, { body, cuts, end, way }: WireCase, reset: () => void): void {
  if (way === 'get') return void (to instanceof http.ClientRequest && to.end())
  const bounds = [0, ...cuts, body.length]
  const pieces = bounds.slice(1).map((bound, at) => body.subarray(bounds[at], bound))
  const sent = end === 'whole' ? pieces : [body.subarray(0, Math.floor(body.length / 2))]
  for (const piece of sent) to.write(piece)
  if (end === 'whole') to.end()
  if (end === 'reset') setImmediate(reset)
}

function methodOf({ way }: WireCase): string {
  return way === 'get' ? 'GET' : 'POST'
}

function pathOf({ way, body, headers }: WireCase): string {
  if (way === 'stream') return '/stream'
  if (way !== 'get') return '/unary'
  const compression = headers['content-encoding'] === 'gzip' ? '&compression=gzip' : ''
  return `/unary?connect=v1&encoding=proto&base64=1&message=${body.toString('base64url')}${compression}`
}

function answeredOf({ way }: WireCase, status: number, said: IncomingHttpHeaders, body: Buffer): WireAnswered {
  if (way === 'connect' || way === 'get') return connectAnswer(status, said, body)
  const text = way === 'text' && said['content-type']?.includes('-text')
  const bytes = text ? Buffer.from(body.toString(), 'base64') : body
  const trailers = /grpc-status: (\d+)\r\n/.exec(bytes.toString('latin1'))?.[1]
  const code = said['grpc-status'] ?? (status === 200 ? trailers : undefined)
  const message = bytes.length >= 5 ? bytes.subarray(5, 5 + bytes.readUInt32BE(1)) : bytes
  return { code: code === undefined ? undefined : Number(code), http: status, message }
}

function connectAnswer(status: number, said: IncomingHttpHeaders, body: Buffer): WireAnswered {
  if (status === 200) return { code: 0, http: status, message: body }
  if (said['content-type'] !== 'application/json') return { code: undefined, http: status, message: body }
  const name = String(JSON.parse(body.toString()).code).toUpperCase()
  return { code: CODES[(name === 'CANCELED' ? 'CANCELLED' : name) as CodeName]?.number, http: status, message: body }
}
