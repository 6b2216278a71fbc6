import type { ServerResponse } from 'node:http'
import { isDeepStrictEqual } from 'node:util'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { mappings } from '../../../../mappings/index.ts'
import { ApiError, CODES, type CodeName } from '../../../../src/errors.ts'
import { type Exchange, SAID, type Transcript } from '../../../mappings/transcript.ts'
import { transcripts } from '../../../mappings/transcripts.ts'
import { type Behaviour, errorIn, inWorld, messageIn } from '../fault.ts'
import type { WireAnswer } from '../wire.ts'
import { countIn } from './hunt.ts'
import { type Fuzzed, LANES, type Lane, openLane, playCases } from './requests.ts'

const GOOGLE = 'type.googleapis.com/google.rpc.'

/** v2's own answer to a call. */
export interface Said {
  readonly status: number
  readonly body: string
}

/** One v1 request, its v2 calls, and its success, written by hand in the tests of the tables. */
export interface Conversation {
  readonly name: string
  readonly operation: string
  readonly method: string
  readonly target: string
  readonly body: string
  readonly calls: readonly { readonly call: string; readonly said: Said }[]
  readonly reply: unknown
}

function conversationOf({ title, operation, request, body, calls, reply }: Transcript): Conversation {
  const [, method = '', path = '', search = ''] = /^(\S+) ([^?]+)\??(.*)$/.exec(request) ?? []
  const query = new URLSearchParams(search).toString()
  return {
    name: `${operation}: ${title}`,
    operation,
    method,
    target: path.split('/').map(encoded).join('/') + (query && `?${query}`),
    body: body === undefined ? '' : JSON.stringify(body),
    calls: calls.map(({ call, answer }) => ({ call, said: said(call, answer) })),
    reply,
  }
}

function encoded(segment: string): string {
  return encodeURIComponent(segment).replaceAll('%3A', ':')
}

function said(call: string, answer: Exchange['answer']): Said {
  if (typeof answer === 'string') return failure(new ApiError(answer, SAID), call)
  if (answer instanceof ApiError) return failure(answer, call)
  return { status: 200, body: call.startsWith('DELETE ') ? '' : JSON.stringify(answer) }
}

/** Every error of v2 has an ErrorInfo, and one of a missing resource names it (specification §7). */
function failure({ code, http, message, details }: ApiError, call: string): Said {
  const all = [...infosOf(code, call), ...details]
  return { status: http, body: JSON.stringify({ code: CODES[code].number, message, details: all }) }
}

/** Returns what a call asks for: the end of its path, or the value of its last parameter; '' if it names nothing. */
function nameIn(call: string): string {
  const [, path = '', query = ''] = /^[A-Z]+ \/[^/]+\/v\d\w*\/[^/?]+\/?([^?]*)\??(.*)$/.exec(call) ?? []
  return path.replace(/:[^/]*$/, '') || (query.split('=').at(-1) ?? '')
}

export function infosOf(code: CodeName, call = ''): readonly object[] {
  const name = nameIn(call) || 'x'
  const info = { '@type': `${GOOGLE}ErrorInfo`, reason: code, domain: 'iam.example.com' }
  const resource = { '@type': `${GOOGLE}ResourceInfo`, resourceType: 'iam.example.com/Group', resourceName: name }
  return code === 'NOT_FOUND' ? [info, resource] : [info]
}

/** Returns the call of a proxy's request as transcripts write it. */
export function callOf(method = '', url = ''): string {
  const [path, search] = url.split('?', 2)
  const pairs = search?.split('&').map((pair) => pair.split('=', 2).map(decodeURIComponent).join('='))
  return `${method} ${path}${pairs ? `?${pairs.join('&')}` : ''}`
}

const served = mappings.flatMap(({ operations }) => operations).filter(({ begin }) => begin !== undefined)

/** The conversations that succeed with the default settings. Without a name to miss, NOT_FOUND is an error of REST. */
const told = transcripts
  .filter(({ status = 200, settings, calls }) => status === 200 && !settings && calls.length > 0)
  .filter(({ calls }) => calls.every(({ call, answer }) => answer !== 'NOT_FOUND' || nameIn(call) !== ''))
  .map(conversationOf)

/** The conversations of every operation that v2 serves. */
export const conversations: ReadonlyMap<string, readonly Conversation[]> = new Map(
  served.map(({ id }) => [id, told.filter(({ operation }) => operation === id)]),
)

