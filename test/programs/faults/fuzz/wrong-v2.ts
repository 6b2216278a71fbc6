import { isDeepStrictEqual } from 'node:util'
import fc from 'fast-check'
import { type Call, connectClient, grpcClient, callOf as rpcOf } from '../../../contract/rpc/call.ts'
import { NotExpressible } from '../../../contract/rpc/protojson.ts'
import type { Answer } from '../../../contract/target.ts'
import { type Behaviour, inWorld } from '../fault.ts'
import { callOf, conversations, type Said, SPOILS, type Spoiled, sendSpoiled } from './gateways.ts'
import { countIn } from './hunt.ts'
import { type Fuzzed, playCases } from './requests.ts'

/** Characters of an answer in the message of a find. */
const MOST_SHOWN = 1200

/** A request of v1, and what a right v2 says to each of its calls. */
interface Shape {
  readonly name: string
  readonly method: string
  readonly target: string
  readonly body: string
  /** True for a window that may end before the list does: nobody can count what its pages lost. */
  readonly isPart?: boolean
  readonly said: (call: string, made: Map<string, number>) => Said | undefined
}

/** Answers the calls of a transcript; one that comes twice has several answers, in order. */
const told: readonly Shape[] = [...conversations.values()].flat().map(({ calls, ...shape }) => ({
  ...shape,
  said: (call, made) => {
    const answers = calls.filter((one) => one.call === call)
    return answers[Math.min(made.get(call) ?? 0, answers.length - 1)]?.said
  },
}))

const PARENT = 'a'.repeat(40)
const ROWS = 450

/** Rows of any list, as members of several resources. */
const rows = Array.from({ length: ROWS }, (_, at) => ({
  uid: `${PARENT}/${at.toString(16).padStart(16, '0')}`,
  name: `n${String(at).padStart(4, '0')}`,
  description: 'd',
  digest: `sha256:${at}`,
  deprecated: at % 2 === 0,
  sync_config: { source: PARENT },
  createTime: '2026-01-01T00:00:00Z',
  updateTime: '2026-01-02T00:00:00Z',
}))

/** A long list, page by page. */
function walked(call: string): Said {
  const { pathname, searchParams } = new URL(call.slice(call.indexOf(' ') + 1), 'http://v2')
  if (pathname.endsWith('/readme')) return { status: 200, body: JSON.stringify({ uid: pathname.split('/').slice(4, -1).join('/') }) }
  const skipped = Number(searchParams.get('skip') ?? 0)
  const from = Number(searchParams.get('page_token') ?? skipped)
  const to = Math.min(ROWS, from + Number(searchParams.get('page_size') ?? ROWS))
  const page = { [pathname.split('/')[3] ?? '']: rows.slice(from, to), totalCount: String(ROWS), skipped }
  return { status: 200, body: JSON.stringify({ ...page, ...(to < ROWS && { nextPageToken: String(to) }) }) }
}

const WALKS = [
  ...['roles', 'roles?limit=300', 'roles?limit=5&offset=210', 'roles?order_by=name', 'roles?page=3&page_size=100'].map(
    (one) => `iam/v1/${one}`,
  ),
  ...['tags', 'tags?limit=210&offset=20', 'eoltags', `repotagssummary/${PARENT}`, `repocountbysource/${PARENT}`].map(
    (one) => `registry/v1/${one}`,
  ),
]
const walks: readonly Shape[] = WALKS.map((path) => ({
  name: `long ${path}`,
  method: 'GET',
  target: `/${path}`,
  body: '',
  isPart: /limit=|page=/.test(path),
  said: walked,
}))

const shapes = new Map([...told, ...walks].map((shape) => [shape.name, shape]))

type Json = Record<string, unknown>
type Place = { readonly of: Json | unknown[]; readonly at: string }

/** A wrong answer in place of a right one. Undefined if it cannot be so wrong. A success behind it must be what v2 said rightly. */
interface Fault {
  readonly name: string
  /** Rows are gone, although they are counted. */
  readonly loses?: true
  readonly apply: (said: Said, number: number, call: string) => Spoiled | undefined
}

const TYPE = { 'content-type': 'application/json' }

/** Changes the object of an answer. */
const changing = (name: string, change: (body: Json, number: number) => unknown): Fault => ({
  name,
  apply: ({ status, body }, number) => {
    if (status !== 200 || body === '') return undefined
    const changed = change(JSON.parse(body) as Json, number)
    return changed === undefined ? undefined : { status: 200, headers: TYPE, body: JSON.stringify(changed) }
  },
})

