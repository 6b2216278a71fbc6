import type { Answer, Request } from './target.ts'

/** One request and its answer. */
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
