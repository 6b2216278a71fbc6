import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { mappings } from '../../mappings/index.ts'
import { compatSettings, configWith } from '../../src/app/config/config.ts'
import type { jsonReport } from '../../src/tools/explain.ts'
import { createShapes } from '../../src/tools/explore.ts'
import { readHar } from '../../src/tools/replay/formats.ts'
import { costOf, createRouteRecorded, type RecordedRoute } from '../../src/tools/replay/replay.ts'
import { runCommand } from '../app/cli/support.ts'
import { cases } from '../contract/cases/index.ts'
import { run } from '../contract/run.ts'
import { type Genuine, startGenuine } from '../contract/stage.ts'
import type { Request } from '../contract/target.ts'
import { isFull } from '../sample.ts'
import { type Stage, startStage } from '../stage/stage.ts'
import { answering, type Handler } from '../stage/upstream.ts'

/** The destination of a request: its operation, and the service that is asked. */
interface Destination {
  readonly operation: string
  readonly to: 'v1' | 'v2' | 'nobody'
}

let genuine: Genuine
let proxy: Stage<Handler, Handler>

beforeAll(async () => {
  genuine = await startGenuine('specification')
  proxy = await startStage({ v1: answering({}), v2: answering({}), proxy: { emulated: 'v2', 'fallback.perMinute': 0 } })
})

afterAll(() => Promise.all([genuine.close(), proxy.close(), proxy.v1.close(), proxy.v2.close()]))

/** What the proxy does with it. */
async function proxied({ method, path, headers = {}, text }: Request, nth: number): Promise<Destination> {
  const id = `agreement-${nth}`
  proxy.v1.seen.length = 0
  proxy.v2.seen.length = 0
  const answer = await fetch(proxy.url + path, {
    method,
    headers: { ...headers, 'x-request-id': id },
    ...(text !== undefined && { body: text }),
  })
  await answer.arrayBuffer()
  const { operation } = await proxy.logged(({ reqId }) => reqId === id)
  return { operation: String(operation), to: proxy.v1.seen.length > 0 ? 'v1' : proxy.v2.seen.length > 0 ? 'v2' : 'nobody' }
}

/** The content type that `fetch` gives a text without one. */
const typed = (headers: Request['headers'] = {}, text?: string) =>
  text === undefined ? headers : { 'content-type': 'text/plain;charset=UTF-8', ...headers }

/** What replay says of the archive that a browser would have written of it. */
function replayed({ method, path, headers, text }: Request): Destination {
  const named = Object.entries(typed(headers, text)).map(([name, value]) => ({ name, value }))
  const request = { method, url: `https://api.example.com${path}`, headers: named, ...(text !== undefined && { postData: { text } }) }
  const [sent] = readHar(JSON.stringify({ log: { entries: [{ request }] } })).items
  if (!sent) throw new Error(`${method} ${path} cannot be read from an archive`)
  return destinationOf(placeOf(sent))
}

const placeOf = createRouteRecorded(mappings)
const env = compatSettings(configWith({}))
const shapeOf = createShapes(mappings)

function destinationOf(place: RecordedRoute): Destination {
  if (place.kind === 'native') return { operation: 'native', to: 'v2' }
  if (place.kind === 'unknown') return { operation: 'unknown', to: place.error ? 'nobody' : 'v1' }
  const [operation = ''] = place.operation.id.split('?')
  if (place.kind === 'refused') return { operation, to: 'nobody' }
  if (!place.operation.begin) return { operation, to: 'v1' }
  const { calls } = costOf({ operation: place.operation, request: place.request, env, shapeOf }, 1)
  return { operation, to: calls > 0 ? 'v2' : 'nobody' }
}

/** The path as `fetch` writes it. */
function asSent(path: string): string {
  const { pathname, search } = new URL(path, proxy.url)
  return pathname + search
}

