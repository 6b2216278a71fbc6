import { createHmac } from 'node:crypto'
import { isObject } from '../mapping/json.ts'
import { instant, seconds } from './instant.ts'
import { segmentsOf } from './place.ts'
import { HIDDEN, isSecretName, withoutSecrets } from './secrets.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * `masked`: a text that is not provably harmless becomes its length and a keyed hash, so that equal texts stay equal and nothing else can be
 * learnt. `shown`: texts are written, cut, without what looks like a secret; for data that may be read by whoever reads the records.
 */
export type Values = 'masked' | 'shown'

export interface RedactSettings {
  readonly values: Values
  /** Key of the hashes; random for each process, so that short texts cannot be guessed from a record. */
  readonly key: string
}

/** Makes requests and answers fit to be kept. Members with secret names are hidden in either way. */
export interface Redactor {
  /** Any JSON value that stood under this member name; long lists and deep objects are cut. */
  value(value: unknown, name: string, words: Vocabulary): unknown
  /** An exact JSON Pointer: keys of users' maps are data. `where` is the same pointer with `*` for them. */
  pointer(at: string, where: string, words: Vocabulary): string
  /** A path without its query. */
  path(path: string, words: Vocabulary): string
}

/** Bounds of one recorded value. */
const LIMITS = { text: 200, items: 5, members: 60, depth: 8 }

export function createRedactor({ values, key }: RedactSettings): Redactor {
  const mask = (text: string) => `text-${text.length}-${createHmac('sha256', key).update(text).digest('hex').slice(0, 8)}`
  const conceal = (text: string) => (values === 'masked' ? mask(text) : cut(withoutSecrets(text)))
  const word = (text: string, words: Vocabulary) => (words.has(text) ? text : conceal(text))

  const walk = (value: unknown, name: string, words: Vocabulary, depth: number): unknown => {
    if (typeof value === 'string') return isSecretName(name) && value !== '' ? HIDDEN : text(value, name, words)
    if (typeof value !== 'object' || value === null) return value
    if (isSecretName(name)) return HIDDEN
    if (depth > LIMITS.depth) return '… deeper'
    if (Array.isArray(value))
      return shortened(
        value.slice(0, LIMITS.items).map((item) => walk(item, name, words, depth + 1)),
        value.length,
      )
    if (!isObject(value)) return value
    const members = Object.entries(value).slice(0, LIMITS.members)
    return Object.fromEntries(members.map(([member, inner]) => [word(member, words), walk(inner, member, words, depth + 1)]))
  }
  const text = (value: string, name: string, words: Vocabulary) => (isHarmless(value, name) ? value : word(value, words))

  return {
    value: (value, name, words) => walk(value, name, words, 0),
    pointer(at, where, words) {
      if (!at.startsWith('/')) return at
      const patterns = segmentsOf(where)
      const segments = segmentsOf(at).map((segment, nth) =>
        patterns[nth] === '*' && !INDEX.test(segment) ? word(segment, words) : segment,
      )
      return segments.map((segment) => `/${segment.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')
    },
    path: (path, words) =>
      path
        .split('/')
        .map((part) =>
          part.split(':').every((piece) => piece === '' || words.has(piece)) || isHarmless(part, 'id') ? part : conceal(part),
        )
        .join('/'),
  }
}

const INDEX = /^\d+$/
const DIGEST = /^sha256:[0-9a-f]{64}$/
/** A uid or one of its segments (facts §17). */
const UID = /^(?:[0-9a-f]{40}|[0-9a-f]{16})(?:\/[0-9a-f]{16})*$/
/** Members that hold uids. */
const ID_NAME = /(?:^|_)(?:id|ids|uid|uidp|group|identity|role|parent|scope)$|(?:Id|Uid|Uidp)$|^uidp\./

/** Values whose form alone shows that they are nobody's secret. */
function isHarmless(value: string, name: string): boolean {
  return (
    value === '' ||
    DIGEST.test(value) ||
    instant(value) !== undefined ||
    seconds(value) !== undefined ||
    (UID.test(value) && ID_NAME.test(name))
  )
}

function cut(text: string): string {
  return text.length > LIMITS.text ? `${text.slice(0, LIMITS.text)}… (${text.length} characters)` : text
}

function shortened(items: readonly unknown[], length: number): readonly unknown[] {
  return length > items.length ? [...items, `… ${length - items.length} more`] : items
}
