import type { Socket } from 'node:net'
import fc, { type Arbitrary } from 'fast-check'
import { mappings } from '../../../../mappings/index.ts'
import { ApiError, asApiError, CODES, type CodeName } from '../../../../src/errors.ts'
import { type Answer, answer, begin, bytesOf, refusal, type TranslateSettings } from '../../../../src/serve/answer.ts'
import type { Field, Fields, FieldType, Source } from '../../../../src/tables/fields.ts'
import type { JsonObject } from '../../../../src/tables/json.ts'
import type { Operation, V1Request } from '../../../../src/tables/operation.ts'
import { spellings } from '../../../../src/tables/query.ts'
import type { Resource } from '../../../../src/tables/resource.ts'
import type { Call } from '../../../../src/tables/turn.ts'
import { v1Form } from '../../../properties/forms.ts'
import { sending } from '../../../serve/sends.ts'
import { type Behaviour, errorIn, inWorld, messageIn } from '../fault.ts'
import { dial, readAnswers, type WireAnswer } from '../wire.ts'
import { countIn } from './hunt.ts'

export interface WireRequest {
  readonly text: string
  readonly isHead: boolean
}

const operations: readonly Operation[] = mappings.flatMap((mapping) => mapping.operations)

const NASTY = [
  ...['', '..', '../roles', '%2e%2e%2f', '%2F', '%00', '%0d%0aX-Evil:1', '%zz', '%', 'a//b', '__proto__', 'constructor', '*', ':verb'],
  ...['{id=**}', '-1', '0', '99999999999999999999', '1e400', 'NaN', 'null', 'true', '2026-01-01T00:00:00Z', '%F0%9F%94%91', '%ff', "';--"],
  ...['<script>'],
]

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD', 'OPTIONS', 'TRACE', 'PROPFIND', 'BREW', 'get']
const PREFIXES = [
  ...['/iam/v1/', '/registry/v1/', '/libraries/v1/', '/advisory/v1/', '/events/v1/', '/ping/v1/', '/iam%2Fv1/', '//iam/v1/', '/'],
]

const hex = (length: number) => fc.array(fc.constantFrom(...'0123456789abcdef'), { minLength: length, maxLength: length })
const uid = hex(40).map((digits) => digits.join(''))
const uidPath = fc.oneof(
  uid,
  fc.tuple(uid, hex(16)).map(([parent, own]) => `${parent}/${own.join('')}`),
)

const visible = fc.string({ unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)), maxLength: 12 })

const encoded = fc.string({ unit: 'grapheme', maxLength: 8 }).map((text) => encodeURIComponent(text))
const value = fc.oneof({ weight: 3, arbitrary: uidPath }, fc.constantFrom(...NASTY), visible, encoded)

function pathOf({ template }: Operation): Arbitrary<string> {
  return fc.array(value, { minLength: 4, maxLength: 4 }).map((values) => {
    const left = [...values]
    return template.replaceAll(/\{[^}]+\}/g, () => left.pop() ?? '')
  })
}

function queryOf({ params, ownParams }: Operation): Arbitrary<string> {
  const names = [...Object.keys(params), ...ownParams, 'page_size', 'limit', 'offset', 'order_by', 'id'].flatMap(spellings)
  const name = fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...names) }, visible)
  const pair = fc.tuple(name, value).map(([left, right]) => `${left}=${right}`)
  const pairs = fc.array(fc.oneof({ weight: 8, arbitrary: pair }, visible), { maxLength: 4 })
  return pairs.map((all) => (all.length === 0 ? '' : `?${all.join('&')}`))
}

const HEADER_NAMES = [
  ...['accept', 'accept-encoding', 'authorization', 'baggage', 'cgclientid', 'content-encoding', 'content-type', 'cookie', 'expect'],
  ...['forwarded', 'if-none-match', 'range', 'te', 'traceparent', 'tracestate', 'trailer', 'upgrade', 'user-agent', 'via'],
  ...['x-crosswalk-mode', 'x-forwarded-for', 'x-http-method-override', 'x-request-id'],
]
const HEADER_VALUES = [
  ...['100-continue', 'GET', 'DELETE', 'h2c', 'gzip', 'application/json', 'application/x-www-form-urlencoded', 'Bearer x', 'trailers'],
  ...['v2'],
]