/** Returns every place of a value within another. */
const placesOf = (of: unknown): readonly Place[] =>
  typeof of === 'object' && of !== null ? Object.keys(of).flatMap((at) => [{ of: of as Json, at }, ...placesOf((of as Json)[at])]) : []

const valueAt = ({ of, at }: Place): unknown => (of as Json)[at]

/** Values of wrong types, by what they stand in place of. A number for the name of an enum, and a text of a number, are right spellings. */
const isName = (value: unknown) => typeof value === 'string' && /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/.test(value)
const isNumber = (value: unknown) => typeof value === 'string' && /^-?\d+$/.test(value)
const KINDS: readonly (readonly [kind: string, fits: (value: unknown) => boolean, wrong: readonly unknown[]])[] = [
  [
    'text',
    (value) => typeof value === 'string' && !isName(value) && !isNumber(value),
    [5, -1, 1.5, true, false, {}, [], ['x'], [[]], { a: 1 }, [null]],
  ],
  ['name', isName, [1.5, true, false, {}, [], ['x'], { a: 1 }, ' ', 'no such-name']],
  ['flag', (value) => typeof value === 'boolean', ['true', 'false', 1, 0, '', {}, [], ['x']]],
  ['number', (value) => typeof value === 'number', ['x', {}, [], true, 1e300, -1.5, [5], '1.5x']],
  ['list', Array.isArray, ['x', 5, true, { 0: 'x' }, { a: {} }, '[]']],
  ['object', (value) => typeof value === 'object' && value !== null && !Array.isArray(value), ['x', 5, true, [], [{}], '{}']],
]

const memberFaults = KINDS.flatMap(([kind, fits, wrong]) =>
  wrong.map((value) =>
    changing(`${JSON.stringify(value)} in place of a ${kind}`, (body, number) => {
      const places = placesOf(body).filter((place) => fits(valueAt(place)))
      const place = places[number % places.length]
      if (!place) return undefined
      ;(place.of as Json)[place.at] = value
      return body
    }),
  ),
)

/** Returns the rows of a list. */
function listIn(body: Json): [name: string, rows: unknown[]] | undefined {
  if ('uid' in body) return undefined
  return Object.entries(body).find((entry): entry is [string, unknown[]] => Array.isArray(entry[1]) && typeof entry[1][0] === 'object')
}

/** Changes the rows of a list. */
const changingRows = (name: string, change: (rows: unknown[], number: number) => unknown[] | undefined, more: Json = {}): Fault =>
  changing(name, (body, number) => {
    const list = listIn(body)
    const changed = list && change(list[1], number)
    return list && changed && { ...body, ...more, [list[0]]: changed }
  })

const hasId = (row: unknown) => ['uid', 'id'].some((name) => typeof (row as Json | null)?.[name] === 'string' && (row as Json)[name] !== '')
const hasUid = (all: readonly unknown[]) => all.every((row) => typeof (row as Json | null)?.['uid'] === 'string')

/** Shows rows of a list twice. Without an id, two rows may be alike, and a write may have named one twice. */
const twice = (name: string, change: (rows: unknown[], number: number) => unknown[]): Fault => {
  const { apply } = changingRows(name, (all, number) => (all.every(hasId) ? change(all, number) : undefined))
  return { name, apply: (said, number, call) => (call.startsWith('GET ') ? apply(said, number, call) : undefined) }
}

/** Takes rows away, although the total still has them. */
const losing = (name: string, keep: (rows: unknown[]) => unknown[]): Fault => ({
  loses: true,
  ...changing(name, (body) => {
    const list = listIn(body)
    if (!list || Number(body['totalCount']) < list[1].length || body['totalCount'] === undefined) return undefined
    return { ...body, [list[0]]: keep(list[1]) }
  }),
})

