import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { stsRoutes } from '../../src/sandbox/auth/sts.ts'
import { fillStore } from '../../src/sandbox/data/data.ts'
import { demoDataset, emptyDataset } from '../../src/sandbox/data/demo.ts'
import { dispatch } from '../../src/sandbox/http/dispatch.ts'
import { createRouter } from '../../src/sandbox/http/route.ts'
import { createWorld, type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start.ts'
import type { Dialect } from '../../src/sandbox/v1/operation.ts'
import { v1Routes } from '../../src/sandbox/v1/routes.ts'
import { iamRoutes } from '../../src/sandbox/v2/iam/routes.ts'
import { registryRoutes } from '../../src/sandbox/v2/registry/tags.ts'
import { type Clock, createClock, createRandom, createStore, type World } from '../../src/sandbox/world/store.ts'

/** The instant at which tests start by default. */
export const START = Date.parse('2026-03-01T12:00:00.000Z')

export type CallOptions = {
  /** A bearer token: demo-owner by default, none if null. */
  readonly token?: string | null
  /** Sent as JSON. */
  readonly body?: unknown
  /** Sent unchanged. */
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
}

export type Reply = {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body; undefined if it is empty. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into many shapes of JSON, and an expectation on a wrong one fails by itself
  readonly json: any
}

export type Running = {
  readonly sandbox: () => Sandbox
  readonly call: (method: string, path: string, options?: CallOptions) => Promise<Reply>
  readonly get: (path: string, token?: string) => Promise<Reply>
  readonly post: (path: string, body: unknown, token?: string) => Promise<Reply>
  readonly patch: (path: string, body: unknown, token?: string) => Promise<Reply>
  readonly remove: (path: string, token?: string) => Promise<Reply>
}

const send = async (url: string, method: string, { token = 'demo-owner', body, text, headers = {} }: CallOptions): Promise<Reply> => {
  const content = text ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(url, {
    method,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(content === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(content === undefined ? {} : { body: content }),
  })
  const answered = await response.text()
  return { status: response.status, headers: response.headers, text: answered, json: answered === '' ? undefined : JSON.parse(answered) }
}

/** A sandbox on a free port for the tests of one file. `fresh` starts a new one before each test. */
export const running = (options: SandboxOptions = {}, { fresh = false } = {}): Running => {
  let sandbox: Sandbox | undefined
  const open = async (): Promise<void> => {
    await sandbox?.close()
    sandbox = await startSandbox({ port: 0, now: START, ...options })
  }
  if (fresh) beforeEach(open)
  else beforeAll(open)
  afterAll(async () => sandbox?.close())
  const current = (): Sandbox => {
    if (!sandbox) throw new Error('the sandbox is not running yet')
    return sandbox
  }
  const call = (method: string, path: string, callOptions: CallOptions = {}) => send(`${current().url}${path}`, method, callOptions)
  const as = (token: string | undefined) => (token === undefined ? {} : { token })
  return {
    sandbox: current,
    call,
    get: (path, token) => call('GET', path, as(token)),
    post: (path, body, token) => call('POST', path, { body, ...as(token) }),
    patch: (path, body, token) => call('PATCH', path, { body, ...as(token) }),
    remove: (path, token) => call('DELETE', path, as(token)),
  }
}

/** Any JSON of the service. Tests state their expectations. */
// biome-ignore lint/suspicious/noExplicitAny: a typed body would repeat in types what the assertions say
export type Body = any

export type HarnessReply = { readonly status: number; readonly body: Body }

export type Bench = {
  readonly world: World
  readonly clock: Clock
  /** The uid of example.com. Alice is its owner, bob its editor, carol its viewer. */
  readonly org: string
  /** One request; `token` is a bearer token, or undefined to send none. */
  readonly call: (token: string | undefined, method: string, url: string, body?: unknown) => Promise<HarnessReply>
  /** Like `call`, but requires 200 and returns the body. */
  readonly done: (token: string, method: string, url: string, body?: unknown) => Promise<Body>
}

export const NOW = Date.parse('2026-03-01T12:00:00.000Z')
export const BASE_URL = 'http://127.0.0.1:8090'

const createWorldOfHarness = (clock: Clock): { readonly world: World; readonly org: string } => {
  const data = emptyDataset()
  const store = createStore()
  fillStore(store, data.rows)
  const world: World = {
    store,
    clock,
    random: createRandom(1),
    options: { v1Dialect: 'specification', serviceDomain: 'example.dev' },
    tokens: data.tokens,
    baseUrl: () => BASE_URL,
    pageKey: 'key',
  }
  return { world, org: data.organization }
}

/** The service without a server: the routes of IAM, registry and STS over one empty organization at a fixed time. */
export const openBench = (): Bench => {
  const clock = createClock(NOW)
  const { world, org } = createWorldOfHarness(clock)
  const router = createRouter([...iamRoutes, ...registryRoutes, ...stsRoutes])
  const call: Bench['call'] = async (token, method, url, body) => {
    const answer = await dispatch(router, world, {
      method,
      url,
      contentType: body instanceof URLSearchParams ? 'application/x-www-form-urlencoded' : 'application/json',
      methodOverride: undefined,
      authorization: token === undefined ? undefined : `Bearer ${token}`,
      text: body === undefined ? '' : body instanceof URLSearchParams ? body.toString() : JSON.stringify(body),
    })
    return { status: answer.status ?? 200, body: answer.body }
  }
  const done: Bench['done'] = async (token, method, url, body) => {
    const reply = await call(token, method, url, body)
    if (reply.status !== 200) throw new Error(`${method} ${url} answered ${reply.status}: ${JSON.stringify(reply.body)}`)
    return reply.body
  }
  return { world, clock, org, call, done }
}

/** A summary of an error: code, reason, message and fields. */
export const told = ({ status, body }: HarnessReply) => ({
  status,
  code: body.code,
  reason: body.details[0]?.reason,
  message: body.message,
  fields: body.details.flatMap((detail: Body) => (detail.fieldViolations ?? []).map(({ field }: Body) => field)),
})

/** The uid of the built-in role called `name`. */
export const roleUid = ({ world }: Bench, name: string): string => world.store.roles.named('', name)[0]!.uid

/** The uid of the demo user with that email address. */
export const userUid = ({ world }: Bench, email: string): string => world.store.identities.named('', email)[0]!.uid

/** Later than every date of the demo data. */
export const HARNESS_NOW = Date.parse('2026-06-01T12:00:00.000Z')

/** A response; `body` is JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Got = { readonly status: number; readonly body: any }

type Options = { readonly token?: string; readonly contentType?: string; readonly text?: string }

/** Genuine v1 over the demo data, without a socket. A request is `'GET /iam/v1/groups'`; a body is sent as JSON. */
export function startV1(v1Dialect: Dialect = 'specification') {
  const dataset = demoDataset(HARNESS_NOW)
  const world = createWorld(dataset, createClock(HARNESS_NOW), 7, { v1Dialect, serviceDomain: 'example.test' }, () => 'http://sandbox.test')
  const router = createRouter(v1Routes)
  const send = async (request: string, body?: unknown, { token = 'demo-owner', contentType, text }: Options = {}): Promise<Got> => {
    const [method = '', url = ''] = request.split(' ', 2)
    const sent = text ?? (body === undefined ? '' : JSON.stringify(body))
    const authorization = token === '' ? undefined : `Bearer ${token}`
    const answer = await dispatch(router, world, { method, url, contentType, methodOverride: undefined, authorization, text: sent })
    return { status: answer.status ?? 200, body: answer.body }
  }
  return { send, world, organization: dataset.organization }
}

/** Both dialects, for `describe.each`. */
export const DIALECTS: readonly Dialect[] = ['specification', 'published']

/** The names of the items of a list. */
export const names = ({ body }: Got): readonly string[] => body.items.map((item: { name: string }) => item.name)

/** One received event. */
export type Received = {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every shape
  readonly json: any
}

/** A local event receiver. */
export type SinkServer = {
  readonly url: string
  /** Waits for the `count` events after those already taken and returns them in order of arrival. */
  readonly take: (count?: number) => Promise<readonly Received[]>
  /** The number of received events that were not taken. */
  readonly pending: () => number
  /** The statuses of the next answers; 200 once they are used up. */
  readonly answer: (...statuses: readonly number[]) => void
  readonly close: () => Promise<void>
}

const createInbox = () => {
  const inbox: Received[] = []
  let arrived = (): void => {}
  const take = async (count = 1): Promise<readonly Received[]> => {
    while (inbox.length < count) {
      await new Promise<void>((resolve) => {
        arrived = resolve
      })
    }
    return inbox.splice(0, count)
  }
  const put = (received: Received): void => {
    inbox.push(received)
    arrived()
  }
  return { take, put, pending: () => inbox.length }
}

/** Starts a receiver on a free port. */
export const startSink = async (): Promise<SinkServer> => {
  const { take, put, pending } = createInbox()
  const statuses: number[] = []
  const server = createServer(async (request, response) => {
    let text = ''
    for await (const chunk of request) text += chunk
    const status = statuses.shift() ?? 200
    response.writeHead(status, status === 302 ? { location: '/elsewhere' } : {}).end()
    put({ method: request.method ?? '', headers: request.headers, text, json: JSON.parse(text) })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
  }
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
  return { url, take, pending, close, answer: (...next) => void statuses.push(...next) }
}
