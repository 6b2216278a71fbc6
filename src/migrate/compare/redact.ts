import { createHmac, randomBytes } from 'node:crypto'
import { type Field, type Fields, type FieldType, instant, type Source } from '../../tables/fields.ts'
import { SKIP_PARAMETER } from '../../tables/list.ts'
import type { Operation } from '../../tables/operation.ts'
import { WINDOW_PARAMETERS } from '../../tables/pages.ts'
import { asParam, count, isV1Only, ORDER_PARAMETER, PARSERS, readOrder, spellings } from '../../tables/query.ts'
import { ROWS } from '../../tables/turn.ts'
import { camelCase } from '../../tables/uid.ts'
import { ANY, type Finding, type IsName, isRowSegment, pointerOf, seconds, segmentsOf } from './compare.ts'
import type { AskedRequest } from './judge.ts'

const DIGEST = /^sha256:[0-9a-f]{64}$/
/** A uid or one of its segments (facts §17). */
const UID = /^(?:[0-9a-f]{40}|[0-9a-f]{16})(?:\/[0-9a-f]{16})*$/
/** Members and parameters that hold uids. */
const ID_NAME = /(?:^|_)(?:id|ids|uid|uidp|group|identity|role|parent|scope)$|(?:Id|Uid|Uidp)$|^uidp\./

/** The count of a list, which is a number in a text (specification §1.9). v1 and v2 must show it alike. */
const COUNT = /^\d{1,19}$/
const COUNT_NAME = /^(?:total_?)?count$/i

/** True if the form of a text under this name proves that it is not secret: a uid, a digest, a time, a count or an empty text. */
function isHarmless(text: string, name: string): boolean {
  if (text === '' || DIGEST.test(text)) return true
  if (COUNT_NAME.test(name) && COUNT.test(text)) return true
  return instant(text) !== undefined || seconds(text) !== undefined || (UID.test(text) && ID_NAME.test(name))
}

/** Suffixes of member and parameter names whose values are secrets, in lower case without separators (facts §3.6, §3.8). */
const SECRET_ENDS = [
  'secret',
  'token',
  'password',
  'passphrase',
  'apikey',
  'privatekey',
  'issuerkeys',
  'credential',
  'credentials',
  'authorization',
  'cookie',
  'assertion',
  'code',
]

/** True if a member of this name holds a secret: `client_secret`, `aws_token`, an invite's `code`. Numbers are never secrets. */
export function isSecretName(name: string): boolean {
  const plain = name.toLowerCase().replace(/[^a-z0-9]/g, '')
  return SECRET_ENDS.some((end) => plain.endsWith(end))
}

