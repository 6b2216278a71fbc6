import { createHash } from 'node:crypto'
import { once } from 'node:events'
import http from 'node:http'
import http2, {
  type ClientHttp2Session,
  constants,
  type Http2ServerRequest,
  type Http2ServerResponse,
  type ServerHttp2Session,
} from 'node:http2'
import https from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { TLSSocket } from 'node:tls'
import { ChannelCredentials, Client } from '@grpc/grpc-js'
import { callOf, grpcClient } from '../../contract/rpc/call.ts'
import { down, read, unary } from '../../grpc/client.ts'
import { grpcFrame } from '../faults/wire.ts'

/** A key, its certificate, and the authorities of clients, which show none without. */
export interface Identity {
  readonly key: string
  readonly cert: string
  readonly ca?: string
}

/** Bytes before each message of gRPC. */
const PREFIX = 5

/** The message of a stream that asks for `count` messages, one each `everyMs`. */
export const streamOf = (id: string, count: number, everyMs: number) => `${id} ${count} ${everyMs}`

export type Recorder = Awaited<ReturnType<typeof startRecorder>>

/** Starts a service of REST and gRPC over TLS that counts how often each request arrived. It is v1 and v2. */
export async function startRecorder({ key, cert, ca }: Identity, host = '127.0.0.1', port = 0) {
  const arrived = new Map<string, number>()
  const peers: (string | undefined)[] = []
  const sessions = new Set<ServerHttp2Session>()
  let isLeaving = false
  const secure = { key, cert, ...(ca !== undefined && { ca, requestCert: true, rejectUnauthorized: true }) }
  const server = http2.createSecureServer({ ...secure, allowHTTP1: true, ALPNProtocols: ['h2', 'http/1.1'] })
  server.on('session', (session) => {
    sessions.add(session)
    session.once('close', () => sessions.delete(session))
    if (isLeaving) session.close()
  })
  server.on('request', (request: Http2ServerRequest, response: Http2ServerResponse) => {
    const isGrpc = request.headers['content-type']?.startsWith('application/grpc') ?? false
    const count = (id: string) => {
      arrived.set(id, (arrived.get(id) ?? 0) + 1)
      peers.push(((isGrpc ? request.stream.session?.socket : request.socket) as TLSSocket | undefined)?.getPeerCertificate()?.subject?.CN)
    }
    response.on('error', () => {})
    if (isLeaving && !isGrpc) response.setHeader('connection', 'close')
    const answered = isGrpc ? answerCall(request, response, count) : answerRequest(request, response, count)
    answered.catch(() => void request.destroy())
  })
  server.listen(port, host)
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    /** How often a request arrived, by its id. */
    arrived,
    /** The names in the certificates of clients, in the order of their requests. */
    peers,
    identify: (identity: Identity) => server.setSecureContext(identity),
    /** Ends each connection with its next answer, as a service does that is about to close. */
    leave() {
      isLeaving = true
      for (const session of sessions) session.close()
    },
    /** Resolves when the last connection has ended. */
    close: () => new Promise<void>((resolve) => void server.close(() => resolve())),
  }
}

async function answerRequest(request: Http2ServerRequest, response: Http2ServerResponse, count: (id: string) => void): Promise<void> {
  const body = await text(request)
  const { pathname, searchParams } = new URL(request.url, 'https://recorder')
  const json = (value: unknown) => {
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(value))
  }
  if (request.headers['user-agent'] === 'crosswalk') return json({ response: 'pong' })
  const id: string = body === '' ? (searchParams.get('name') ?? searchParams.get('repo_id') ?? pathname) : JSON.parse(body).name
  count(id)
  const group = { uid: createHash('sha1').update(id).digest('hex'), name: id }
  if (pathname.includes('/v1/')) json({ items: [{ id }] })
  else json(request.method === 'GET' ? { groups: [group] } : group)
}

async function answerCall(request: Http2ServerRequest, response: Http2ServerResponse, count: (id: string) => void): Promise<void> {
  const message = (await text(request)).slice(PREFIX)
  const [id = '', messages, everyMs] = message.split(' ')
  count(id)
  response.writeHead(200, { 'content-type': 'application/grpc' })
  response.addTrailers({ 'grpc-status': '0' })
  for (let nth = 0; nth < Number(messages ?? 0); nth += 1) {
    response.write(grpcFrame(0, Buffer.from(`${id} ${nth}`)))
    await delay(Number(everyMs))
  }
  response.end(grpcFrame(0, Buffer.from(message)))
}

/** What a client trusts and shows. */
export interface Trust {
  readonly ca: string
  readonly key: string
  readonly cert: string
}

/** Where clients ask. The trust may become another; over `http:` there is none. */
export interface Target {
  readonly url: string
  readonly trust?: () => Trust
}

/** One client with connections of its own, which it keeps. `ask` rejects with what is wrong with the answer. */
interface Asking {
  ask(id: string): Promise<void>
  close(): void
}