const headerText = fc.string({ unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)), maxLength: 20 })
const header = fc.tuple(fc.constantFrom(...HEADER_NAMES), fc.oneof(fc.constantFrom(...HEADER_VALUES), headerText))
const brokenHeader = fc.constantFrom('no colon', ': no name', 'x y: z', 'x: a\0b', ' folded: x', 'content-length: x')
const headerPairs = fc.uniqueArray(header, { maxLength: 4, selector: ([name]) => name })
const headers = fc
  .tuple(headerPairs, sometimes(brokenHeader))
  .map(([lines, broken]) => [...lines.map(([name, text]) => `${name}: ${text}`), ...broken])

function sometimes(arbitrary: Arbitrary<string>): Arbitrary<readonly string[]> {
  return fc.oneof({ weight: 99, arbitrary: fc.constant([]) }, { weight: 1, arbitrary: arbitrary.map((one) => [one]) })
}

const depths = fc.integer({ min: 1, max: 100 }).map((depth) => `${'{"a":['.repeat(depth)}1${']}'.repeat(depth)}`)

function bodyOf({ request }: Operation): Arbitrary<string> {
  const own = request ? v1Form(request.fields).map((form) => JSON.stringify(form)) : fc.constant('{}')
  const cut = fc.tuple(own, fc.nat({ max: 60 })).map(([text, at]) => text.slice(0, at))
  const utf8 = fc.oneof({ weight: 4, arbitrary: own }, fc.json(), cut, depths).map((text) => Buffer.from(text, 'utf8').toString('latin1'))
  const bytes = fc.uint8Array({ maxLength: 30 }).map((all) => Buffer.from(all).toString('latin1'))
  return fc.oneof({ weight: 6, arbitrary: utf8 }, bytes, fc.constantFrom('', 'null', '[]', '"x"', 'a=b&c=d'))
}