/** Texts that are secrets wherever they occur. Clients choose the texts, so each pattern must match or fail in one pass. */
const SECRET_PATTERNS: readonly RegExp[] = [
  // JSON Web Tokens, whole or in part: they begin with a JSON object in base64.
  /\beyJ[\w-]{8,}(?:\.[\w-]*){0,2}/g,
  /\b(?:bearer|basic)\s+[\w.~+/=-]+/gi,
  /-----BEGIN [A-Z ]+-----[\s\S]*?(?:-----END [A-Z ]+-----|$)/g,
  // Keys with a recognizable prefix: AWS, GitHub, GitLab, Slack, Google, Stripe.
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\b(?:gh[pousr]_|github_pat_|glpat-|xox[abprs]-|AIza|ya29\.|sk[-_]|rk_)[\w.-]{8,}/g,
  // The user part of a URL, and parameters of it whose names are secret.
  /(?<=:\/\/)[^\s/@]+@/g,
  /(?<=[?&](?:[\w.-]*(?:token|secret|password|key|code|signature|sig))=)[^&\s#]+/gi,
]

/** Replaces a secret. */
const HIDDEN = '[hidden]'

/** Returns the text with every recognizable secret replaced. */
export function withoutSecrets(text: string): string {
  return SECRET_PATTERNS.reduce((result, pattern) => result.replace(pattern, HIDDEN), text)
}

/**
 * Every word of an operation that is public because its tables contain it.
 * These are the names of members and parameters in each spelling, the names of enum values, and the fixed parts of its paths.
 * Any other text of a request or an answer may be secret.
 */
type Vocabulary = ReadonlySet<string>

/** Words that every answer or call may contain. */
const COMMON = [ROWS, 'updateMask', '*', 'page_size', 'page_token', 'skip', 'order_by']

/** What v2's lists hold beside their rows, and what a google.rpc.Status holds (specification §1.3, §1.6). */
const LIST = ['nextPageToken', 'totalCount', 'skipped']
const STATUS = ['code', 'message', 'details', '@type', 'reason', 'domain', 'metadata', 'resourceType', 'resourceName', 'owner']
const FIELDS = ['fieldViolations', 'field', 'description']

export function vocabularyOf(operation: Operation): Vocabulary {
  const { template, calls, params, ownParams, request, answer, envelope } = operation
  const messages = [request, answer, envelope].filter((message) => message !== undefined)
  return new Set([
    ...COMMON,
    ...LIST,
    ...STATUS,
    ...FIELDS,
    ...[...Object.keys(params), ...ownParams].flatMap(spellings),
    ...Object.values(params).map((row) => (typeof row === 'string' ? row : row.v2)),
    ...[template, ...calls].flatMap(fixedParts),
    ...messages.flatMap(({ shown }) => wordsOf(shown)),
    ...messages.flatMap((message) => ('plural' in message ? [String(message.plural)] : [])),
  ])
}

function fixedParts(path: string): readonly string[] {
  return path
    .replace(/\{[^{}]*\}/g, '')
    .split(/[ /:]/)
    .filter((part) => part !== '')
}

function wordsOf(fields: Fields): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) => [...namesOf(name, field), ...typeWords(field.type)])
}

function namesOf(name: string, { json, source }: Field): readonly string[] {
  return [name, json ?? camelCase(name), ...sourceNames(source)]
}

function sourceNames(source: Source | undefined): readonly string[] {
  if (source === undefined) return []
  if (typeof source === 'string') return source.split('.')
  return 'parentOf' in source ? source.parentOf.split('.') : source.firstOf.flatMap(sourceNames)
}

function typeWords(type: FieldType): readonly string[] {
  if (type.kind === 'choice') return [...type.of.rows.map(([v1]) => v1), ...type.of.toV1.keys()].map(String)
  if (type.kind === 'object') return wordsOf(type.fields)
  return type.kind === 'list' || type.kind === 'map' ? typeWords(type.of) : []
}

/** Two different texts of one place, as they may be kept. */
interface TextPair {
  readonly v1: unknown
  readonly v2: unknown
  /** The number of the first character that differs, from 0. Absent for short texts and for secrets. */
  readonly differsAt?: number
}

/** Characters from which on nobody sees at a glance where two texts differ. */
const LONG = 40

/** Texts that differ later are shown from their beginning, because what comes before the difference must be searched for secrets. */
const FARTHEST = 100_000

/** Characters that are shown before the first difference. */
const BEFORE = 60

function firstDifference(v1: string, v2: string): number {
  const length = Math.min(v1.length, v2.length)
  for (let at = 0; at < length; at++) if (v1[at] !== v2[at]) return at
  return length
}

/**
 * Returns the parts of two long texts in which they differ, of `limit` characters; undefined if their beginnings show it. Secrets are
 * replaced before anything is cut, as far as `beyond` characters behind it.
 */
function differingParts(v1: string, v2: string, limit: number, beyond: number): readonly [string, string] | undefined {
  const at = firstDifference(v1, v2)
  if (at < limit - BEFORE || at > FARTHEST) return undefined
  const [left, right] = [v1, v2].map((text) => withoutSecrets(text.slice(0, at + limit + beyond))) as [string, string]
  const from = Math.max(0, firstDifference(left, right) - BEFORE)
  const part = (seen: string, { length }: string) => `…${seen.slice(from, from + limit)}… (${length} characters)`
  return [part(left, v1), part(right, v2)]
}

