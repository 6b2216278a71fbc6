export type Dialect = 'specification' | 'published'
export type Spelling = 'snake' | 'camel'
export type Shape = unknown

const KEYS_ARE_DATA = Symbol('keys are data')
const EXTRA = Symbol('members of the specification dialect')

/** Names that protobuf JSON does not camel-case, because the contract says so (facts §16.1). */
const AS_THEY_ARE: ReadonlySet<string> = new Set(['sync_config'])

/** A map with a user's keys (`claims`, `environment`), which are never re-spelled. */
export function map(entries: Record<string, unknown>): Record<string, unknown> {
  return Object.defineProperty({ ...entries }, KEYS_ARE_DATA, { value: true })
}

/** Members that only the `specification` dialect shows: times under their usual names, and the group of a resource. */
export function extra(shape: Record<string, unknown>, members: Record<string, unknown>): Record<string, unknown> {
  return Object.defineProperty({ ...shape }, EXTRA, { value: members })
}

export function spellingOf(dialect: Dialect): Spelling {
  return dialect === 'published' ? 'camel' : 'snake'
}

/** Spells one v1 proto name (snake_case). */
export function spellName(name: string, spelling: Spelling): string {
  if (spelling === 'snake' || AS_THEY_ARE.has(name)) return name
  return name
    .split('.')
    .map((part) => part.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase()))
    .join('.')
}

/** Spells a shape or body that is written in v1 proto names. Extra members appear only on request. */
export function spell(value: Shape, spelling: Spelling, withExtra = false): Shape {
  if (Array.isArray(value)) return value.map((item) => spell(item, spelling, withExtra))
  if (typeof value !== 'object' || value === null) return value
  const marked = value as Record<string | symbol, unknown>
  const members = withExtra ? { ...((marked[EXTRA] as object | undefined) ?? {}), ...value } : value
  const name = marked[KEYS_ARE_DATA] ? (key: string) => key : (key: string) => spellName(key, spelling)
  return Object.fromEntries(Object.entries(members).map(([key, member]) => [name(key), spell(member, spelling, withExtra)]))
}

/** The owner of a request's token: `nobody` sends none, `stranger` an unknown one, `expired` a former one of the owner. */
export type Role = 'owner' | 'editor' | 'viewer' | 'outsider' | 'admin' | 'nobody' | 'stranger' | 'expired'

/** `genuine` = a v1 service itself; `proxied` = v1 served from v2. */
export type Side = 'genuine' | 'proxied'

/** A v1 API at some address. The cases know nothing else about it. */
export interface Target {
  readonly url: string
  readonly side: Side
  readonly dialect: Dialect
  /** The uid of the organization that `owner` owns. Everything is created below it. */
  readonly organization: string
  readonly token: (role: Role) => string | undefined
  /** A part of every name in a case, so that two runs against one address do not collide. */
  readonly run: string
  /** Called before each request: a test that owns the clock advances it here. */
  readonly tick?: () => void
  readonly announce?: (role: Role, request: Request) => void
  /** Sends requests another way than over HTTP. */
  readonly carry?: Carry
}

/** Sends a request as a call; undefined if no call says the same. */
export type Carry = (request: Request, token: string | undefined) => Promise<Answer> | undefined

export interface Request {
  readonly method: string
  /** Path and query as they are sent. */
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly text?: string
}

export interface Answer {
  readonly status: number
  readonly type: string | null
  // biome-ignore lint/suspicious/noExplicitAny: a decoded JSON answer, looked into by the cases
  readonly body: any
}