const silent = served.filter(({ id }) => conversations.get(id)?.length === 0)
if (silent.length > 0) throw new Error(`without a conversation: ${silent.map(({ id }) => id).join(', ')}`)

export interface Spoiled {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
  readonly cut?: true
}

/** Sends an answer, or breaks the connection in the place of one. */
export function sendSpoiled(response: ServerResponse, answer: Spoiled | undefined): void {
  if (!answer) return void response.destroy()
  const { status, headers, body, cut } = answer
  if (!cut) return void response.writeHead(status, headers).end(body)
  response.writeHead(status, { ...headers, 'content-length': '9999' })
  response.write(body, () => response.destroy())
}

/**
 * Spoils an answer of v2; `number` selects a variant. With `keeps`, the answer still has v2's meaning. Without it, no success may result.
 * Undefined if this cannot happen to an answer.
 */
export interface Spoil {
  readonly name: string
  readonly keeps?: true
  readonly apply: (said: Said, number: number, call: string) => Spoiled | undefined
}

const JSON_TYPE = { 'content-type': 'application/json' }
const one = <T>(of: readonly T[], number: number) => of[number % of.length] as T

/** Answers of a gateway itself. */
const STATUSES = [
  201, 202, 203, 204, 205, 206, 207, 226, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410, 411,
  412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 425, 426, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 507, 508, 511,
  520, 521, 522, 523, 524, 525, 526, 530,
]
const TEXTS = [
  ...['', ' ', '\r\n', '{}', '[]', 'null', 'true', '0', '""', '"ok"', 'ok', 'Not Found', '404 page not found\n', 'default backend - 404'],
  ...['<html><body><h1>404 Not Found</h1></body></html>', '<?xml version="1.0"?><Error><Code>NoSuchKey</Code></Error>', '{', '{"a":', '\0'],
  ...['{"status":"ok"}', '{"message":"no Route matched with those values"}', '{"error":"not found"}', '{"errors":[]}', '{"data":[]}'],
  ...[
    '{"items":[]}',
    '{"results":[],"total":0}',
    '{"code":0,"message":"","details":[]}',
    '{"code":"5","message":"Not Found"}',
    '{"uid":""}',
  ],
]
const HEADERS: readonly Readonly<Record<string, string>>[] = [
  JSON_TYPE,
  { 'content-type': 'text/html' },
  { 'content-type': 'text/plain; charset=utf-8' },
  {},
  { ...JSON_TYPE, 'retry-after': '0', server: 'gateway' },
  { ...JSON_TYPE, location: '/login', 'www-authenticate': 'Basic' },
  { ...JSON_TYPE, 'cache-control': 'max-age=60', age: '1', warning: '110 - "Response is Stale"' },
]

/** Details of a Status that do not name a missing resource. */
const DETAILS: readonly unknown[] = [
  [],
  undefined,
  null,
  'ErrorInfo',
  {},
  [null],
  infosOf('NOT_FOUND').slice(0, 1),
  infosOf('NOT_FOUND').slice(1),
  [{ '@type': 'type.googleapis.com/google.rpc.DebugInfo' }],
]

type Body = Record<string, unknown>

const objectOf = ({ status, body }: Said) => (status === 200 && body !== '' ? (JSON.parse(body) as Body) : undefined)

const changed = (said: Said, change: (body: Body) => unknown): Spoiled | undefined => {
  const body = objectOf(said)
  const spoiled = body && change(structuredClone(body))
  return spoiled === undefined ? undefined : { status: 200, headers: JSON_TYPE, body: JSON.stringify(spoiled) }
}

function rowsOf(body: Body): [string, Body[]] | undefined {
  const found = Object.entries(body).find(([name, value]) => Array.isArray(value) && !name.startsWith('uid') && !('uid' in body))
  return found as [string, Body[]] | undefined
}

/** True if the answer to this call is a page of a list. */
const isPaged = (call: string) => call.startsWith('GET ') && call.includes('page_size=')

/** True if the answer to this call is nothing without its rows. */
const isRows = (call: string) => call.startsWith('GET ') || call.includes(':batchCreate')

/** True if the page is the first one and begins with the first row. */
const isFirst = (call: string) => isPaged(call) && !/[?&](?:skip|page_token)=/.test(call)

/** True if the answer to a deletion is empty or the empty message. */
const isNothing = (call: string) => call.startsWith('DELETE ') || call.includes(':requestGroupAccess')

