import { stsRoutes } from '../../../src/sandbox/auth/sts.ts'
import { fillStore } from '../../../src/sandbox/data/data.ts'
import { emptyDataset } from '../../../src/sandbox/data/demo.ts'
import { dispatch } from '../../../src/sandbox/http/dispatch.ts'
import { createRouter } from '../../../src/sandbox/http/route.ts'
import { iamRoutes } from '../../../src/sandbox/v2/iam/routes.ts'
import { registryRoutes } from '../../../src/sandbox/v2/registry/tags.ts'
import { type Clock, createClock, createRandom, createStore, type World } from '../../../src/sandbox/world/store.ts'

/** Any JSON of the service. Tests state their expectations. */
// biome-ignore lint/suspicious/noExplicitAny: a typed body would repeat in types what the assertions say
export type Body = any

export type Reply = { readonly status: number; readonly body: Body }

export type Bench = {
  readonly world: World
  readonly clock: Clock
  /** The uid of example.com. Alice is its owner, bob its editor, carol its viewer. */
  readonly org: string
  /** One request; `token` is a bearer token, or undefined to send none. */
  readonly call: (token: string | undefined, method: string, url: string, body?: unknown) => Promise<Reply>
  /** Like `call`, but requires 200 and returns the body. */
  readonly done: (token: string, method: string, url: string, body?: unknown) => Promise<Body>
}

export const NOW = Date.parse('2026-03-01T12:00:00.000Z')
export const BASE_URL = 'http://127.0.0.1:8090'

const createWorld = (clock: Clock): { readonly world: World; readonly org: string } => {
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
  const { world, org } = createWorld(clock)
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
export const told = ({ status, body }: Reply) => ({
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