/**
 * `masked`: a text that is not provably harmless becomes its length and a keyed hash. Equal texts stay equal, and nothing else is
 * disclosed.
 * `shown`: texts are cut and written without anything that looks like a secret, for data that all readers of the records may see.
 */
export type Values = 'masked' | 'shown'

interface RedactSettings {
  readonly values: Values
  /** Returns the key of the hashes. It is random, so that short texts cannot be guessed from a record. */
  readonly key: () => string
  /** Names of members that may be kept besides those that the tables know. Default: none. */
  readonly isName?: IsName | undefined
  /** Default: the limits of an example. An export that must run needs whole bodies. */
  readonly limits?: RedactLimits
}

/** A place in its three spellings; `where` tells data from names, and `path` tells keys from indices. */
type Spellings = Pick<Finding, 'at' | 'where' | 'path'>

/** Redacts requests and answers so that they can be kept. Members with secret names are hidden in both modes. */
export interface Redacted {
  /** Redacts any JSON value of a member of this name. Long lists and deep objects are cut. */
  value(value: unknown, name: string, limits?: RedactLimits): unknown
  /** Redacts two different texts of a member of this name. Of long ones, the parts that differ are shown. */
  texts(v1: string, v2: string, name: string): TextPair
  /** Redacts the name of a member, which may be a key of a user's map. */
  key(name: string): string
  /** Redacts the exact JSON Pointer of a place, because keys of users' maps are data. */
  pointer(place: Spellings): string
  /** Redacts a path without its query. */
  path(path: string): string
  /** Redacts a name that may come from a user. */
  word(word: string): string
}

/** Limits of one recorded value: characters, rows, members, levels. */
export interface RedactLimits {
  readonly text: number
  readonly items: number
  readonly members: number
  readonly depth: number
}

/** Enough to show a difference. */
const EXAMPLE: RedactLimits = { text: 200, items: 5, members: 60, depth: 8 }

/** Returns what redacts with these public words. Keep what it makes of an operation: its words are gathered once. */
export type Redactor = (words: Vocabulary) => Redacted

export function createRedactor({ values, key, isName = () => false, limits = EXAMPLE }: RedactSettings): Redactor {
  const mask = (text: string) => `text-${text.length}-${createHmac('sha256', key()).update(text).digest('hex').slice(0, 8)}`
  const conceal = (text: string, limit = limits.text) => (values === 'masked' ? mask(text) : shown(text, limit))
  return (words) => {
    const word = (text: string, limit?: number) => (words.has(text) ? text : conceal(text, limit))
    const nameWord = (text: string) => (isName(text) ? text : word(text))
    const value: Redacted['value'] = (value, name, own = limits) => redactValue(value, name, { word, nameWord, limits: own }, 0)
    const path = (path: string) => {
      const isFixed = (part: string) => part.split(':').every((piece) => piece === '' || words.has(piece))
      const parts = path.split('/').map((part) => (isFixed(part) || isHarmless(part, 'id') ? part : conceal(part)))
      return parts.join('/')
    }
    return {
      value,
      texts(v1, v2, name) {
        const parts = values === 'shown' && !isSecretName(name) ? differingParts(v1, v2, limits.text, BEYOND) : undefined
        const isPlain = isSecretName(name) || Math.max(v1.length, v2.length) < LONG || [v1, v2].every((text) => isHarmless(text, name))
        const [left, right] = parts ?? [value(v1, name), value(v2, name)]
        return { v1: left, v2: right, ...(!isPlain && { differsAt: firstDifference(v1, v2) }) }
      },
      key: nameWord,
      pointer({ at, where, path }) {
        if (!at.startsWith('/')) return at
        const [patterns, ids] = [segmentsOf(where), segmentsOf(path)]
        const isKey = (nth: number) => patterns[nth] === ANY && !isRowSegment(ids[nth] ?? '')
        return pointerOf(segmentsOf(at).map((segment, nth) => (isKey(nth) ? nameWord(segment) : segment)))
      },
      path,
      word: path,
    }
  }
}