function requestOf(operation: Operation): Arbitrary<WireRequest> {
  const method = fc.oneof({ weight: 6, arbitrary: fc.constant<string>(operation.method) }, fc.constantFrom(...METHODS))
  const wild = fc.tuple(fc.constantFrom(...PREFIXES), visible).map(([prefix, rest]) => prefix + rest)
  const path = fc.oneof({ weight: 6, arbitrary: pathOf(operation) }, wild)
  return fc
    .tuple(method, path, queryOf(operation), headers, bodyOf(operation), fc.boolean())
    .map(([name, target, query, lines, body, chunked]) => {
      const frame = body === '' ? [] : [chunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`]
      const head = [`${name} ${target}${query} HTTP/1.1`, 'host: x', ...lines, ...frame, '', ''].join('\r\n')
      const framed = chunked && body !== '' ? `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n` : body
      return { text: head + framed, isHead: name === 'HEAD' }
    })
}

export const anyRequest: Arbitrary<WireRequest> = fc.oneof(...operations.map(requestOf))

export type Lane = ReturnType<typeof openLane>

export function openLane(url: string) {
  let socket: Socket | undefined
  let received = ''
  let look = (_closed: boolean) => {}

  const connect = (): Socket => {
    const fresh = dial(url)
    received = ''
    fresh.setEncoding('latin1')
    fresh.on('data', (chunk: string) => {
      if (socket !== fresh) return
      received += chunk
      look(false)
    })
    fresh.on('close', () => {
      if (socket !== fresh) return
      socket = undefined
      look(true)
    })
    return fresh
  }
  return {
    /** Returns the final answer; undefined if the server closed the connection without one. Extra bytes count as the next answer. */
    ask({ text, isHead }: WireRequest) {
      return new Promise<WireAnswer | undefined>((resolve) => {
        look = (closed) => {
          const answers = readAnswers(received, closed, isHead ? [0] : [])
          const final = answers.findIndex(({ status, broken }) => status >= 200 && !broken)
          const answer = answers[final]
          if (!answer && !closed) return
          look = () => {}
          received = received.slice(answers.slice(0, final + 1).reduce((sum, { length }) => sum + length, 0))
          // A connection that the server will close soon must not get the next request.
          if (answer?.headers.get('connection') === 'close') {
            socket?.destroy()
            socket = undefined
          }
          resolve(answer)
        }
        socket ??= connect()
        socket.write(text, 'latin1')
      })
    },
    close: () => socket?.destroy(),
  }
}

export const LANES = 16

/** Plays so many cases at a time, each with the number of its lane. An exception names the seed and the smallest case. */
export async function playCases<C>(one: Arbitrary<C>, numRuns: number, seed: number, play: (one: C, lane: number) => Promise<void>) {
  const some = fc.array(one, { minLength: LANES, maxLength: LANES })
  const property = fc.asyncProperty(some, async (all) => void (await Promise.all(all.map(play))))
  await fc.assert(property, { numRuns: Math.ceil(numRuns / LANES), seed, endOnFailure: true })
}

export interface Fuzzed {
  /** Answers by status, to show that the cases reach everything. */
  readonly statuses: Readonly<Record<string, number>>
}

/** An object that is any answer of v2: with a uid, the rows of every list, and a member of every other message. */
const ANYTHING = JSON.stringify({
  ...{ uid: 'a', response: 'pong', eligible: true, group: {}, identityProviderUid: 'a', documentIds: [], size: '1', architectures: [] },
  ...{ content: '', counts: [], documents: [], resolvedVulnsReports: [], parent: 'a', termsAcceptances: [] },
  ...Object.fromEntries(
    mappings.flatMap(({ operations }) =>
      operations.flatMap(({ answer }) => (answer && 'plural' in answer ? [[(answer as Resource).plural, []]] : [])),
    ),
  ),
})

/** v2 says how many rows it skipped, if it is asked to. */
function skipping(said: string, url = ''): string {
  const [, skip] = /[?&]skip=(\d+)/.exec(url) ?? []
  return skip === undefined ? said : said.replace('{', `{"skipped":${skip},`)
}

const content: Behaviour = ({ method, url }, response) => {
  response.writeHead(200, { 'content-type': 'application/json' })
  // The group of a domain is a message, and that of accepted terms a uid.
  const group = url?.includes('/terms') ? ANYTHING.replace('"group":{}', '"group":"a"') : ANYTHING
  // A status is a member of an error, but for what is checked.
  const said = url?.includes(':check') ? group.replace('{', '{"status":"CHECK_STATUS_READY",') : skipping(group, url)
  response.end(method === 'DELETE' || url?.includes(':requestGroupAccess') ? '{}' : said)
}

/**
 * Sends random requests to the whole proxy. It fails if an answer leaves v1's form, is an error of our own, or does not arrive.
 * The exception names the seed and the smallest case.
 */
export function fuzzRequests(cases: number, seed: number): Promise<Fuzzed> {
  const statuses: Record<string, number> = {}
  return inWorld(content, { 'upstream.v1': undefined }, async ({ proxy }) => {
    const lanes = Array.from({ length: LANES }, () => openLane(proxy.url))
    await playCases(anyRequest, cases, seed, async (request, at) => {
      const answer = await lanes[at]?.ask(request)
      countIn(statuses, String(answer?.status ?? 'closed'))
      const wrong = wrongWith(request, answer)
      if (wrong !== undefined) throw new Error(`${wrong}\n${JSON.stringify(request.text)}\n${JSON.stringify(answer)}`)
    })
    for (const lane of lanes) lane.close()
    return { statuses }
  })
}

function wrongWith({ isHead }: WireRequest, answer: WireAnswer | undefined): string | undefined {
  if (!answer) return 'the connection was closed without an answer'
  const { status, headers, body } = answer
  if (status === 500) return 'v2 was content, and the answer is 500'
  if (isHead) return body === '' ? undefined : 'a HEAD was answered with a body'
  if (headers.get('content-type') !== 'application/json') return `the type is ${headers.get('content-type')}`
  if (status >= 400 && errorIn(body, 'application/json') === undefined) return 'the error has no v1 shape'
  if (status >= 400 && messageIn({ body }) === 'internal error') return 'an error of our own making'
  if (status < 400) JSON.parse(body)
  return undefined
}

/** Stands for a value that is nested too deeply for fast-check to print. */
const DEEP = '<deep>'
const DEPTH = 20_000

export function textOf(answer: JsonObject): string {
  return JSON.stringify(answer).replaceAll(JSON.stringify(DEEP), () => '['.repeat(DEPTH) + ']'.repeat(DEPTH))
}

/** A value of any type in place of the expected one. */
const junk: Arbitrary<unknown> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom<unknown>(null, true, 0, -1, 1.5, 1e300, '', ' ', 'x', [], {}, [[]], [null], { '': null }, '%2F/..'),
  },
  { weight: 4, arbitrary: fc.string({ unit: 'binary', maxLength: 6 }) },
  { weight: 4, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  { weight: 1, arbitrary: fc.constant(DEEP) },
)

/** A single wrong member makes a whole answer an error, so that few are wrong. */
const mostly = (right: Arbitrary<unknown>): Arbitrary<unknown> => fc.oneof({ weight: 40, arbitrary: right }, { weight: 1, arbitrary: junk })

export const uids = fc.constantFrom(
  'a'.repeat(40),
  `${'a'.repeat(40)}/${'b'.repeat(16)}`,
  `${'a'.repeat(40)}/${'c'.repeat(16)}`,
  '',
  'x',
  '/',
)
const words = fc.constantFrom('', 'x', '2026-01-01T00:00:00Z', '3600s', '9007199254740993')

function drawn(type: FieldType): Arbitrary<unknown> {
  switch (type.kind) {
    case 'time':
      return fc.constantFrom('2026-01-01T00:00:00Z', '0001-01-01T00:00:00.5Z', '9999-12-31T23:59:59+01:00')
    case 'flag':
      return fc.boolean()
    case 'int':
      return fc.integer()
    case 'choice':
      return fc.constantFrom<unknown>(...type.of.rows.map(([, v2]) => v2), 'NOT_IN_THE_TABLE', 99)
    case 'object':
      return messageOf(type.fields)
    case 'list':
      return fc.array(mostly(drawn(type.of)), { maxLength: 2 })
    case 'map':
      return fc.dictionary(fc.constantFrom('k', '__proto__', 'uid', ''), mostly(drawn(type.of)), { maxKeys: 2 })
    default:
      return fc.oneof(words, uids)
  }
}

function sourcesOf(source: Source | undefined): readonly string[] {
  if (source === undefined) return []
  if (typeof source === 'string') return [source]
  return 'parentOf' in source ? [source.parentOf] : source.firstOf.flatMap(sourcesOf)
}

/** A v2 message as its table expects it, sometimes with members of wrong types. */
function messageOf(fields: Fields): Arbitrary<JsonObject> {
  const members = Object.values(fields).flatMap((field) => sourcesOf(field.source).map((path) => memberAt(path.split('.'), field)))
  return fc.tuple(...members).map((all) => Object.assign({}, ...all) as JsonObject)
}

function memberAt(path: readonly string[], field: Field): Arbitrary<JsonObject> {
  const value = fc.option(mostly(path[0] === 'uid' ? uids : drawn(field.type)), { nil: undefined, freq: 5 })
  return value.map((one) => path.reduceRight<unknown>((inner, member) => (member === '' ? inner : { [member]: inner }), one) as JsonObject)
}

const errors = fc
  .tuple(fc.constantFrom(...(Object.keys(CODES) as CodeName[]).filter((code) => code !== 'OK')), fc.array(fc.jsonValue(), { maxLength: 2 }))
  .map(([code, details]) => new ApiError(code, 'said v2', { details: details.filter((one) => typeof one === 'object' && one) as never[] }))

/** Possible answers of v2 to any call of an operation: a message, a page of them, an error, or anything else. */
export function answersOf({ answer, calls }: Operation): Arbitrary<JsonObject | ApiError> {
  const row = answer ? messageOf(answer.fields) : fc.constant<JsonObject>({})
  const plurals = ['items', ...calls.map((call) => /[a-z]+$/i.exec(call)?.[0] ?? 'items')]
  const page = fc
    .record({
      rows: mostly(fc.array(mostly(row), { maxLength: 4 })),
      nextPageToken: mostly(fc.constantFrom('', '', 't1', 't2')),
      totalCount: mostly(fc.constantFrom('0', '3', '500')),
      skipped: mostly(fc.constantFrom(0, 1)),
    })
    .map(({ rows, ...rest }) => ({ ...Object.fromEntries(plurals.map((name) => [name, rows])), ...rest }) as JsonObject)
  const other = fc.dictionary(fc.constantFrom('uid', 'items'), junk) as Arbitrary<JsonObject>
  return fc.oneof({ weight: 4, arbitrary: page }, { weight: 4, arbitrary: row }, errors, other)
}

const operationsOfAnswers = new Map<string, Operation>(
  mappings.flatMap((mapping) =>
    mapping.operations.filter(({ begin }) => begin !== undefined).map((operation) => [operation.id, operation]),
  ),
)

/** Enough for every plan; an endless walk over pages soon reaches it. */
const limits = { callsPerRequest: 40, parallelCalls: 8, bufferedRows: 1, rowsPerRequest: 1000 }

const settings: Arbitrary<TranslateSettings> = fc.record({
  dialect: fc.constantFrom('specification' as const, 'published' as const),
  maskCase: fc.constantFrom('snake' as const, 'camel' as const),
  replaceMask: fc.constantFrom('*' as const, 'known' as const),
  readmes: fc.boolean(),
  notFound: fc.constantFrom('empty' as const, 'error' as const),
  unknownParameters: fc.constant('drop' as const),
  limits: fc.constant(limits),
})

type Pairs = readonly (readonly [string, readonly string[]])[]

const QUERIES: readonly Pairs[] = [
  [],
  [['limit', ['2']]],
  [['page_size', ['3']]],
  [['id', ['a'.repeat(40)]]],
  [['uidp.children_of', ['a'.repeat(40)]]],
]

function answersRequestOf({ template, method }: Operation): Arbitrary<V1Request> {
  const names = [...template.matchAll(/\{([^}=]+)/g)].map(([, name = '']) => name)
  const params = fc.record(Object.fromEntries(names.map((name) => [name, uids])))
  const query = fc.constantFrom(...QUERIES).map((pairs) => new Map(pairs))
  const body = method === 'GET' || method === 'DELETE' ? fc.constant(undefined) : fc.oneof(fc.jsonValue(), fc.constant({ name: 'x' }))
  return fc.record({ params, query, body })
}

const cases = fc.oneof(
  ...[...operationsOfAnswers.values()].map((operation) =>
    fc.record({
      id: fc.constant(operation.id),
      request: answersRequestOf(operation),
      answers: fc.array(answersOf(operation), { minLength: 1, maxLength: 4 }),
      chosen: settings,
    }),
  ),
)

/**
 * Gives random v2 answers to the translators. It fails if one throws, answers an error of our own, or leaves v1's form.
 * The exception names the seed and the smallest case.
 */
export async function fuzzAnswers(numRuns: number, seed: number): Promise<Fuzzed> {
  const statuses: Record<string, number> = {}
  const property = fc.asyncProperty(cases, async ({ id, request, answers, chosen }) => {
    const operation = operationsOfAnswers.get(id) as Operation
    let made = 0
    const send = sending(async ({ read }: Call) => {
      const answer = answers[made++ % answers.length]
      if (answer instanceof ApiError) throw answer
      const text = textOf(answer ?? {})
      return read?.([Buffer.from(text)]) ?? (JSON.parse(text) as JsonObject)
    })
    const errors: ApiError[] = []
    const first = () => begin(operation, request, chosen)
    const given = new Promise<Answer>((done) => {
      const failed = (thrown: unknown) => {
        const error = asApiError(thrown)
        errors.push(error)
        done(refusal(operation, chosen, error))
      }
      answer(first, send, chosen.limits, { done, failed })
    })
    const status = await statusOf(await given)
    countIn(statuses, status)
    const own = errors.find(({ message }) => message === 'internal error')
    if (own) throw new Error(`${id}: an error of our own making: ${(own.cause as Error).stack}`)
  })
  await fc.assert(property, { numRuns, seed, endOnFailure: true })
  return { statuses }
}

/** Reads an answer to its end; throws if v1 could not give it. */
async function statusOf(answer: Answer): Promise<string> {
  if ('stream' in answer) return readStream(answer.stream)
  const text = 'text' in answer ? Buffer.concat(bytesOf(answer.text)).toString() : jsonOf(answer.body)
  if (text === undefined) return 'too deep'
  if (answer.status >= 400 && errorIn(text, 'application/json') === undefined) throw new Error(`not in v1's shape: ${text}`)
  return String(answer.status)
}

/** Undefined if a member is nested too deeply to be written, which `ServedRequest` reports. */
function jsonOf(body: unknown): string | undefined {
  try {
    return JSON.stringify(body)
  } catch (error) {
    if (error instanceof RangeError) return undefined
    throw error
  }
}

async function readStream(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = ''
  try {
    for await (const piece of stream) text += Buffer.from(piece).toString()
  } catch (error) {
    if (error instanceof ApiError || error instanceof RangeError) return 'broken off'
    throw error
  }
  JSON.parse(text)
  return '200 streamed'
}
