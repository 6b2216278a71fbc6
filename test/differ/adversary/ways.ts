import { setTimeout as delay } from 'node:timers/promises'
import type { RelayedAnswer, Spoil } from '../stage/relay.ts'

/** A way in which v2 can be wrong. */
export interface Way {
  readonly name: string
  readonly spoil: Spoil
  /** One more call mends it: of a list that is too short, or of a read whose connection is reset. A client sees nothing of one such answer. */
  readonly heals?: true
  /** Only the deadline tells it. Every other way has all the time that a busy machine takes. */
  readonly isLate?: true
}

/** Statuses of HTTP and of its registry, and some that nobody registered. A status below 200 ends no answer. */
const SUCCESSES = [201, 202, 203, 204, 205, 206, 207, 226, 299]
const REDIRECTS = [300, 301, 302, 303, 304, 307, 308]
const REFUSALS = [
  400, 401, 402, 403, 404, 405, 406, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 418, 421, 422, 423, 424, 425, 426, 428,
]
const LIMITS = [429, 431, 451, 460, 499]
const FAILURES = [500, 501, 502, 503, 504, 505, 506, 507, 508, 511, 520, 530, 599]

/** The gRPC code that v2 writes into the body of a status (specification §3). */
const CODES: Readonly<Record<number, number>> = {
  400: 3,
  401: 16,
  403: 7,
  404: 5,
  409: 6,
  412: 9,
  429: 8,
  499: 1,
  501: 12,
  503: 14,
  504: 4,
}

const JSON_TYPE = { 'content-type': 'application/json' }

const answer = (status: number, body: unknown, headers = JSON_TYPE): RelayedAnswer => ({
  status,
  headers,
  body: Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)),
})

const errorBody = (status: number) => ({ code: CODES[status] ?? (status >= 500 ? 13 : 2), message: 'no', details: [] })

const always = (name: string, made: RelayedAnswer | 'reset'): Way => ({ name, spoil: async () => made })

const changed = (name: string, change: (right: RelayedAnswer) => RelayedAnswer): Way => ({
  name,
  spoil: async (_, forward) => change(await forward()),
})

const withStatus = (status: number) => changed(`answers ${status} with the right body`, (right) => ({ ...right, status }))

// biome-ignore lint/suspicious/noExplicitAny: a decoded list, changed in every way
const rows = (name: string, change: (list: any[], whole: any) => unknown) =>
  changed(name, (right) => {
    const whole = JSON.parse(right.body.toString())
    const list = Object.values(whole).find(Array.isArray) ?? []
    return { ...right, body: Buffer.from(JSON.stringify(change(list, whole) ?? whole)) }
  })

const healing = (way: Way): Way => ({ ...way, heals: true })

const first = (name: string, change: object) => rows(name, (list) => void (list.length > 0 && Object.assign(list[0], change)))

const text = (name: string, change: (right: string) => string) =>
  changed(name, (right) => ({ ...right, body: Buffer.from(change(right.body.toString())) }))

/** Milliseconds in which a side must answer in these runs, and after which a late one comes. */
export const ANSWER_MS = 1500
const LATE_MS = 2500

const statuses: readonly Way[] = [
  ...[...SUCCESSES, ...REDIRECTS].map(withStatus),
  ...[...REDIRECTS, ...REFUSALS, ...LIMITS, ...FAILURES].map((status) => always(`answers ${status}`, answer(status, errorBody(status)))),
]

const transports: readonly Way[] = [
  healing(always('resets the connection', 'reset')),
  {
    name: 'answers too late',
    isLate: true,
    spoil: async (_, forward) => {
      await delay(LATE_MS)
      return forward()
    },
  },
  always('answers nothing', answer(200, '')),
  always('answers a page of HTML', answer(200, '<html></html>', { 'content-type': 'text/html' })),
  always('answers null', answer(200, 'null')),
  always('answers a list', answer(200, '[]')),
  always('answers an empty object', answer(200, '{}')),
  always('answers a text', answer(200, '"yes"')),
  text('breaks off in the middle', (right) => right.slice(0, right.length / 2)),
  text('adds text behind its JSON', (right) => `${right}}`),
  text('answers 2 MiB too much', (right) => right.replace(/\}$/, `,"more":"${'x'.repeat(2 ** 21)}"}`)),
]

const contents: readonly Way[] = [
  rows('loses all rows and says so', (list, whole) => ({ ...whole, ...emptied(whole, list), totalCount: 0 })),
  healing(rows('loses the last row', (list) => void list.pop())),
  healing(rows('loses the first row', (list) => void list.shift())),
  rows('shows a row twice', (list) => void (list.length > 0 && list.push(list[0]))),
  rows('shows a row of somebody else', (list) => void (list.length > 0 && list.push({ ...list[0], uid: 'f'.repeat(40), name: 'foreign' }))),
  rows('names no list', (_, whole) => Object.fromEntries(Object.entries(whole).filter(([, value]) => !Array.isArray(value)))),
  rows('names the list otherwise', (list) => ({ rows: list })),
  first('changes a name', { name: 'wrong' }),
  first('changes a description', { description: 'wrong' }),
  first('forgets a name', { name: undefined }),
  first('makes a name null', { name: null }),
  first('makes a name a number', { name: 7 }),
  first('makes a name a list', { name: ['a'] }),
  first('changes a uid', { uid: 'e'.repeat(40) }),
  first('changes a time', { createTime: '1999-01-01T00:00:00Z' }),
  healing(rows('counts more rows than there are', (list, whole) => ({ ...whole, totalCount: list.length + 5 }))),
  rows('turns the order around', (list) => void list.reverse()),
]

function emptied(whole: object, list: unknown): object {
  return Object.fromEntries(Object.entries(whole).map(([name, value]) => [name, value === list ? [] : value]))
}

/** What v2 may do to a read. */
export const READ_WAYS: readonly Way[] = [...statuses, ...transports, ...contents]

/** What v2 may do to a write. */
export const WRITE_WAYS: readonly Way[] = [
  ...[...REFUSALS, ...LIMITS, ...FAILURES].map((status) => always(`answers ${status} to a write`, answer(status, errorBody(status)))),
  always('resets the connection of a write', 'reset'),
  changed('answers a write with a description of 2 MiB', (right) => ({
    ...right,
    body: Buffer.from(JSON.stringify({ ...JSON.parse(right.body.toString()), description: 'x'.repeat(2 ** 21) })),
  })),
  always('answers nothing to a write', answer(200, '')),
  always('answers an empty object to a write', answer(200, '{}')),
  {
    name: 'answers a write and does not do it',
    spoil: async ({ body }, forward) => {
      const right = await forward({ method: 'GET', body: undefined })
      return { ...right, body: Buffer.from(JSON.stringify({ ...JSON.parse(right.body.toString()), ...JSON.parse(String(body)) })) }
    },
  },
  {
    name: 'does half of a write',
    spoil: async ({ body }, forward) => {
      const { description: _, ...half } = JSON.parse(String(body)) as Record<string, unknown>
      return forward({ body: Buffer.from(JSON.stringify({ ...half, name: 'half' })) })
    },
  },
  {
    name: 'does a write and says that it failed',
    spoil: async (_, forward) => {
      await forward()
      return answer(500, errorBody(500))
    },
  },
]