/** True for the empty message. A newer v2 may have added members to it, but none that says that something went wrong. */
const isEmpty = (body: string) =>
  body.trim() === '' ||
  (/^\{.*\}$/s.test(body) && !/"(?:code|errors?|message|status|statusCode|fault|detail|reason)":/.test(body) && isJson(body))

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const half = ({ status, body }: Said, number: number): Spoiled | undefined =>
  body.length < 2 ? undefined : { status, headers: JSON_TYPE, body: body.slice(0, 1 + (number % (body.length - 1))) }

export const SPOILS: readonly Spoil[] = [
  {
    name: 'an answer of its own',
    apply(_, number, call) {
      const status = one(STATUSES, number)
      const body = one(TEXTS, number >> 12)
      if (isNothing(call) && (status === 204 || (status === 201 && isEmpty(body)))) return undefined
      return { status, headers: one(HEADERS, number >> 7), body }
    },
  },
  {
    name: 'a success of its own',
    apply: (_, number, call) => {
      const body = one(TEXTS, number)
      if (isNothing(call) && isEmpty(body)) return undefined
      return { status: 200, headers: one(HEADERS, number >> 8), body }
    },
  },
  {
    name: 'an error of its own',
    apply(_, number) {
      const { number: code, http } = one(Object.values(CODES), number)
      const status = one([http, http, 404, 200, 500], number >> 5)
      const details = one(DETAILS, number >> 8)
      if (code !== CODES.NOT_FOUND.number && Array.isArray(details) && details[0]?.['@type']?.endsWith('ErrorInfo')) return undefined
      return { status, headers: JSON_TYPE, body: JSON.stringify({ code, message: 'Not Found', details }) }
    },
  },
  {
    name: 'another status over what v2 said',
    apply(said, number, call) {
      const status = one(STATUSES, number)
      if (said.status !== 200 || status === 201 || (status === 204 && isNothing(call))) return undefined
      return { status, headers: JSON_TYPE, body: said.body }
    },
  },
  {
    name: 'half of the body',
    apply: half,
  },
  {
    name: 'the connection cut in the body',
    apply(said, number) {
      const spoiled = half(said, number)
      return spoiled && { ...spoiled, cut: true }
    },
  },
  {
    name: 'a coding that is not there',
    apply: ({ status, body }, number) =>
      body === ''
        ? undefined
        : { status, headers: { ...JSON_TYPE, 'content-encoding': one(['gzip', 'br', 'deflate', 'zstd'], number) }, body },
  },
  {
    name: 'bytes that are no UTF-8',
    apply(said, number) {
      const body = Buffer.from(objectOf(said) ? said.body : '')
      const texts = [...body.entries()].filter(([at, byte]) => byte === 0x22 && body[at + 1] !== 0x2c).map(([at]) => at + 1)
      if (texts.length === 0) return undefined
      const at = one(texts, number)
      const wrong = one([[0xff], [0xc3, 0x28], [0xed, 0xa0, 0x80], [0xc0, 0x80]], number >> 8)
      return { status: 200, headers: JSON_TYPE, body: Buffer.concat([body.subarray(0, at), Buffer.from(wrong), body.subarray(at)]) }
    },
  },
  {
    name: 'an envelope around it',
    apply: (said, number) =>
      changed(said, (body) => one([[body], { data: body }, { body, statusCode: 200 }, JSON.stringify(body)], number)),
  },
  {
    name: 'the body twice',
    apply: (said) => (objectOf(said) ? { status: 200, headers: JSON_TYPE, body: said.body + said.body } : undefined),
  },
  {
    name: 'no rows where rows are',
    apply: (said, number, call) =>
      changed(said, (body) => {
        const list = isRows(call) ? rowsOf(body) : undefined
        if (!list) return undefined
        const { [list[0]]: rows, ...rest } = body
        const { totalCount: _, skipped: __, nextPageToken: ___, ...bare } = rest
        const kept = [bare, { ...bare, [list[0]]: {} }, { ...bare, [list[0]]: 'x' }, { ...bare, rows }, { ...bare, totalCount: '3' }]
        return one(kept, number)
      }),
  },
  {
    name: 'rows that are none',
    apply: (said, number) =>
      changed(said, (body) => {
        const list = rowsOf(body)
        if (!list || list[1].length === 0 || typeof list[1][0] !== 'object') return undefined
        list[1][number % list[1].length] = one([null, 'x', 1, []], number >> 4) as unknown as Body
        return body
      }),
  },
  {
    name: 'no uid',
    apply: (said, number) =>
      changed(said, (body) => {
        const rows = 'uid' in body ? [body] : (rowsOf(body)?.[1] ?? [])
        const row = one(rows, number)
        // A readme is also recognised by its text.
        if (typeof row?.uid !== 'string' || 'content' in row) return undefined
        const uid = one([undefined, null, '', 5, {}], number >> 4)
        row.uid = uid
        return body
      }),
  },
  {
    name: 'a total that contradicts the rows',
    apply: (said, number, call) =>
      changed(said, (body) => {
        const list = isPaged(call) ? rowsOf(body) : undefined
        if (!list) return undefined
        const [name, rows] = list
        if (rows.length > 0 && number % 3 === 0) return { ...body, totalCount: String(rows.length - 1) }
        if (number % 3 === 1) return { ...body, totalCount: one(['', 'x', '-1', '1.5', {}, true, -1, 1e300], number >> 4) }
        return isFirst(call) ? { [name]: [], totalCount: String(1 + (number % 9)), skipped: 0 } : undefined
      }),
  },
  {
    name: 'a page token that is none',
    apply: (said, number, call) =>
      changed(said, (body) => (isPaged(call) && rowsOf(body) ? { ...body, nextPageToken: one([5, true, {}, ['x']], number) } : undefined)),
  },
  { name: 'nothing', keeps: true, apply: ({ status, body }) => ({ status, headers: body === '' ? {} : JSON_TYPE, body }) },
  { name: 'another type', keeps: true, apply: ({ status, body }, number) => ({ status, headers: one(HEADERS, number), body }) },
  {
    name: 'a coding',
    keeps: true,
    apply: ({ status, body }) => ({ status, headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: gzipSync(body) }),
  },
  {
    name: 'numbers instead of their texts',
    keeps: true,
    apply: (said) =>
      objectOf(said) && {
        status: 200,
        headers: JSON_TYPE,
        body: said.body.replaceAll(/"(totalCount|size|sizeBytes|installationId)":"(\d+)"/g, '"$1":$2'),
      },
  },
  {
    name: 'an empty list without its rows',
    keeps: true,
    apply: (said, _, call) =>
      changed(said, (body) => {
        const list = isPaged(call) ? rowsOf(body) : undefined
        if (list?.[1].length !== 0 || body.totalCount !== '0') return undefined
        const { [list[0]]: _rows, ...rest } = body
        return rest
      }),
  },
  {
    name: 'the empty message of a deletion',
    keeps: true,
    apply: (_, number, call) => (isNothing(call) ? { status: 200, headers: JSON_TYPE, body: one(['', '{}', ' {} '], number) } : undefined),
  },
]