/** Makes a client anew whenever it is to trust others. */
function renewed<T>({ url, trust }: Target, open: (url: URL, trust: Trust | undefined) => T, close: (one: T) => void) {
  let known: { readonly trust: Trust | undefined; readonly one: T } | undefined
  const end = () => {
    if (known) close(known.one)
    known = undefined
  }
  return {
    get(): T {
      if (known && known.trust !== trust?.()) end()
      known ??= { trust: trust?.(), one: open(new URL(url), trust?.()) }
      return known.one
    },
    end,
  }
}

interface Question {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
  /** What the answer must name. */
  readonly named: (answer: { items?: { name?: string; id?: string }[]; name?: string; groups?: { name?: string }[] }) => string | undefined
}

/** How a request is asked, by what carries it through Crosswalk. */
const QUESTIONS = {
  read: (id) => ({ method: 'GET', path: `/iam/v1/groups?name=${id}`, named: ({ items }) => items?.[0]?.name }),
  write: (id) => ({
    method: 'POST',
    path: `/iam/v1/groups/${'a'.repeat(40)}`,
    body: JSON.stringify({ name: id }),
    named: ({ name }) => name,
  }),
  'native read': (id) => ({ method: 'GET', path: `/iam/v2/groups?name=${id}`, named: ({ groups }) => groups?.[0]?.name }),
  'native write': (id) => ({ method: 'POST', path: '/iam/v2/groups', body: JSON.stringify({ name: id }), named: ({ name }) => name }),
  'read of v1': (id) => ({ method: 'GET', path: `/registry/v1/vuln_reports?repo_id=${id}`, named: ({ items }) => items?.[0]?.id }),
} as const satisfies Readonly<Record<string, (id: string) => Question>>

type QuestionName = keyof typeof QUESTIONS

function check(id: string, { named }: Question, status: number | undefined, body: string): void {
  if (status !== 200) throw new Error(`${status} ${body.slice(0, 200)}`)
  if (named(JSON.parse(body)) !== id) throw new Error(`a wrong answer: ${body.slice(0, 200)}`)
}

