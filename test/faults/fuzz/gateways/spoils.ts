import { gzipSync } from 'node:zlib'
import { CODES } from '../../../../src/errors.ts'
import { infosOf, type Said } from './conversations.ts'

/** An answer of something before v2. */
export interface Spoiled {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Buffer
  /** True if the connection ends before the body. */
  readonly cut?: true
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
  ...[201, 202, 203, 204, 205, 206, 207, 226, 300, 301, 302, 303, 304, 307, 308, 400, 401, 402, 403, 404, 405, 406, 407, 408, 409, 410],
  ...[411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 425, 426, 428, 429, 431, 451, 499, 500, 501, 502, 503, 504, 505, 507],
  ...[508, 511, 520, 521, 522, 523, 524, 525, 526, 530],
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

/** Returns the object of v2's answer; undefined for an error and for an empty answer. */
const objectOf = ({ status, body }: Said) => (status === 200 && body !== '' ? (JSON.parse(body) as Body) : undefined)

const changed = (said: Said, change: (body: Body) => unknown): Spoiled | undefined => {
  const body = objectOf(said)
  const spoiled = body && change(structuredClone(body))
  return spoiled === undefined ? undefined : { status: 200, headers: JSON_TYPE, body: JSON.stringify(spoiled) }
}

/** Returns the name and the rows of a list. */
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
    apply: ({ status, body }, number) =>
      body.length < 2 ? undefined : { status, headers: JSON_TYPE, body: body.slice(0, 1 + (number % (body.length - 1))) },
  },
  {
    name: 'the connection cut in the body',
    apply: ({ status, body }, number) =>
      body.length < 2 ? undefined : { status, headers: JSON_TYPE, body: body.slice(0, 1 + (number % (body.length - 1))), cut: true },
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