/** Sends one request as a role and decodes the answer. A body that is not JSON stays text. */
export async function send(target: Target, role: Role, request: Request): Promise<Answer> {
  const { method, path, headers = {}, text } = request
  target.tick?.()
  target.announce?.(role, request)
  const token = target.token(role)
  const carried = target.carry?.(request, token)
  if (carried) return carried
  const authorization: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` }
  const body = text === undefined ? {} : { body: text }
  const response = await fetch(`${target.url}${path}`, { method, headers: { ...authorization, ...headers }, ...body })
  return { status: response.status, type: response.headers.get('content-type'), body: decode(await response.text()) }
}

function decode(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export interface Exchange {
  readonly role: string
  readonly request: Request
  readonly answer: Answer
  /** True if the wording of a refusal is no promise (difference `refusal-words`). */
  readonly anyWords: boolean
}

/** One exchange in which placeholders replace everything that differs between any two runs. */
export type Line = Readonly<Record<string, unknown>>

/** Members with values that the service invents: secrets, keys, cursors, versions. */
const OPAQUE: ReadonlySet<string> = new Set(['code', 'key_id', 'keyId', 'etag', 'token', 'next_page_token', 'nextPageToken'])

const SEGMENT = /(?<![0-9a-f])(?:[0-9a-f]{40}|[0-9a-f]{16})(?![0-9a-f])/g
const TIME = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z/g
const ORIGIN = /https?:\/\/(?:127\.0\.0\.1|localhost):\d+/g

/** Differences that appear everywhere, so that only their own cases compare them: in every error, in the bindings of every user. */
const ERROR_DETAILS = 'error-details'
const PARTS_WITHHELD = 'binding-parts-withheld'
const UNVERIFIED = new Set(['email_unverified', 'emailUnverified'])

/**
 * Makes the transcript of a run comparable with that of another. Uid segments, times (with their precision), opaque values and addresses
 * become placeholders. They are numbered by first appearance, so that equal values stay equal. Lists without `order_by` are sorted: the
 * service chooses uids and thereby their order, which the cases check.
 */
export function normalise(exchanges: readonly Exchange[], difference: string | undefined): readonly Line[] {
  const known = new Map<string, string>()
  const opaque = new Map<string, string>()
  const placeholder = (kind: string) => (value: string) => {
    const before = known.get(value)
    if (before !== undefined) return before
    known.set(value, `<${kind} ${known.size + 1}>`)
    return known.get(value) as string
  }
  const plain = (value: string) => {
    let result = value
    for (const [secret, name] of opaque) result = result.replaceAll(secret, name).replaceAll(encodeURIComponent(secret), name)
    const timed = result.replace(TIME, (stamp, fraction: string = '') => placeholder(`time .${fraction.length}`)(stamp))
    return timed.replace(ORIGIN, '<origin>').replace(SEGMENT, placeholder('uid'))
  }
  const walk = (value: unknown, name = ''): unknown => {
    if (typeof value === 'string') return OPAQUE.has(name) && value !== '' ? secret(value, name) : plain(value)
    if (Array.isArray(value)) return value.map((item) => walk(item))
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [plain(key), walk(member, key)]))
  }
  const secret = (value: string, name: string) => {
    if (!opaque.has(value)) opaque.set(value, `<${name} ${opaque.size + 1}>`)
    return opaque.get(value)
  }
  return exchanges.map(({ role, request, answer, anyWords }) => ({
    request: `${role}: ${request.method} ${plain(decoded(request.path))}`,
    ...(request.text !== undefined && { sent: plain(request.text) }),
    status: answer.status,
    type: answer.type,
    body: walk(canonical(request.path, answer, { difference, anyWords, known })),
  }))
}

/** Orders the body independently of chosen uids. Removes the details of an error unless they are what is tested. */
function canonical(
  path: string,
  { status, body }: Answer,
  { difference, anyWords, known }: { difference: string | undefined; anyWords: boolean; known: ReadonlyMap<string, string> },
): unknown {
  if (typeof body !== 'object' || body === null) return body
  if (status >= 400) {
    const details = difference === ERROR_DETAILS || !Array.isArray(body.details) ? body.details : 'a list'
    return sorted({ ...body, details, ...(anyWords && { message: 'in some words' }) })
  }
  if (!Array.isArray(body.items) || /[?&]order_?by=/i.test(path)) return sorted(body)
  const told = difference === PARTS_WITHHELD ? body.items : (body.items as unknown[]).map(withoutEmptyEmail)
  const rows = (told as unknown[]).map((row) => ({ row: sorted(row), key: blind(row, known) }))
  rows.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
  return sorted({ ...body, items: rows.map(({ row }) => row) })
}

/** Removes an empty unverified email, which one side may omit; any other value is compared. */
function withoutEmptyEmail(row: unknown): unknown {
  if (typeof row !== 'object' || row === null) return row
  return Object.fromEntries(Object.entries(row).filter(([name, value]) => value !== '' || !UNVERIFIED.has(name)))
}

/** Sorts members by name: their order has no meaning (facts §16.8), but placeholders are numbered along it. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value).map(([name, member]): [string, unknown] => [name, sorted(member)])
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

/**
 * Returns a sort key of a row.
 * It omits uids that the transcript has not named yet, and keeps times, which distinguish rows that one case created.
 */
function blind(row: unknown, known: ReadonlyMap<string, string>): string {
  return JSON.stringify(sorted(row)).replace(SEGMENT, (uid) => known.get(uid) ?? '')
}

/** Decodes a path for reading; an undecodable one stays as it is. */
export function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

export type Query = Readonly<Record<string, string | number | boolean | readonly string[]>>

/** The tools of a case: a v1 API as one role in one spelling. Cases write bodies and queries in v1's proto names. */
export interface Api {
  readonly dialect: Dialect
  readonly side: Side
  readonly organization: string
  readonly role: Role
  readonly as: (role: Role) => Api
  /** The same API; requests use the other spelling than its dialect's. */
  readonly otherwise: Api
  /** The same API; the transcript omits its exchanges, which differ between any two runs. */
  readonly unrecorded: Api
  /** The same API, for requests whose refusal has no promised wording. */
  readonly inAnyWords: Api
  readonly get: (path: string, query?: Query) => Promise<Answer>
  readonly post: (path: string, body?: unknown, query?: Query) => Promise<Answer>
  readonly put: (path: string, body?: unknown) => Promise<Answer>
  readonly patch: (path: string, body?: unknown) => Promise<Answer>
  readonly delete: (path: string) => Promise<Answer>
  /** Sends a request byte for byte, without any spelling. */
  readonly send: (request: Request) => Promise<Answer>
  /** Returns a name that belongs to this case and this run. */
  readonly name: (suffix?: string) => string
  /** Returns a member of an answer by its proto name. */
  // biome-ignore lint/suspicious/noExplicitAny: a decoded JSON answer, looked into by the cases
  readonly member: (body: any, name: string) => any
  /** Returns the expectation for this side, where the two differ. */
  readonly here: <T>(expected: Readonly<Record<Side, T>>) => T
  /** Adds work for after the case, last in, first out. Its requests are not recorded. */
  readonly later: (undo: (api: Api) => Promise<Answer>) => void
}

export function session(target: Target, slug: string) {
  /** Those of the transcript; `all` has the others too. */
  const exchanges: Exchange[] = []
  const all: Exchange[] = []
  const undos: ((api: Api) => Promise<Answer>)[] = []
  const build = (role: Role, spelling: Spelling, recorded: boolean, anyWords = false): Api => {
    const exchange = async (request: Request) => {
      const answer = await send(target, role, request)
      const made = { role, request, answer, anyWords }
      all.push(made)
      if (recorded) exchanges.push(made)
      return answer
    }
    const json = (method: string, path: string, body: unknown, query: Query = {}) =>
      exchange({
        method,
        path: path + queryString(query, spelling),
        ...(body !== undefined && { headers: { 'content-type': 'application/json' }, text: JSON.stringify(spell(body, spelling)) }),
      })
    return {
      dialect: target.dialect,
      side: target.side,
      organization: target.organization,
      role,
      as: (other) => build(other, spelling, recorded, anyWords),
      get otherwise() {
        return build(role, spelling === 'snake' ? 'camel' : 'snake', recorded, anyWords)
      },
      get unrecorded() {
        return build(role, spelling, false)
      },
      get inAnyWords() {
        return build(role, spelling, recorded, true)
      },
      get: (path, query) => json('GET', path, undefined, query),
      post: (path, body, query) => json('POST', path, body, query),
      put: (path, body) => json('PUT', path, body),
      patch: (path, body) => json('PATCH', path, body),
      delete: (path) => json('DELETE', path, undefined),
      send: exchange,
      name: (suffix = '') => ['cw', target.run, slug, suffix].filter(Boolean).join('-'),
      member: (body, name) => body?.[spellName(name, spellingOf(target.dialect))],
      here: (expected) => expected[target.side],
      later: (undo) => undos.push(undo),
    }
  }
  const api = build('owner', spellingOf(target.dialect), true)
  const close = async () => {
    for (const undo of undos.reverse()) {
      const { status, body } = await undo(api.unrecorded)
      if (status !== 200 && status !== 404) throw new Error(`the case leaves something behind: ${status} ${JSON.stringify(body)}`)
    }
  }
  return { api, exchanges, all, close }
}

function queryString(query: Query, spelling: Spelling): string {
  const pairs = Object.entries(query).flatMap(([name, value]) => {
    const values = Array.isArray(value) ? value : [value]
    return values.map((one) => `${spellName(name, spelling)}=${encodeURIComponent(String(one))}`)
  })
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

/** One promise of the v1 API, shown by requests and answers. It creates what it needs and removes it afterwards. */
export interface Case {
  readonly name: string
  /** The ids of the operations that it shows. */
  readonly operations: readonly string[]
  /** The only dialect; both by default. */
  readonly dialect?: Dialect
  /** The code of the difference between a genuine and a proxied v1 that this case proves (mappings/differences.ts). */
  readonly difference?: string
  /** Roles that it uses besides the owner. */
  readonly roles?: readonly Role[]
  /** True if it changes nothing at the target. */
  readonly reads?: true
  readonly run: (api: Api) => Promise<void>
}