const headersOf = ({ body }: Question) => ({
  authorization: 'Bearer someone',
  ...(body !== undefined && { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
})

/** HTTP/1.1 on one connection that is kept. Nothing is sent twice. */
function overHttp1(target: Target, what: QuestionName): Asking {
  const agents = renewed(
    target,
    (url, trust) => new (url.protocol === 'https:' ? https : http).Agent({ keepAlive: true, maxSockets: 1, ...trust }),
    (agent) => agent.destroy(),
  )
  const { request } = target.url.startsWith('https:') ? https : http
  return {
    ask: (id) =>
      new Promise((resolve, reject) => {
        const question: Question = QUESTIONS[what](id)
        const { method, path, body } = question
        const asked = request(target.url + path, { method, agent: agents.get(), headers: headersOf(question) }, (answer) => {
          let came = ''
          answer.setEncoding('utf8').on('data', (piece: string) => {
            came += piece
          })
          answer.once('error', reject)
          answer.once('end', () => {
            try {
              resolve(check(id, question, answer.statusCode, came))
            } catch (wrong) {
              reject(wrong)
            }
          })
        })
        asked.once('error', reject)
        asked.end(body)
      }),
    close: agents.end,
  }
}

/** HTTP/2 on one connection, until the server says GOAWAY. What certainly was not served is asked again (RFC 9113 §8.7). */
function overHttp2(target: Target, what: QuestionName): Asking {
  const sessions = renewed(
    target,
    (url, trust) => {
      const open = () => http2.connect(url.origin, { ...trust, servername: 'localhost' }).on('error', () => {})
      let session = open()
      return {
        get: (): ClientHttp2Session => {
          if (session.closed || session.destroyed) session = open()
          return session
        },
        close: () => session.close(),
      }
    },
    ({ close }) => close(),
  )
  const isServed = (id: string) =>
    new Promise<boolean>((resolve, reject) => {
      const question: Question = QUESTIONS[what](id)
      const { method, path, body } = question
      const stream = sessions
        .get()
        .get()
        .request({ ':method': method, ':path': path, ...headersOf(question) })
      let status: number | undefined
      let came = ''
      stream.setEncoding('utf8').on('data', (piece: string) => {
        came += piece
      })
      stream.once('response', (headers) => {
        status = headers[':status']
      })
      stream.on('error', () => {})
      stream.once('close', () => {
        if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return resolve(false)
        try {
          if (stream.rstCode !== 0) throw new Error(`reset with ${stream.rstCode}`)
          check(id, question, status, came)
          resolve(true)
        } catch (wrong) {
          reject(wrong)
        }
      })
      stream.end(body)
    })
  return {
    async ask(id) {
      while (!(await isServed(id)));
    },
    close: sessions.end,
  }
}

const channel = ({ host }: URL, trust: Trust | undefined) => {
  const pem = trust && [trust.ca, trust.key, trust.cert].map((one) => Buffer.from(one))
  const credentials = pem ? ChannelCredentials.createSsl(pem[0], pem[1], pem[2]) : ChannelCredentials.createInsecure()
  return new Client(host, credentials, {
    'grpc.use_local_subchannel_pool': 1,
    ...(pem && { 'grpc.ssl_target_name_override': 'localhost' }),
  })
}

/** gRPC calls that Crosswalk relays: of one message, or a stream of `count` messages, one each `everyMs`. */
function overGrpc(target: Target, stream?: { readonly count: number; readonly everyMs: number }): Asking {
  const clients = renewed(target, channel, (client) => client.close())
  return {
    async ask(id) {
      const { messages, status } = await (stream
        ? read(down(clients.get(), 'Down', streamOf(id, stream.count, stream.everyMs)))
        : unary(clients.get(), 'Unary', id).answer)
      if (status.code !== 0) throw new Error(`code ${status.code} ${status.details}`)
      const last = stream ? streamOf(id, stream.count, stream.everyMs) : id
      const wanted = [...Array.from({ length: stream?.count ?? 0 }, (_, nth) => `${id} ${nth}`), last]
      if (String(messages) !== String(wanted)) throw new Error(`wrong messages: ${messages}`)
    },
    close: clients.end,
  }
}

/** Calls of v1's gRPC, which Crosswalk translates. As libraries do, the client repeats what certainly was not served. */
function overGrpcV1({ url }: Target): Asking {
  const client = grpcClient(url, { 'grpc.enable_retries': 1 })
  return {
    async ask(id) {
      const { status, body } = await client.call(callOf({ method: 'GET', path: `/iam/v1/groups?name=${id}` }), 'someone')
      if (status !== 200 || body.items?.[0]?.name !== id) throw new Error(`${status} ${JSON.stringify(body)}`)
    },
    close: client.close,
  }
}

const STREAM = { count: 20, everyMs: 50 }

/** Every way by which clients ask. What is counted twice is a fault of `once` alone: a read may be asked again. */
const LANES: Readonly<Record<string, { readonly once: boolean; readonly open: (target: Target) => Asking }>> = {
  read: { once: false, open: (target) => overHttp1(target, 'read') },
  write: { once: true, open: (target) => overHttp1(target, 'write') },
  'native read': { once: true, open: (target) => overHttp1(target, 'native read') },
  'native write': { once: true, open: (target) => overHttp1(target, 'native write') },
  'read of v1': { once: true, open: (target) => overHttp1(target, 'read of v1') },
  'read over HTTP/2': { once: false, open: (target) => overHttp2(target, 'read') },
  'write over HTTP/2': { once: true, open: (target) => overHttp2(target, 'write') },
  'gRPC call': { once: true, open: (target) => overGrpc(target) },
  'gRPC stream': { once: true, open: (target) => overGrpc(target, STREAM) },
  'gRPC call of v1': { once: false, open: overGrpcV1 },
}

export type Walk = ReturnType<typeof startWalk>

/** Starts `clients` clients of each lane, which ask without a pause. */
export function startWalk(target: Target, clients = 2) {
  // A call of v1's gRPC over TLS is no other than those of v2.
  const lanes = Object.entries(LANES).filter(([, { open }]) => !target.trust || open !== overGrpcV1)
  const lost: string[] = []
  const sent: { readonly id: string; readonly once: boolean }[] = []
  const times: number[] = []
  const waiting = new Set<() => void>()
  let isOver = false
  const run = async (lane: string, { once, open }: (typeof LANES)[string], place: number) => {
    const client = open(target)
    times[place] = 0
    while (!isOver) {
      const id = `${lane.replaceAll(/\W/g, '-')}-${place}-${times[place]}`
      sent.push({ id, once })
      await client.ask(id).catch((wrong: Error) => lost.push(`${id}: ${wrong.message}`))
      times[place] = (times[place] ?? 0) + 1
      for (const look of waiting) look()
    }
    client.close()
  }
  const running = lanes.flatMap(([lane, one], nth) => Array.from({ length: clients }, (_, at) => run(lane, one, nth * clients + at)))
  return {
    /** Resolves when every client has been answered that often from now on. */
    answered(more: number) {
      const before = [...times]
      return new Promise<void>((resolve) => {
        const look = () => {
          if (times.some((count, place) => count < (before[place] ?? 0) + more)) return
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      })
    },
    /**
     * Lets every client end its last request. Returns what was lost: a sentence for each request, none if every one was answered and arrived
     * as it must.
     */
    async end(recorders: readonly { readonly arrived: ReadonlyMap<string, number> }[]) {
      isOver = true
      await Promise.all(running)
      const arrived = ({ id }: { readonly id: string }) => recorders.reduce((sum, one) => sum + (one.arrived.get(id) ?? 0), 0)
      const wrong = sent.filter((one) => (one.once ? arrived(one) !== 1 : arrived(one) < 1))
      return { sent: sent.length, lost: [...lost, ...wrong.map((one) => `${one.id} arrived ${arrived(one)} times`)] }
    },
  }
}
