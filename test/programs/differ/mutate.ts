import type { RelayedAnswer } from './stage.ts'

/** A place in a JSON value, chosen among all that have the same members above them and the same type of value. */
export interface JsonPlace {
  /** JSON Pointer. */
  readonly at: string
  readonly value: unknown
  /** It is a member of an object, not an element of a list. */
  readonly isMember: boolean
  /** The values of the places that were not chosen. */
  readonly others: readonly unknown[]
}

type Found = Omit<JsonPlace, 'others'>
type Row = Readonly<Record<string, unknown>>

export function isRecord(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns one place of every pattern below the root. `random` chooses it: numbers from 0 up to 1. */
export function placesIn(body: unknown, random: () => number): readonly JsonPlace[] {
  const patterns = new Map<string, Found[]>()
  collect(body, '', '', patterns)
  return [...patterns.values()].map((found) => {
    const chosen = found[Math.floor(random() * found.length)] as Found
    return { ...chosen, others: found.filter((one) => one !== chosen).map(({ value }) => value) }
  })
}

function collect(value: unknown, at: string, pattern: string, patterns: Map<string, Found[]>): void {
  const visit = (inner: unknown, name: string, step: string, isMember: boolean) => {
    const place = { at: `${at}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`, value: inner, isMember }
    const type = inner === null ? 'null' : Array.isArray(inner) ? 'list' : typeof inner
    const key = `${pattern}/${step} ${type}`
    patterns.set(key, [...(patterns.get(key) ?? []), place])
    collect(inner, place.at, `${pattern}/${step}`, patterns)
  }
  if (Array.isArray(value)) for (const [index, row] of value.entries()) visit(row, String(index), '*', false)
  else if (isRecord(value)) for (const [name, inner] of Object.entries(value)) visit(inner, name, name, true)
}

/** Returns a copy with another value at a place. */
export function replaced(body: unknown, at: string, to: unknown): unknown {
  return changed(body, segmentsOf(at), (parent, name) => {
    if (Array.isArray(parent)) return parent.map((row, index) => (String(index) === name ? to : row))
    return { ...parent, [name]: to }
  })
}

/** Returns a copy without a member. */
export function withoutMember(body: unknown, at: string): unknown {
  return changed(body, segmentsOf(at), (parent, name) => {
    return Object.fromEntries(Object.entries(parent).filter(([member]) => member !== name))
  })
}

type Parent = readonly unknown[] | Row

function changed(value: unknown, segments: readonly string[], change: (parent: Parent, name: string) => unknown): unknown {
  const [name = '', ...rest] = segments
  const parent = value as Parent
  if (rest.length === 0) return change(parent, name)
  if (Array.isArray(parent)) return parent.map((row, index) => (String(index) === name ? changed(row, rest, change) : row))
  return { ...parent, [name]: changed((parent as Row)[name], rest, change) }
}

function segmentsOf(pointer: string): readonly string[] {
  const segments = pointer.slice(1).split('/')
  return segments.map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'))
}

/** One way to spoil an answer of v2. */
export interface Mutation {
  /** What is done and where: `lost /repos/0`. */
  readonly name: string
  /** Every client takes the spoiled answer for the same one: another spelling of a time, for example. It is tried, but not scored. */
  readonly respells?: true
  readonly apply: (answer: RelayedAnswer) => RelayedAnswer
}

/** Returns an answer with another body. */
export function withBody(answer: RelayedAnswer, value: unknown): RelayedAnswer {
  return { ...answer, body: Buffer.from(JSON.stringify(value)) }
}

type Rows = readonly unknown[]

/** What can happen to the rows of a list; undefined if it changes nothing. */
const CHANGES: readonly (readonly [name: string, change: (rows: Rows) => Rows | undefined])[] = [
  ['emptied', (rows) => (rows.length > 0 ? [] : undefined)],
  ['first row lost of', (rows) => (rows.length > 0 ? rows.slice(1) : undefined)],
  ['last row lost of', (rows) => (rows.length > 1 ? rows.slice(0, -1) : undefined)],
  ['first row twice in', (rows) => (rows.length > 0 ? [rows[0], ...rows] : undefined)],
  ['last row first in', (rows) => (rows.length > 1 ? [rows.at(-1), ...rows.slice(0, -1)] : undefined)],
  ['turned round', (rows) => (rows.length > 2 ? rows.toReversed() : undefined)],
  ['a row of its own in', invented],
  ['null among', (rows) => (rows.length > 0 ? [...rows, null] : undefined)],
]

/** A copy of the last row under another name and uid; another text in a list of texts. */
function invented(rows: Rows): Rows | undefined {
  const last = rows.at(-1)
  if (typeof last === 'string') return [...rows, `${last}-x`]
  if (!isRecord(last)) return undefined
  const uid = last['uid'] ?? last['id']
  return [...rows, { ...last, ...(typeof uid === 'string' && { [last['uid'] === undefined ? 'id' : 'uid']: another(uid) }) }]
}

/** Another text of the same length: a uid stays a uid. */
export function another(text: string): string {
  return `${text.slice(0, -1)}${text.endsWith('0') ? '1' : '0'}`
}

/** Mutations of every list of a body: one list of each pattern, chosen by `random`. */
export function listMutations(body: unknown, random: () => number): readonly Mutation[] {
  return placesIn(body, random).flatMap(({ at, value }) => {
    if (!Array.isArray(value)) return []
    return CHANGES.flatMap(([name, change]): readonly Mutation[] => {
      const to = change(value)
      return to === undefined ? [] : [{ name: `${name} ${at}`, apply: (answer) => withBody(answer, replaced(body, at, to)) }]
    })
  })
}

/** A changed value, and how it came about. */
interface Change {
  readonly name: string
  readonly to: unknown
  readonly respells?: true
}

const TIME = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?Z$/
const WORDS = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/
const INTEGER = /^-?\d+$/

/** Mutations of every leaf, object and list of a body: one place of each pattern, chosen by `random`. */
export function leafMutations(body: unknown, random: () => number): readonly Mutation[] {
  return placesIn(body, random).flatMap((place) => [...valueMutations(body, place), ...exchanged(body, place)])
}

/** Other values, null, another type, and no value. */
function valueMutations(body: unknown, { at, value, isMember }: JsonPlace): readonly Mutation[] {
  const changes = [...changesOf(value), ...(value === null ? [] : [{ name: 'null', to: null }])]
  const changed = changes.map(({ name, to, respells }: Change): Mutation => {
    return { name: `${name} at ${at}`, ...(respells && { respells }), apply: (answer) => withBody(answer, replaced(body, at, to)) }
  })
  const dropped: Mutation = { name: `dropped ${at}`, apply: (answer) => withBody(answer, withoutMember(body, at)) }
  return isMember ? [...changed, dropped] : changed
}

/** The value that another row has in the same place: stale, or mistaken for it. */
function exchanged(body: unknown, { at, value, others }: JsonPlace): readonly Mutation[] {
  const other = others.find((one) => !isRecord(one) && !Array.isArray(one) && one !== value)
  return other === undefined ? [] : [{ name: `of another row at ${at}`, apply: (answer) => withBody(answer, replaced(body, at, other)) }]
}

function changesOf(value: unknown): readonly Change[] {
  if (typeof value === 'string') return [...textChanges(value), to('a number', 7), to('a flag', true), to('a list', [value])]
  if (typeof value === 'number') return [...numberChanges(value), to('a text', 'seven'), to('a flag', true)]
  if (typeof value === 'boolean') return [to('turned', !value), to('a text', 'perhaps'), to('a number', 7)]
  if (value === null) return [to('a text', 'x'), to('a number', 7)]
  if (Array.isArray(value)) return [to('an object', {}), to('a text', 'x')]
  return [to('emptied', {}), to('a list', []), to('a text', 'x'), to('an extra member', { ...(value as object), surprise: 1 })]
}

function textChanges(text: string): readonly Change[] {
  const [, until = '', fraction = ''] = TIME.exec(text) ?? []
  if (until !== '') {
    const later = new Date(Date.parse(text) + 1000).toISOString()
    return [to('later', later), to('no time', 'yesterday'), respelled('longer', `${until}.${fraction.padEnd(3, '0')}000Z`)]
  }
  if (INTEGER.test(text)) {
    const next = String(BigInt(text) + 1n)
    return [to('next', next), to('zero', text === '0' ? '3' : '0'), respelled('as a number', Number(text))]
  }
  if (WORDS.test(text)) return [to('unknown word', `${text}_OF_SORTS`), to('first word', text.split('_')[0])]
  if (text === '') return [to('filled', 'x')]
  return [to('another text', another(text)), to('longer', `${text}-x`), to('empty', '')]
}

function numberChanges(number: number): readonly Change[] {
  return [to('next', number + 1), to('negative', -number - 1), respelled('as a text', String(number))]
}

function to(name: string, value: unknown): Change {
  return { name, to: value }
}

function respelled(name: string, value: unknown): Change {
  return { name, to: value, respells: true }
}

/** HTTP status and google.rpc code of errors that v2 has. 401 is not among them: a side that knows no caller proves nothing. */
const ERRORS: readonly (readonly [status: number, code: number, message: string])[] = [
  [400, 3, 'invalid'],
  [403, 7, 'denied'],
  [404, 5, 'not found'],
  [409, 6, 'exists'],
  [429, 8, 'too many'],
  [500, 13, 'internal'],
  [503, 14, 'unavailable'],
]

/** A NOT_FOUND that names the missing resource: v1 answers an empty list to it. */
const NAMED_MISSING = [
  { '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'NOT_FOUND', domain: 'iam.chainguard.dev' },
  { '@type': 'type.googleapis.com/google.rpc.ResourceInfo', resourceType: 'iam.Group', resourceName: 'x' },
]

const JSON_TYPE = { 'content-type': 'application/json' }

function error(status: number, code: number, message: string, details: readonly unknown[] = []): Mutation['apply'] {
  return () => ({ status, headers: JSON_TYPE, body: Buffer.from(JSON.stringify({ code, message, details })) })
}

function text(status: number, type: string, body: string): Mutation['apply'] {
  return () => ({ status, headers: { 'content-type': type }, body: Buffer.from(body) })
}

const HTML = '<html><body>It works!</body></html>'

/** Mutations that take the place of the whole answer. */
const WHOLES: readonly Mutation[] = [
  ...ERRORS.map(([status, code, message]): Mutation => ({ name: `status ${status}`, apply: error(status, code, message) })),
  { name: 'status 404 that names its resource', apply: error(404, 5, 'not found', NAMED_MISSING) },
  { name: 'html', apply: text(200, 'text/html', HTML) },
  { name: 'html with 502', apply: text(502, 'text/html', HTML) },
  ...['', '{}', '[]', 'null', '""', '0'].map((body): Mutation => {
    return { name: body === '' ? 'empty body' : `body ${body}`, apply: text(200, 'application/json', body) }
  }),
  { name: 'half of the body', apply: (answer) => ({ ...answer, body: answer.body.subarray(0, answer.body.length >> 1) }) },
  { name: 'the last byte cut off', apply: (answer) => ({ ...answer, body: answer.body.subarray(0, -1) }) },
]

/** Mutations of the answer as a whole, of its error or of its page token. */
export function wholeMutations({ status }: RelayedAnswer, body: unknown): readonly Mutation[] {
  return [...WHOLES.filter(({ name }) => name !== `status ${status}`), ...(isRecord(body) ? ofRecord(status, body) : [])]
}

function ofRecord(status: number, body: Readonly<Record<string, unknown>>): readonly Mutation[] {
  const changed = (name: string, members: object): Mutation => ({ name, apply: (answer) => withBody(answer, { ...body, ...members }) })
  if (status >= 400) return [changed('another code', { code: 9 }), changed('another message', { message: 'something else' })]
  const token = body['nextPageToken']
  return [
    changed('an extra member', { surprise: 1 }),
    ...(token === '' ? [changed('a page token of its own', { nextPageToken: 'bm9uZQ' })] : []),
    ...(typeof token === 'string' && token !== '' ? [changed('the page token lost', { nextPageToken: '' })] : []),
  ]
}