const MASK = /^text-\d+-[0-9a-f]{8}$/

/** True if this text of a redacted value stands for another one, or for the rest of it. */
export function isConcealed(text: string): boolean {
  return MASK.test(text) || text.includes(HIDDEN) || text.includes(CUT)
}

/** Follows the beginning of a text that was cut. */
const CUT = '… ('

interface Rules {
  /** Returns a text in the form in which it may be kept. */
  readonly word: (text: string, limit: number) => string
  /** The same for the name of a member. */
  readonly nameWord: (name: string) => string
  readonly limits: RedactLimits
}

function redactValue(value: unknown, name: string, rules: Rules, depth: number): unknown {
  const { word, nameWord, limits } = rules
  if (typeof value === 'string' && value !== '' && isSecretName(name)) return HIDDEN
  if (typeof value === 'string') return isHarmless(value, name) ? value : word(value, limits.text)
  if (typeof value !== 'object' || value === null) return value
  if (isSecretName(name)) return HIDDEN
  if (depth > limits.depth) return '… deeper'
  if (Array.isArray(value)) {
    const items = value.slice(0, limits.items).map((item) => redactValue(item, name, rules, depth + 1))
    return value.length > items.length ? [...items, `… ${value.length - items.length} more`] : items
  }
  const members = Object.entries(value)
  const kept = members.slice(0, limits.members)
  const shown = kept.map(([member, inner]) => [nameWord(member), redactValue(inner, member, rules, depth + 1)] as const)
  return Object.fromEntries([...shown, ...leftOut(members.length - kept.length)])
}

/** Name of the member that counts those that are left out. */
const LEFT_OUT = '…'

/** Returns the member that stands for those that are left out; none if all are there. */
export function leftOut(count: number): readonly (readonly [string, string])[] {
  return count > 0 ? [[LEFT_OUT, `${count} more`]] : []
}

/** Characters beyond the cut that are searched too: a secret that begins before the cut is recognized within them. */
const BEYOND = 4096

/** Returns the beginning of a text without anything that looks like a secret. Text far beyond the cut is not searched. */
function shown(text: string, limit: number): string {
  const seen = withoutSecrets(text.slice(0, limit + BEYOND))
  return seen.length > limit || text.length > limit + BEYOND ? `${seen.slice(0, limit)}${CUT}${text.length} characters)` : seen
}

/** Returns a function that redacts the data of any operation, and gathers the words of each once. */
export function redactedWith(redactor: Redactor): (operation: Operation) => Redacted {
  const known = new Map<Operation, Redacted>()
  return (operation) => {
    const found = known.get(operation) ?? redactor(vocabularyOf(operation))
    known.set(operation, found)
    return found
  }
}

/** The key of the hashes of masked texts. */
export type RedactionKey = ReturnType<typeof createRedactionKey>

/** The key is random for each process, until a fleet gives all of its replicas the same one. */
export function createRedactionKey() {
  let key = randomBytes(32).toString('hex')
  return {
    text: () => key,
    share(text: string): void {
      key = text
    },
  }
}

/** The bodies of an exhibit must run again, so they are redacted but not cut. */
const WHOLE: RedactLimits = { text: 10_000, items: 10_000, members: 10_000, depth: 100 }

export interface RedactionSettings extends Pick<RedactSettings, 'values' | 'isName'> {
  readonly operations: readonly Operation[]
}

/** Creates what redacts the records of a process. */
export function createRedaction({ values, isName, operations }: RedactionSettings) {
  const key = createRedactionKey()
  const settings = { values, key: key.text, isName }
  let whole: Redacted | undefined
  return {
    key,
    /** Redacts the data of one operation. */
    redacted: redactedWith(createRedactor(settings)),
    /** Redacts data of any operation without a cut. */
    whole(): Redacted {
      whole ??= createRedactor({ ...settings, limits: WHOLE })(new Set(operations.flatMap((one) => [...vocabularyOf(one)])))
      return whole
    },
  }
}