const rowFaults: readonly Fault[] = [
  ...[null, 'x', 5, true, [], [{}]].map((row) =>
    changingRows(`the row ${JSON.stringify(row)}`, (all, number) => all.with(number % all.length, row)),
  ),
  ...[{ uid: '' }, { uid: null }, { uid: 5 }, { uid: {} }, { name: 'x' }, {}].map((row) =>
    changingRows(`the row ${JSON.stringify(row)} in place of one with a uid`, (all, number) =>
      hasUid(all) ? all.with(number % all.length, row) : undefined,
    ),
  ),
  twice('a row twice in a row', (all, number) => all.toSpliced(number % all.length, 0, all[number % all.length])),
  twice('the first row at the end, too', (all) => [...all, all[0]]),
  twice('all rows twice', (all) => [...all, ...all]),
  twice('more rows than any page holds', (all) => Array.from({ length: 1001 }, () => all[0])),
  changingRows('the same page again', (all) => all, { nextPageToken: 'again' }),
  losing('no first row', (all) => all.slice(1)),
  losing('no last row', (all) => all.slice(0, -1)),
  losing('half of the rows', (all) => all.slice(Math.ceil(all.length / 2))),
  losing('no rows at all', () => []),
  ...['next_page_token', 'total_count'].map((member) => changingRows(`${member} in snake case`, (all) => all, { [member]: '9' })),
  ...[5, true, {}, ['x']].map((token) => changingRows(`the token ${JSON.stringify(token)}`, (all) => all, { nextPageToken: token })),
  ...['', 'x', '-1', '1.5', {}, true, -1, 1e300].map((count) =>
    changingRows(`the total ${JSON.stringify(count)}`, (all) => all, { totalCount: count }),
  ),
  ...['x', -1, 1.5, {}, true, 1_000_000].map((skipped) => changingRows(`skipped ${JSON.stringify(skipped)}`, (all) => all, { skipped })),
]

const STATUSES = [201, 202, 203, 204, 206, 226, 300, 301, 302, 304, 307, 400, 401, 403, 404, 405, 408, 409, 410, 413, 418, 429, 431, 451]
const FAILURES = [499, 500, 501, 502, 503, 504, 507, 508, 511, 520, 530]
const statusFaults: readonly Fault[] = [...STATUSES, ...FAILURES].flatMap((status): readonly Fault[] => [
  {
    name: `${status} over what v2 said`,
    apply: ({ body }) => ({ status, headers: TYPE, body: status === 204 || status === 304 ? '' : body }),
  },
  { name: `${status} of a gateway`, apply: () => ({ status, headers: { 'content-type': 'text/html' }, body: '<h1>no</h1>' }) },
])

const spoilt: readonly Fault[] = SPOILS.filter(({ keeps }) => !keeps)

export const FAULTS: readonly Fault[] = [...memberFaults, ...rowFaults, ...statusFaults, ...spoilt]
const faults = new Map(FAULTS.map((fault) => [fault.name, fault]))
if (faults.size < FAULTS.length) throw new Error('two faults have one name')

const SCOPES = ['one', 'from', 'all'] as const
const PROTOCOLS = ['REST', 'gRPC', 'Connect'] as const
type Protocol = (typeof PROTOCOLS)[number]

const cases = fc.record({
  shape: fc
    .oneof({ weight: 9, arbitrary: fc.constantFrom(...told) }, { weight: 1, arbitrary: fc.constantFrom(...walks) })
    .map(({ name }) => name),
  fault: fc.constantFrom(...faults.keys()),
  scope: fc.constantFrom(...SCOPES),
  /** The first call that is answered wrongly. */
  at: fc.nat({ max: 4 }),
  number: fc.nat(),
  protocol: fc.constantFrom(...PROTOCOLS),
})
type Case = typeof cases extends fc.Arbitrary<infer C> ? C : never

/** A case in play. */
interface Play {
  readonly shape: Shape
  readonly fault: Fault | undefined
  readonly one: Case | undefined
  readonly made: Map<string, number>
  calls: number
  wrong: Spoiled | undefined
}

/**
 * Lets v2 answer wrongly, over REST, gRPC and Connect. An answer must be an error, or what the same v2 makes of the request without the
 * fault: never another success, never fewer rows, never a member that v2 did not send. The exception names the seed and the smallest case.
 */
