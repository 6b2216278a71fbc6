import { demoDataset } from '../../../src/sandbox/data/demo.ts'
import { dispatch } from '../../../src/sandbox/http/dispatch.ts'
import { createRouter } from '../../../src/sandbox/http/route.ts'
import { createWorld } from '../../../src/sandbox/start.ts'
import type { Dialect } from '../../../src/sandbox/v1/operation.ts'
import { v1Routes } from '../../../src/sandbox/v1/routes.ts'
import { createClock } from '../../../src/sandbox/world/store.ts'

/** Later than every date of the demo data. */
export const NOW = Date.parse('2026-06-01T12:00:00.000Z')

/** A response; `body` is JSON. */
// biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
export type Got = { readonly status: number; readonly body: any }

type Options = { readonly token?: string; readonly contentType?: string; readonly text?: string }

/** Genuine v1 over the demo data, without a socket. A request is `'GET /iam/v1/groups'`; a body is sent as JSON. */
export function startV1(v1Dialect: Dialect = 'specification') {
  const dataset = demoDataset(NOW)
  const world = createWorld(dataset, createClock(NOW), 7, { v1Dialect, serviceDomain: 'example.test' }, () => 'http://sandbox.test')
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