/** The calls of a request that are spoilt: one of them, those of one collection, or all. */
const SCOPES = ['one', 'collection', 'all'] as const

/** A case as it is printed when it fails. */
interface Case {
  /** The names of a conversation and of its spoil. */
  readonly told: string
  readonly spoilt: string
  readonly scope: (typeof SCOPES)[number]
  /** The call that is spoilt, or whose collection is. */
  readonly at: number
  readonly number: number
}

const cases: fc.Arbitrary<Case> = fc
  .constantFrom(...conversations.values())
  .chain((some) => fc.constantFrom(...some))
  .chain((conversation) =>
    fc.record({
      told: fc.constant(conversation.name),
      spoilt: fc.constantFrom(...SPOILS.map(({ name }) => name)),
      scope: fc.constantFrom(...SCOPES),
      at: fc.nat({ max: conversation.calls.length - 1 }),
      number: fc.nat(),
    }),
  )

/** A case in play, and its results so far. */
interface Play extends Omit<Case, 'told' | 'spoilt'> {
  readonly conversation: Conversation
  readonly spoil: Spoil
  /** The calls that have been answered. */
  readonly made: Set<number>
  spoilt: Spoiled | undefined
  unknown: string | undefined
}

/**
 * Answers conversations as a gateway in front of v2 would spoil them.
 * It fails if a success did not come from v2, or if an answer of v2 becomes anything else.
 * It also fails if an error leaves v1's form or blames the client. The exception names the seed and the smallest case.
 */