export async function fuzzWrongV2(numRuns: number, seed: number): Promise<Fuzzed> {
  const statuses: Record<string, number> = {}
  const plays = new Map<string, Play>()
  const v2: Behaviour = ({ method, url, headers }, response) => {
    const play = plays.get(String(headers.authorization))
    const answer = play && answerOf(play, callOf(method, url))
    sendSpoiled(response, answer)
  }
  await inWorld(v2, { 'upstream.v1': undefined, 'upstream.v2Grpc': 'rest' }, async ({ proxy }) => {
    const clients = { gRPC: grpcClient(proxy.url), Connect: connectClient(proxy.url) }
    let keys = 0
    const ask = async (shape: Shape, protocol: Protocol, one?: Case): Promise<readonly [Answer | undefined, Play]> => {
      const key = String(keys++)
      const fault = one && faults.get(one.fault)
      const play: Play = { shape, fault, one, made: new Map(), calls: 0, wrong: undefined }
      plays.set(`Bearer ${key}`, play)
      const call = protocol === 'REST' ? undefined : expressed(shape)
      const answer = protocol === 'REST' ? overRest(proxy.url, shape, key) : call && clients[protocol].call(call, key)
      const got = await answer
      plays.delete(`Bearer ${key}`)
      return [got, play]
    }
    const truths = new Map<string, Promise<Answer | undefined>>()
    const truthOf = (shape: Shape, protocol: Protocol) => {
      const name = `${protocol} ${shape.name}`
      const truth = truths.get(name) ?? ask(shape, protocol).then(([answer]) => answer)
      truths.set(name, truth)
      return truth
    }
    const played = async (one: Case): Promise<void> => {
      const shape = shapes.get(one.shape) as Shape
      const truth = await truthOf(shape, one.protocol)
      // No message says some requests of REST, and REST alone carries some answers.
      if (!truth || truth.status >= 400) return void countIn(statuses, `${one.protocol} cannot say it`)
      const [answer, { wrong }] = await ask(shape, one.protocol, one)
      const isTrue = isDeepStrictEqual(answer?.body, truth.body) || isDeepStrictEqual(answer?.body, besides(truth.body, wrong))
      countIn(statuses, `${wrong ? 'wrong' : 'right'} ${isTrue ? 'as told' : answer?.status}`)
      const fails = isTrue ? undefined : problemOf(answer, wrong !== undefined)
      if (fails) throw new Error([fails, one, wrong, answer, truth].map((part) => JSON.stringify(part)?.slice(0, MOST_SHOWN)).join('\n'))
    }
    await playCases(cases, numRuns, seed, played).finally(() => {
      for (const { close } of Object.values(clients)) close()
    })
  })
  return { statuses }
}

/** Members of v1 that pass on what v2 says beside its rows. */
const BESIDE = { nextPageToken: 'nextPageToken', next_page_token: 'nextPageToken', skipped: 'skipped' }

/** Returns the truth with another token, or another number of skipped rows, if v2 said so. */
function besides(truth: Json, wrong: Spoiled | undefined): Json | undefined {
  if (wrong?.status !== 200 || !String(wrong.body).startsWith('{"')) return undefined
  const { nextPageToken, skipped } = bodyOf(wrong)
  const said: Json = { ...(typeof nextPageToken === 'string' && { nextPageToken }), ...(Number.isInteger(skipped) && { skipped }) }
  return Object.fromEntries(
    Object.entries(truth).map(([name, value]) => [name, said[(BESIDE as Record<string, string>)[name] ?? ''] ?? value]),
  )
}

function bodyOf({ body }: Spoiled): Json {
  try {
    return JSON.parse(String(body)) as Json
  } catch {
    return {}
  }
}

/** Returns what is wrong with an answer that is not the truth. */
function problemOf(answer: Answer | undefined, isWrong: boolean): string | undefined {
  if (!answer) return 'no answer'
  if (answer.status < 400) return 'a success that v2 did not say'
  if (!isWrong) return 'an error, although v2 said it'
  return answer.body.message === 'internal error' ? 'an error of our own making' : undefined
}

function answerOf(play: Play, call: string): Spoiled | undefined {
  const { shape, fault, one, made } = play
  const said = shape.said(call, made)
  made.set(call, (made.get(call) ?? 0) + 1)
  const nth = play.calls++
  if (!said) return undefined
  const isMet = one && (one.scope === 'all' || (one.scope === 'one' ? nth === one.at : nth >= one.at))
  const isKnown = !(shape.isPart && fault?.loses)
  const wrong = isMet && isKnown ? fault?.apply(said, one.number, call) : undefined
  play.wrong ??= wrong
  return wrong ?? { ...said, headers: said.body === '' ? {} : TYPE }
}

/** The same as a call; undefined where no message says it. */
function expressed({ method, target, body }: Shape): Call | undefined {
  try {
    return rpcOf({ method, path: target, ...(body !== '' && { text: body }) })
  } catch (thrown) {
    if (thrown instanceof NotExpressible) return undefined
    throw thrown
  }
}

async function overRest(url: string, { method, target, body }: Shape, token: string): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, ...(body !== '' && { 'content-type': 'application/json' }) }
  const response = await fetch(url + target, { method, headers, ...(body !== '' && { body }) })
  return { status: response.status, type: '', body: await response.json() }
}
