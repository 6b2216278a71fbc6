import { createClock } from '../../../src/sandbox/clock.ts'
import { fillStore } from '../../../src/sandbox/data/dataset.ts'
import { demoDataset } from '../../../src/sandbox/data/demo.ts'
import { dispatch } from '../../../src/sandbox/http/dispatch.ts'
import { createRouter } from '../../../src/sandbox/http/router.ts'
import { createRandom } from '../../../src/sandbox/random.ts'
import { createStore } from '../../../src/sandbox/store.ts'
import type { Dialect } from '../../../src/sandbox/v1/encode.ts'
import { v1Routes } from '../../../src/sandbox/v1/routes.ts'
import { registryRoutes } from '../../../src/sandbox/v2/registry/routes.ts'
import type { World } from '../../../src/sandbox/world.ts'

/** Later than every date of the demo data. */
export const NOW = Date.parse('2026-06-01T12:00:00.000Z')

/** What came back; `body` is JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Got = { readonly status: number; readonly body: any }

type Options = { readonly token?: string; readonly contentType?: string; readonly text?: string }

/** Native v1 over the demo data, without a socket. A request is `'GET /iam/v1/groups'`; a body is sent as JSON. */
export function startV1(v1Dialect: Dialect = 'specification') {
  const { rows, tokens, organization } = demoDataset(NOW)
  const world: World = {
    store: createStore(),
    clock: createClock(NOW),
    random: createRandom(7),
    options: { v1Dialect, serviceDomain: 'example.test' },
    tokens,
    baseUrl: () => 'http://sandbox.test',
    pageKey: 'test',
  }
  fillStore(world.store, rows)
  const router = createRouter([...v1Routes, ...registryRoutes])
  const send = async (request: string, body?: unknown, { token = 'demo-owner', contentType, text }: Options = {}): Promise<Got> => {
    const [method = '', url = ''] = request.split(' ', 2)
    const sent = text ?? (body === undefined ? '' : JSON.stringify(body))
    const authorization = token === '' ? undefined : `Bearer ${token}`
    const answer = await dispatch(router, world, { method, url, contentType, methodOverride: undefined, authorization, text: sent })
    return { status: answer.status ?? 200, body: answer.body }
  }
  return { send, world, organization }
}

/** Both dialects, for `describe.each`. */
export const DIALECTS: readonly Dialect[] = ['specification', 'published']

/** The names of the items of a list. */
export const names = ({ body }: Got): readonly string[] => body.items.map((item: { name: string }) => item.name)
