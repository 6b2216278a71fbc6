import pLimit from 'p-limit'
import { mappings } from '../../../mappings/index.ts'
import type { Comparison } from '../../../src/migrate/records/record.ts'
import type { Sandbox } from '../../../src/sandbox/start.ts'
import { isRead } from '../../../src/serve/sides.ts'
import type { Operation } from '../../../src/tables/operation.ts'
import { DIALECTS } from '../../../src/tables/uid.ts'
import { shuffled } from '../mutants/mutant.ts'
import { count, createTally, describe, placesOf, type Slice, type SliceOptions, type Tally } from './judge.ts'
import { type Bench, onBenches, uidsOf } from './reads.ts'
import { COMPARING, type Comparing, type Received, receive } from './stage.ts'

/** Callers that both services know. */
export const KNOWN = ['owner', 'viewer', 'outsider'] as const

/** Reads at the same time. */
const PARALLEL = 12

/** Reads lists as each known caller, and counts what was recorded of each read. */
export async function readAsKnown({ comparing }: Bench, mode: Comparing, lists: readonly OddList[], tally: Tally): Promise<void> {
  const differ = comparing[mode]
  const limit = pLimit(PARALLEL)
  const read = async ({ path }: OddList, role: (typeof KNOWN)[number]) => {
    const caller = differ.caller({ role })
    await caller.introduce()
    await caller.send('GET', path)
    return { what: `${role}, GET ${path}`, hash: caller.hash }
  }
  const sent = await Promise.all(lists.flatMap((list) => KNOWN.map((role) => limit(() => read(list, role)))))
  const records = await differ.records()
  for (const { what, hash } of sent) {
    const reason = problemOf(records.get(hash) ?? [])
    count(tally, reason === undefined ? { is: 'silent' } : { is: 'flagged', reason }, what)
  }
}

/** Says what is wrong with the comparisons of one read; undefined if they say that it was compared and is well. */
function problemOf(recorded: readonly Comparison[]): string | undefined {
  if (recorded.length === 0) return 'not compared'
  const wrong = recorded.find((comparison) => !isWell(comparison))
  return wrong && describe(wrong)
}

/** A refusal of v1 that v2 was not asked for stays open. */
function isWell({ outcome, v1 }: Comparison): boolean {
  return outcome === 'match' || outcome === 'expected' || (outcome === 'inconclusive' && v1?.status === 403)
}

/** A list with a window and an order, right or wrong. */
export interface OddList {
  readonly operation: Operation
  /** v1 path and query. */
  readonly path: string
}

const NUMBERS = ['0', '1', '3', '500', '-1', '2147483647', '2147483648', 'abc', '']

/** Windows in each spelling, alone and mixed; and the page tokens and skips of the lists that v1 paged by token. */
const WINDOWS: readonly string[] = [
  ...['limit', 'offset', 'page', 'page_size', 'per_page', 'skip'].flatMap((name) => NUMBERS.map((number) => `${name}=${number}`)),
  ...['limit=3&offset=1', 'offset=48&limit=5', 'page=2&page_size=3', 'page_number=2&per_page=3', 'page=3&pageSize=1', 'perPage=2'],
  ...['page=2&offset=1', 'limit=2&page_size=5', 'offset=0&page=2', 'limit=2&limit=3', 'skip=1&limit=2', 'skip=2&page_size=3'],
  ...['page_token=', 'page_token=&limit=2'],
]

const COLUMNS = ['id', 'uid', 'name', 'created_at', 'create_time', 'updated_at', 'last_updated', 'createTime', 'colour', '']

/** Orders by columns that all lists, some or none have; those of the list of advisories; and orders beside windows. */
const ORDERS: readonly string[] = [
  ...COLUMNS.flatMap((column) => ['', '%20desc', '%20ASC', '%20sideways'].map((way) => `order_by=${column}${way}`)),
  ...['ID_DESC', 'CREATED_AT_ASC', 'ORDER_BY_UNSPECIFIED', '3', '99'].map((name) => `order_by=${name}`),
  ...['orderBy=name', 'order_by=id&order_by=name', 'order_by=name%20desc&limit=2', 'order_by=id%20desc&page=2&page_size=2'],
  ...['order_by=colour&limit=abc', 'order_by=colour&page_size=-1', 'order_by=id&offset=-1'],
]

