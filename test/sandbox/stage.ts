import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { stsRoutes } from '../../src/sandbox/auth/sts.ts'
import type { Dataset } from '../../src/sandbox/data/data.ts'
import { demoDataset, emptyDataset } from '../../src/sandbox/data/demo.ts'
import { dispatch } from '../../src/sandbox/http/dispatch.ts'
import { createRouter, type Route } from '../../src/sandbox/http/route.ts'
import { createWorld, type Sandbox, type SandboxOptions, startSandbox } from '../../src/sandbox/start.ts'
import type { Dialect } from '../../src/sandbox/v1/operation.ts'
import { v1Routes } from '../../src/sandbox/v1/routes.ts'
import { iamRoutes } from '../../src/sandbox/v2/iam/routes.ts'
import { registryRoutes } from '../../src/sandbox/v2/registry/tags.ts'
import { createClock } from '../../src/sandbox/world/store.ts'
import { extra, spell, spellingOf } from '../contract/target.ts'

/** The instant at which tests start by default. */
export const START = Date.parse('2026-03-01T12:00:00.000Z')

type CallOptions = {
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
export const running = (options: SandboxOptions = {}, { fresh = false } = {}) => {
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
    get: (path: string, token?: string) => call('GET', path, as(token)),
    post: (path: string, body: unknown, token?: string) => call('POST', path, { body, ...as(token) }),
    patch: (path: string, body: unknown, token?: string) => call('PATCH', path, { body, ...as(token) }),
    remove: (path: string, token?: string) => call('DELETE', path, as(token)),
  }
}

/** Any JSON of the service. Tests state their expectations. */
// biome-ignore lint/suspicious/noExplicitAny: a typed body would repeat in types what the assertions say
export type Body = any

export type Got = { readonly status: number; readonly body: Body }

export const BASE_URL = 'http://127.0.0.1:8090'

type Sent = { readonly token?: string | undefined; readonly contentType?: string | undefined; readonly text?: string | undefined }

/** A service without a server: what answers one request to these routes over these data at a fixed time. A body is sent as JSON. */
const unserved = (routes: readonly Route[], data: Dataset, now: number, v1Dialect: Dialect) => {
  const world = createWorld(data, createClock(now), 7, { v1Dialect, serviceDomain: 'example.dev' }, () => BASE_URL)
  const router = createRouter(routes)
  const ask = async (method: string, url: string, body: unknown, { token, contentType, text }: Sent): Promise<Got> => {
    const sent = text ?? (body === undefined ? '' : JSON.stringify(body))
    const authorization = token ? `Bearer ${token}` : undefined
    const answer = await dispatch(router, world, { method, url, contentType, methodOverride: undefined, authorization, text: sent })
    return { status: answer.status ?? 200, body: answer.body }
  }
  return { world, organization: data.organization, ask }
}

/** A summary of an error: code, reason, message and fields. */
export const told = ({ status, body }: Got) => ({
  status,
  code: body.code,
  reason: body.details[0]?.reason,
  message: body.message,
  fields: body.details.flatMap((detail: Body) => (detail.fieldViolations ?? []).map(({ field }: Body) => field)),
})

/**
 * The routes of IAM, registry and STS over one empty organization, which is new before each test. Alice is the owner of example.com, bob its
 * editor, carol its viewer. A request is `'GET /iam/v2/groups'`, sent as alice unless a token or undefined follows the body.
 */
export const freshBench = () => {
  const open = () => unserved([...iamRoutes, ...registryRoutes, ...stsRoutes], emptyDataset(), START, 'specification')
  let bench = open()
  beforeEach(() => {
    bench = open()
  })
  const call = (request: string, body?: unknown, ...as: readonly (string | undefined)[]): Promise<Got> => {
    const [method = '', url = ''] = request.split(' ', 2)
    const token = as.length === 0 ? 'demo-owner' : as[0]
    return body instanceof URLSearchParams
      ? bench.ask(method, url, undefined, { token, contentType: 'application/x-www-form-urlencoded', text: body.toString() })
      : bench.ask(method, url, body, { token, contentType: 'application/json' })
  }
  return {
    get world() {
      return bench.world
    },
    get clock() {
      return bench.world.clock
    },
    org: bench.organization,
    call,
    /** Like `call`, but requires 200 and returns the body. */
    done: async (...sent: Parameters<typeof call>): Promise<Body> => {
      const { status, body } = await call(...sent)
      if (status !== 200) throw new Error(`${sent[0]} answered ${status}: ${JSON.stringify(body)}`)
      return body
    },
    status: async (...sent: Parameters<typeof call>) => (await call(...sent)).status,
    told: async (...sent: Parameters<typeof call>) => told(await call(...sent)),
    /** The uid of the built-in role called `name`. */
    role: (name: string): string => bench.world.store.roles.named('', name)[0]!.uid,
    /** The uid of the demo user with that email address. */
    user: (email: string): string => bench.world.store.identities.named('', email)[0]!.uid,
  }
}

/** Later than every date of the demo data. */
export const HARNESS_NOW = Date.parse('2026-06-01T12:00:00.000Z')

/** Genuine v1 over the demo data. A request is `'GET /iam/v1/groups'`. */
export function startV1(v1Dialect: Dialect = 'specification') {
  const { world, organization, ask } = unserved(v1Routes, demoDataset(HARNESS_NOW), HARNESS_NOW, v1Dialect)
  const send = (request: string, body?: unknown, { token = 'demo-owner', ...sent }: Sent = {}): Promise<Got> => {
    const [method = '', url = ''] = request.split(' ', 2)
    return ask(method, url, body, { token, ...sent })
  }
  const get = (path: string, token?: string) => send(`GET ${path}`, undefined, token === undefined ? {} : { token })
  return { send, get, world, organization }
}

/** Both dialects, for `describe.each`. */
export const DIALECTS: readonly Dialect[] = ['specification', 'published']

/** A v1 message as a dialect names it, from the names of the specification; `more` is what only the specification shows. */
export const inDialect = (dialect: Dialect, message: Record<string, unknown>, more: Record<string, unknown> = {}) =>
  spell(extra(message, more), spellingOf(dialect), dialect === 'specification') as Body

/** One member of every row. */
export const column = (rows: readonly Body[], name: string): Body[] => rows.map((row) => row[name])

/** The names of the items of a list. */
export const names = ({ body }: Got): readonly string[] => column(body.items, 'name')

/** One received event. */
export type Received = {
  readonly method: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every shape
  readonly json: any
}

/** A local event receiver. */
export type SinkServer = Awaited<ReturnType<typeof startSink>>

const createInbox = () => {
  const inbox: Received[] = []
  let arrived = (): void => {}
  /** Waits for the `count` events after those already taken and returns them in order of arrival. */
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
  /** The number of received events that were not taken. */
  const pending = () => inbox.length
  return { take, put, pending }
}

/** Starts a receiver on a free port. */
export const startSink = async () => {
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
  /** Sets the statuses of the next answers; 200 once they are used up. */
  const answer = (...next: readonly number[]) => void statuses.push(...next)
  return { url, take, pending, close, answer }
}
