import { setTimeout as delay } from 'node:timers/promises'
import { authenticate } from '../auth/sts.ts'
import { type Fault, type Faults, type Journal, type JournalEntry, shifted, spoiled } from '../control.ts'
import { CODES, type Detail, isStatusError, malformed, type ResourceType, type Status, unauthenticated } from '../status.ts'
import { timestamp, type World } from '../world/store.ts'
import { type Answer, isForm, looksLikeJson, type Match, type Pairs, pairsOf, parseBody, type Router, readQuery } from './route.ts'

/** What serves requests, whichever protocol carries them. */
export type ServerParts = {
  readonly world: World
  readonly router: Router
  readonly journal: Journal
  readonly faults: Faults
  /** Milliseconds of delay before every answer. Control endpoints answer at once. */
  readonly latencyMs: number
}

/** What becomes of a request: an answer, a fault that answers in its place, or nothing, because it is cut off. */
export type RequestOutcome =
  | { readonly kind: 'answer'; readonly answer: Answer }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'cut' }

/** A request as the journal shows it. */
export type RequestEntry = Omit<JournalEntry, 'at'>

/** The longest delay of a timer. Node fires one with a longer delay at once. */
export const LONGEST_MS = 2 ** 31 - 1

/** Returns false if `ending` fires meanwhile: a delay must not hold up the shutdown. */
const pause = (ms: number, ending: AbortSignal): Promise<boolean> =>
  ms === 0 ? Promise.resolve(true) : delay(Math.min(ms, LONGEST_MS), true, { signal: ending }).catch(() => false)

/** Records a request, waits as told, and lets the next fault for it answer, or `ask`. The fault passed to `ask` may shift its list. */
export const outcomeOf = async (
  { world, journal, faults, latencyMs }: ServerParts,
  entry: RequestEntry,
  ending: AbortSignal,
  ask: (fault: Fault | undefined) => Promise<Answer>,
): Promise<RequestOutcome> => {
  journal.record({ ...entry, at: timestamp(world.clock) })
  const fault = faults.take(entry.method, entry.path)
  const waited = await pause(latencyMs + (fault?.delayMs ?? 0), ending)
  if (!waited || fault?.reset) return { kind: 'cut' }
  if (fault && (fault.status !== undefined || fault.body !== undefined)) return { kind: 'fault', fault }
  const answer = await ask(fault)
  if (!fault) return { kind: 'answer', answer }
  return { kind: 'answer', answer: { ...answer, body: spoiled(answer.body, fault), headers: { ...answer.headers, ...fault.headers } } }
}

const GOOGLE = 'type.googleapis.com/google.rpc.'

const domainOf = (service: string, serviceDomain: string): string => `${service}.${serviceDomain}`

const resourceType = (type: ResourceType, serviceDomain: string): string => {
  const [service = '', message = ''] = type.split('.', 2)
  return `${domainOf(service, serviceDomain)}/${message}`
}

const renderDetail = (detail: Detail, serviceDomain: string): Readonly<Record<string, unknown>> => {
  switch (detail.kind) {
    case 'badRequest':
      return { '@type': `${GOOGLE}BadRequest`, fieldViolations: detail.fieldViolations }
    case 'resource':
      return { '@type': `${GOOGLE}ResourceInfo`, resourceType: resourceType(detail.type, serviceDomain), resourceName: detail.name }
    case 'precondition':
      return { '@type': `${GOOGLE}PreconditionFailure`, violations: detail.violations }
  }
}

/** The v2 error body: ErrorInfo first, then the specific detail (semantics §4.1). `service` is the first path segment, e.g. `iam`. */
const renderStatus = (status: Status, service: string, serviceDomain: string) => ({
  code: CODES[status.code].code,
  message: status.message,
  details: [
    ...(status.reason ? [{ '@type': `${GOOGLE}ErrorInfo`, reason: status.code, domain: domainOf(service, serviceDomain) }] : []),
    ...status.details.map((detail) => renderDetail(detail, serviceDomain)),
  ],
})

/** The first value of a header, of which Node's types allow several. */
export const headerText = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : value?.[0]

/** A request as received. */
export type Received = {
  readonly method: string
  /** Path and query, still encoded. */
  readonly url: string
  readonly contentType: string | undefined
  readonly methodOverride: string | undefined
  readonly authorization: string | undefined
  readonly text: string
}

/** What a request asks of which route. */
type RoutedCall = Match & { readonly method: string; readonly pairs: Pairs; readonly body: unknown }

