import { createHash } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { mappings } from '../../mappings/index.ts'
import { createRouter, type Router } from '../../src/serve/route.ts'
import { covers, type Operation } from '../../src/tables/operation.ts'
import type { DeclaredDifference } from '../../src/tables/tables.ts'
import { createUndescribed, documentOf, type Undescribed } from '../tools/openapi-documents.ts'
import { type Case, type Dialect, decoded, type Exchange, type Line, normalise, type Request, session, type Target } from './target.ts'

export function operationOf(router: Router, { method, path, headers }: Request): Operation | undefined {
  const match = router.match(headers?.['x-http-method-override'] ?? method, plainPath(path))
  return typeof match === 'object' ? match.operation : undefined
}

/**
 * Returns the operations that requests led to. A form posted to a path with only a GET counts as that GET (facts §12.5, semantics §4.3).
 */
export function operationsHit(router: Router, requests: readonly Request[]): ReadonlySet<string> {
  return new Set(
    requests.flatMap((request) => {
      const { method, path, headers } = request
      const isForm = method === 'POST' && router.match(headers?.['x-http-method-override'] ?? method, plainPath(path)) === 'other-method'
      const found = operationOf(router, isForm ? { method: 'GET', path } : request)
      return found ? [found.id] : []
    }),
  )
}

function plainPath(path: string): string {
  return decoded(path.split('?')[0] ?? '')
}

export interface Run {
  readonly transcript: readonly Line[]
  /** Every exchange, including those that the transcript omits. */
  readonly exchanges: readonly Exchange[]
  readonly failure: Error | undefined
}

/** Plays one case against one target and cleans up after it. */
export async function run(one: Case, target: Target): Promise<Run> {
  const { api, exchanges, all, close } = session(target, slug(one.name))
  let failure: Error | undefined
  try {
    await one.run(api)
  } catch (thrown) {
    failure = thrown instanceof Error ? thrown : new Error(String(thrown))
  }
  const asked = [...all]
  await close()
  return { transcript: normalise(exchanges, one.difference), exchanges: asked, failure }
}

/** Returns a part for names that any resource accepts (semantics §3.0) and no other case has. */
function slug(name: string): string {
  const words = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-|-$/g, '')
  return words.length <= 48 ? words : `${words.slice(0, 40)}-${createHash('sha1').update(name).digest('hex').slice(0, 7)}`
}

export interface Outcome {
  readonly case: Case
  readonly genuine: Run
  readonly proxied: Run
}

const ours = createRouter(mappings.flatMap(({ operations }) => operations))

/**
 * Returns the mistakes in one outcome. A case must pass on both sides and call the operations that it names. Without a difference, its two
 * transcripts must be equal. With one they must differ, and the code must be a known one for these operations. `router` routes the API of
 * the cases.
 */
export function complaintsOf(outcome: Outcome, differences: readonly DeclaredDifference[], router: Router = ours): string[] {
  const { case: one, genuine, proxied } = outcome
  const failures = Object.entries({ genuine, proxied }).flatMap(([side, { failure }]) => (failure ? [`${side}: ${failure.message}`] : []))
  if (failures.length > 0) return failures
  const called = operationsHit(
    router,
    proxied.exchanges.map(({ request }) => request),
  )
  const uncalled = one.operations.filter((id) => !called.has(id)).map((id) => `${id} is not called`)
  return [...uncalled, ...complaintsAboutDifference(outcome, differences)]
}

function complaintsAboutDifference({ case: one, genuine, proxied }: Outcome, differences: readonly DeclaredDifference[]): string[] {
  const apart = firstDifference(genuine.transcript, proxied.transcript)
  if (one.difference === undefined) return apart ? [`the sides differ and no difference is declared\n${apart}`] : []
  if (!apart) return [`difference ${one.difference} no longer occurs: both sides answer alike`]
  const known = differences.find(({ code }) => code === one.difference)
  if (!known) return [`difference ${one.difference} is not in mappings/differences.ts`]
  if (known.test !== one.name) return [`difference ${one.difference} says that it is pinned by "${known.test}", not by "${one.name}"`]
  return one.operations
    .filter((operation) => !known.operations.some((pattern) => covers(pattern, operation)))
    .map((operation) => `difference ${one.difference} does not name ${operation}`)
}

/** Returns the mistakes in the list of differences: codes without a case, repeated codes, operations without a case. */
export function complaintsAboutList(cases: readonly Case[], differences: readonly DeclaredDifference[]): string[] {
  return differences.flatMap(({ code, operations, test }, at) => {
    const said: string[] = []
    if (differences.findIndex((other) => other.code === code) !== at) said.push(`difference ${code} is declared twice`)
    const pinned = cases.filter(({ difference }) => difference === code)
    if (!pinned.some(({ name }) => name === test)) said.push(`difference ${code}: no case "${test}" pins it`)
    const shown = pinned.flatMap((one) => one.operations)
    const unseen = operations.filter((pattern) => !shown.some((operation) => covers(pattern, operation)))
    return [...said, ...unseen.map((pattern) => `difference ${code}: its case does not show ${pattern}`)]
  })
}

/** Describes the first place at which two transcripts differ; undefined if they are equal. */
export function firstDifference(genuine: readonly Line[], proxied: readonly Line[]): string | undefined {
  for (let at = 0; at < Math.max(genuine.length, proxied.length); at++) {
    const [left, right] = [genuine[at], proxied[at]]
    if (!isDeepStrictEqual(left, right)) return `${left?.['request']}\nnative:  ${JSON.stringify(left)}\nproxied: ${JSON.stringify(right)}`
  }
  return undefined
}

const contracts = new Map<Dialect, Undescribed>()

/** What cases send because v1 ignores it. The group of a binding and of terms is in the path. */
const IGNORED = /parameter (colour|order_?by|skip|latest_?event_?type),|"additionalProperty":"(colour|group|resource_?limits)"/i

/** Returns what the OpenAPI document says otherwise of the exchanges of a case, at both sides. */
export function complaintsAboutDocument({ genuine, proxied }: Outcome, dialect: Dialect): readonly string[] {
  const undescribed = contracts.get(dialect) ?? createUndescribed(documentOf(dialect))
  contracts.set(dialect, undescribed)
  const said = Object.entries({ genuine, proxied }).flatMap(([side, { exchanges }]) =>
    exchanges.flatMap((exchange) => {
      const operation = operationOf(ours, exchange.request)
      return operation ? undescribed(operation.id, exchange).map((sentence) => `${side}: ${sentence}`) : []
    }),
  )
  return [...new Set(said)].filter((sentence) => !IGNORED.test(sentence))
}