/** Every served list with each of these windows and orders. Tags are those of one repo, so that no answer is too large to be compared. */
export async function oddLists(sandbox: Sandbox): Promise<readonly OddList[]> {
  const { repo, advisory } = await uidsOf(sandbox)
  const variables: Readonly<Record<string, string>> = {
    'iam.terms.list': sandbox.organization,
    'libraries.artifacts.list_versions': 'python:requests',
    'vulnerabilities.advisory_events.list': advisory,
  }
  const ofRepo = `uidp.children_of=${repo}`
  const scopes: Readonly<Record<string, string>> = { 'registry.tags.list': ofRepo, 'registry.eol_tags.list': ofRepo }
  const served = mappings.flatMap(({ operations }) => operations).filter((one) => one.begin && one.rows && isRead(one))
  return served.flatMap((operation) => {
    const path = operation.template.replace(/\{[^}]+\}/, variables[operation.id] ?? '')
    const scope = scopes[operation.id] ?? ''
    return ['', ...WINDOWS, ...ORDERS].map((odd) => ({ operation, path: `${path}?${[scope, odd].filter(Boolean).join('&')}` }))
  })
}

/** The headers of strangers: a wrong token, and none. */
const STRANGERS: readonly Readonly<Record<string, string>>[] = [{ authorization: 'Bearer wrong' }, {}]

/** Reads lists that need a credential as strangers. They are not compared, so their answers are held against those of genuine v1 here. */
export async function readAsStrangers({ sandbox, oracle }: Bench, lists: readonly OddList[], tally: Tally): Promise<void> {
  const limit = pLimit(PARALLEL)
  const read = async (path: string, headers: Readonly<Record<string, string>>) => {
    const [genuine, proxied] = await Promise.all([sandbox.url, oracle.proxy.url].map((url) => receive(url + path, headers)))
    const reason = strangersProblemOf(genuine as Received, proxied as Received)
    count(tally, reason === undefined ? { is: 'silent' } : { is: 'flagged', reason }, `a stranger, GET ${path}`)
  }
  const guarded = lists.filter(({ operation }) => !operation.takesNoToken)
  await Promise.all(guarded.flatMap(({ path }) => STRANGERS.map((headers) => limit(() => read(path, headers)))))
}

/** A stranger is refused like by v1, or for the request by the proxy itself, which is declared. */
function strangersProblemOf(genuine: Received, proxied: Received): string | undefined {
  if (genuine.status === 401 && proxied.status === 400) return undefined
  const places = placesOf(genuine, proxied)
  return places.length === 0 ? undefined : `${genuine.status}×${proxied.status} ${places.map(({ at }) => at).join(', ')}`
}

/** Lists in each dialect. Three known callers read each of them in two modes: 5,040 reads. */
const LISTS = 420

/** Lists that are read before their records are. */
const BATCH = 100

/** Nothing is spoiled and nobody writes: nothing may be flagged, and nothing may differ that is not declared. */
export const restSlice: Slice = {
  name: 'rest',
  tries: 'every served list with right and wrong windows and orders, of five callers, with nothing spoiled',
  run: ({ seed, ms }) => onBenches((bench) => scoreBench(bench, { seed, ms: ms && ms / DIALECTS.length })),
}

async function scoreBench(bench: Bench, { seed, ms }: SliceOptions): Promise<readonly Tally[]> {
  const all = shuffled(await oddLists(bench.sandbox), seed)
  const lists = ms === undefined ? all.slice(0, LISTS) : all
  const end = performance.now() + (ms ?? Number.POSITIVE_INFINITY)
  const tallyOf = (what: string, cases?: number) => createTally(`rest, ${what}, ${bench.dialect}`, 1, cases)
  const known = COMPARING.map((mode) => ({ mode, tally: tallyOf(mode, all.length * KNOWN.length) }))
  const strangers = tallyOf('strangers')
  for (let from = 0; from < lists.length && performance.now() < end; from += BATCH) {
    const batch = lists.slice(from, from + BATCH)
    for (const { mode, tally } of known) await readAsKnown(bench, mode, batch, tally)
    await readAsStrangers(bench, batch, strangers)
  }
  return [...known.map(({ tally }) => tally), strangers]
}