/** A call with the path that it was made with, decoded, and its Authorization header. */
type MadeCall = RoutedCall & { readonly path: string; readonly authorization: string | undefined }

/** The encoded path and the query string of a URL. */
export const splitUrl = (url: string): readonly [path: string, query: string] => {
  const at = url.indexOf('?')
  return at < 0 ? [url, ''] : [url.slice(0, at), url.slice(at + 1)]
}

const decodePath = (path: string): string => {
  try {
    return decodeURIComponent(path)
  } catch {
    return malformed(`invalid URL escape in ${JSON.stringify(path)}`)
  }
}

/** Refuses a query with a broken escape, as Go's parser does. URLSearchParams would accept it. */
const checkQuery = (query: string): string => {
  try {
    decodeURIComponent(query)
    return query
  } catch {
    return malformed(`invalid URL escape in ${JSON.stringify(query)}`)
  }
}

/**
 * Resolves a form-encoded POST. The gateway accepts it as a GET with a long query or as a method override (semantics §4.3). On a route that
 * takes forms it holds query parameters. Otherwise it is unlabelled JSON.
 */
const resolveForm = (router: Router, path: string, pairs: Pairs, { text, methodOverride }: Received): RoutedCall => {
  const method = methodOverride?.toUpperCase() ?? 'POST'
  const found = router.find(method, path)
  const json = looksLikeJson(text) || text.trim() === ''
  if (found) {
    const asQuery = found.route.form === true || method === 'GET'
    return {
      ...found,
      method,
      pairs: asQuery && !json ? [...pairs, ...pairsOf(text)] : pairs,
      body: asQuery && !json ? {} : parseBody(text),
    }
  }
  const get = router.find('GET', path)
  const form = json ? [] : pairsOf(text)
  return get ? { ...get, method: 'GET', pairs: [...pairs, ...form], body: {} } : { ...router.match(method, path), method, pairs, body: {} }
}

const resolve = (router: Router, path: string, pairs: Pairs, received: Received): RoutedCall => {
  const { method, contentType, text } = received
  if (method === 'POST' && isForm(contentType)) return resolveForm(router, path, pairs, received)
  const match = router.match(method, path)
  return { ...match, method, pairs, body: method === 'GET' ? {} : parseBody(text) }
}

const perform = async (world: World, { route, params, method, path, pairs, body, authorization }: MadeCall): Promise<Answer> => {
  const caller = route.auth === 'none' ? undefined : ((await authenticate(world, authorization)) ?? unauthenticated())
  return route.handle({ method, path, params, query: readQuery(pairs), body, caller, authorization }, world)
}

const UNEXPECTED: Status = {
  code: 'INTERNAL',
  message: 'Internal: unexpected error, see the output of the sandbox',
  reason: true,
  details: [],
}

/** The status to answer an error with. The output of the sandbox shows an error that is not a refusal. */
export const statusOf = (error: unknown): Status => {
  if (isStatusError(error)) return error.status
  process.stderr.write(`${error instanceof Error ? error.stack : String(error)}\n`)
  return UNEXPECTED
}

/** Captures `iam` and `v1` of `/iam/v1/groups`. */
const ADDRESS = /^\/([^/]*)\/?([^/]*)/

const refuse = (error: unknown, path: string, world: World): Answer => {
  const status = statusOf(error)
  const [, service = '', version = ''] = ADDRESS.exec(path) ?? []
  const body = renderStatus(status, service, world.options.serviceDomain)
  return {
    status: CODES[status.code].http,
    // v1 errors carry no details (facts §15).
    body: version === 'v1' ? { ...body, details: [] } : body,
    ...(status.code === 'UNAUTHENTICATED' ? { headers: { 'www-authenticate': status.message } } : {}),
  }
}

/** Answers one request, whose list `fault` may shift. Failures become answers too. */
export const dispatch = async (router: Router, world: World, received: Received, fault?: Fault): Promise<Answer> => {
  const [encoded, query] = splitUrl(received.url)
  try {
    const path = decodePath(encoded)
    const call = resolve(router, path, shifted(pairsOf(checkQuery(query)), fault), received)
    return await perform(world, { ...call, path, authorization: received.authorization })
  } catch (error) {
    return refuse(error, encoded, world)
  }
}

/** Answers a call whose route is known. Failures become answers too. */
export const dispatchCall = (world: World, call: MadeCall): Promise<Answer> =>
  perform(world, call).catch((error: unknown) => refuse(error, call.path, world))