/** Words of paths. Anything else in a path may be an id or a secret. */
const WORD = /^[A-Za-z][A-Za-z_]{0,30}(?::[A-Za-z]{1,30})?$|^v\d$/

/** Returns a path in which everything but its words is left out. */
export function anonymousPath(path: string): string {
  const parts = withoutSecrets(path)
    .split('/')
    .map((part) => (part === '' || WORD.test(part) ? part : '…'))
  return parts.join('/').replace(/…(?:\/…)+/g, '…')
}

/** Flags, small numbers and sort directions decide which calls are made, and are not secret in a parameter that the tables know. */
const PLAIN = /^(?:true|false|t|f|[+-]?\d{1,9})$/i
const DIRECTED = /^(\S+)\s+(asc|desc)$/i

/** Redacts the value of a query parameter. */
export function recordedParameter(value: string, name: string, redacted: Redacted): string {
  const isKnown = redacted.key(name) === name && !isSecretName(name)
  if (isKnown && PLAIN.test(value)) return value
  const [, field, direction] = DIRECTED.exec(value) ?? []
  return isKnown && field !== undefined ? `${redacted.value(field, name)} ${direction}` : String(redacted.value(value, name))
}

/** Parameters that count rows. */
const COUNTS: ReadonlySet<string> = new Set([...WINDOW_PARAMETERS, SKIP_PARAMETER])

/**
 * True if the type of a parameter proves that this value is not secret: a count of rows, a flag, a number, an enum value or an order.
 * `name` is the name in the tables.
 */
export function isTyped({ params, orders }: Operation, name: string, value: string): boolean {
  const query = new Map([[name, [value]]])
  if (name === ORDER_PARAMETER && !(name in params)) return isReadable(() => readOrder(query, orders))
  const row = Object.hasOwn(params, name) ? params[name] : undefined
  if (row === undefined) return COUNTS.has(name) && isReadable(() => count(query, name))
  const param = asParam(row)
  return param.kind !== 'text' && (isV1Only(param.of, value) || isReadable(() => PARSERS[param.kind](name, value, param)))
}

function isReadable(read: () => unknown): boolean {
  try {
    read()
    return true
  } catch {
    return false
  }
}

/** A v1 request as a client would send it, redacted. Its body is not kept. */
export interface SentRequest {
  readonly method: string
  /** Path and query. It ends with `…` if it was too long. */
  readonly url: string
}

/** Most characters of a URL, and most of its parameters. */
const LONGEST = 2_000
const MOST = 50

/** Returns the request of a comparison, with every parameter in the client's spelling. */
export function sentRequest({ operation, request: { params, query } }: AskedRequest, redacted: Redacted): SentRequest {
  const path = operation.template.replace(/\{([^{}=]+)(?:=[^{}]*)?\}/g, (_, name: string) => encoded(redacted.path(params[name] ?? '')))
  const pairs = [...query].flatMap(([name, values]) => values.map((value) => [name, value] as const))
  const parts = pairs
    .slice(0, MOST)
    .map(([name, value]) => `${encoded(redacted.key(name))}=${encoded(recordedParameter(value, name, redacted))}`)
  const url = parts.length === 0 ? path : `${path}?${parts.join('&')}`
  const isWhole = url.length <= LONGEST && pairs.length <= MOST
  return { method: operation.method, url: isWhole ? url : `${url.slice(0, LONGEST)}…` }
}

/** Characters that clients send as they are, because they separate nothing within a path segment of a uid or within a query. */
const PLAIN_PATH = /%(?:2F|3A|2C|40|5B|5D)/g

function encoded(text: string): string {
  // A text that was cut may end in half a character.
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd')).replace(PLAIN_PATH, decodeURIComponent)
}