export async function fuzzGateways(numRuns: number, seed: number): Promise<Fuzzed> {
  const statuses: Record<string, number> = {}
  const plays = new Map<string, Play>()
  const v2: Behaviour = (request, response) => {
    const play = plays.get(String(request.headers.authorization))
    const answer = play && answerOf(play, callOf(request.method, request.url))
    sendSpoiled(response, answer)
  }
  let keys = 0
  const played = async (one: Case, lane: Lane) => {
    const key = `Bearer ${keys++}`
    const play = playOf(one)
    plays.set(key, play)
    const answer = await lane.ask({ text: textOf(play.conversation, key), isHead: false })
    plays.delete(key)
    const kind = `${play.spoilt && !play.spoil.keeps ? 'spoilt' : 'said'} ${answer?.status ?? 'closed'}`
    countIn(statuses, kind)
    const wrong = wrongWith(play, answer)
    if (wrong !== undefined) throw new Error(`${wrong}\n${show(play)}\n${JSON.stringify(answer?.body)}`)
  }
  await inWorld(v2, { 'upstream.v1': undefined }, async ({ proxy }) => {
    const lanes = Array.from({ length: LANES }, () => openLane(proxy.url))
    await playCases(cases, numRuns, seed, (one, at) => played(one, lanes[at] as Lane))
    for (const lane of lanes) lane.close()
  })
  return { statuses }
}

const byName = new Map([...conversations.values()].flat().map((conversation) => [conversation.name, conversation]))

function playOf({ told, spoilt, ...rest }: Case): Play {
  const conversation = byName.get(told)
  const spoil = SPOILS.find(({ name }) => name === spoilt)
  if (!conversation || !spoil) throw new Error(`nothing is called ${told}, ${spoilt}`)
  return { ...rest, conversation, spoil, made: new Set(), spoilt: undefined, unknown: undefined }
}

function textOf({ method, target, body }: Conversation, key: string): string {
  const frame = body === '' ? '' : `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`
  return `${method} ${target} HTTP/1.1\r\nhost: x\r\nauthorization: ${key}\r\n${frame}\r\n${Buffer.from(body).toString('latin1')}`
}

/** Returns the answer of the service, or of something before it, to a call; undefined for an unexpected call. */
function answerOf(play: Play, call: string): Spoiled | undefined {
  const { conversation, made, spoil, number } = play
  const fits = conversation.calls.flatMap((one, at) => (one.call === call ? [at] : []))
  const at = fits.find((one) => !made.has(one)) ?? fits.at(-1)
  const said = at === undefined ? undefined : conversation.calls[at]?.said
  if (at === undefined || !said) {
    play.unknown = call
    return undefined
  }
  made.add(at)
  const spoilt = isSpoilt(play, at) ? spoil.apply(said, number, call) : undefined
  play.spoilt ??= spoilt
  return spoilt ?? { ...said, headers: said.body === '' ? {} : { 'content-type': 'application/json' } }
}

function isSpoilt({ scope, at, conversation: { calls } }: Play, call: number): boolean {
  if (scope === 'one') return call === at
  return scope === 'all' || collectionOf(calls[call]?.call) === collectionOf(calls[at]?.call)
}

/** `/iam/v2/groups` */
const collectionOf = (call = '') => call.split(/[ ?:]/)[1]?.split('/').slice(0, 4).join('/')

/** Returns the mistake in the answer. It must be v2's answer, or an error because v2 did not give one; then the result is undefined. */
function wrongWith({ conversation, spoil, spoilt, unknown }: Play, answer: WireAnswer | undefined): string | undefined {
  if (!answer) return 'no answer'
  const { status, headers, body } = answer
  if (status < 400) {
    if (spoilt && !spoil.keeps) return `a success that v2 did not say, of ${spoil.name}`
    return isDeepStrictEqual(JSON.parse(Buffer.from(body, 'latin1').toString()), conversation.reply)
      ? undefined
      : `v2 said something else, and ${spoil.name} was done to it`
  }
  if (errorIn(body, headers.get('content-type')) === undefined) return 'an error that is not in v1 shape'
  if (messageIn({ body }) === 'internal error') return 'an error of our own making'
  if (!spoilt || spoil.keeps) return `an error, although v2 said it${unknown ? `; it was also asked ${unknown}` : ''}`
  return isBlamed(spoilt) || errorIn(body, headers.get('content-type')) !== 3 ? undefined : 'the client is blamed'
}

/** True if the spoilt answer itself blames the request. */
const isBlamed = ({ status, body }: Spoiled) => (status >= 400 && status < 500) || /"code":(3|9|11),/.test(String(body))

function show({ conversation, spoil, scope, at, number, spoilt }: Play): string {
  return JSON.stringify({ conversation: conversation.name, spoil: spoil.name, scope, call: conversation.calls[at]?.call, number, spoilt })
}