/** What explain says of it. */
async function explained({ method, path, headers, text }: Request): Promise<Destination> {
  const { 'content-type': type, 'x-http-method-override': override } = typed(headers, text) as Record<string, string | undefined>
  const flags = [...(type ? ['--type', type] : ['--type', 'none']), ...(override ? ['--override', override] : [])]
  const body = text === undefined ? [] : ['--data', '-']
  const { code, out, err } = await runCommand(['explain', `${method} ${asSent(path)}`, '--json', ...flags, ...body], {}, text)
  if (code === 0) {
    const { operation, v1Only, calls } = JSON.parse(out) as ReturnType<typeof jsonReport>
    return { operation: operation.split('?')[0] ?? '', to: v1Only !== undefined ? 'v1' : calls.length > 0 ? 'v2' : 'nobody' }
  }
  if (err.includes('is not a v1 path')) return { operation: 'native', to: 'v2' }
  const [, operation = 'unknown'] = /^(\S+) answers/.exec(err) ?? []
  return { operation, to: err.includes('400') ? 'nobody' : 'v1' }
}

const ODD: readonly Request[] = [
  {
    method: 'POST',
    path: '/registry/v1/vuln_reports/counts',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    text: 'a=b',
  },
  {
    method: 'POST',
    path: '/libraries/v1/artifacts',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    text: 'ecosystems=GO',
  },
  { method: 'POST', path: '/iam/v1/identities', text: '{}' },
  { method: 'POST', path: '/sts/exchange', text: '{}' },
  { method: 'GET', path: '/argos/v1/osv/vulns/CVE-2026-1' },
  { method: 'GET', path: '/registry/v1/repos/a/diff' },
  ...['GET', 'get', 'PUT', ''].map((override) => ({
    method: 'POST',
    path: '/iam/v1/groups',
    headers: { 'content-type': 'application/x-www-form-urlencoded', 'x-http-method-override': override },
    text: 'name=a',
  })),
]

/** Every case of the contract, or one of 24. */
const EACH = isFull ? 1 : 24

/** Requests of one form that are tried: values hardly ever decide where it leads, and `ODD` has those that do. */
const OF_A_FORM = 1

/** Drops requests that differ only in uids and in names that the cases give, and all but the first ones of each form. */
function distinct(requests: readonly Request[]): readonly Request[] {
  const place = (one: Request) => JSON.stringify(one).replace(/[0-9a-f]{16,}|cw-suite-[\w-]+/g, '…')
  const tried = new Map<string, number>()
  return [...new Map(requests.map((one) => [place(one), one])).values()].filter((one) => {
    const form = formOf(one)
    tried.set(form, (tried.get(form) ?? 0) + 1)
    return (tried.get(form) ?? 0) <= OF_A_FORM
  })
}

/** Returns the operation as far as its address says it, the names of the parameters, and the names in the text. */
function formOf({ method, path, headers, text = '' }: Request): string {
  const { pathname, searchParams } = new URL(path, 'http://localhost')
  const names = [...text.matchAll(/"(\w+)":/g)].map(([, name]) => name)
  return JSON.stringify([
    method,
    pathname.replace(/[0-9a-f]{16,}|cw-suite-[\w-]+/g, '…'),
    [...searchParams.keys()],
    { ...headers, authorization: '' },
    names,
  ])
}

test('proxy, replay and explain lead the requests of the contract to the same place', { timeout: 300_000 }, async () => {
  const requests = [...ODD]
  for (const [nth, one] of cases.entries())
    if (nth % EACH === 0 && (one.dialect ?? 'specification') === 'specification')
      requests.push(...(await run(one, genuine.target)).exchanges.map(({ request }) => request))
  const different: unknown[] = []
  for (const [nth, request] of distinct(requests).entries()) {
    const [really, ...told] = [await proxied(request, nth), replayed(request), await explained(request)]
    if (told.some((one) => !isDeepStrictEqual(one, really))) different.push({ request, really, told })
  }
  expect(different).toEqual([])
})
