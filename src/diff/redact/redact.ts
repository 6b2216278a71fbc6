import { createHmac } from 'node:crypto'
import { ANY, pointerOf, segmentsOf } from '../compare/json-path.ts'
import { isHarmless } from './harmless.ts'
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
  /** Those of an example unless given; an export that must run needs its bodies whole. */
  readonly limits?: RedactLimits
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

/** Bounds of one recorded value: characters, rows, members, levels. */
export interface RedactLimits {
  readonly text: number
  readonly items: number
  readonly members: number
  readonly depth: number
}

/** Enough to see what differs. */
const EXAMPLE: RedactLimits = { text: 200, items: 5, members: 60, depth: 8 }

export function createRedactor({ values, key, limits = EXAMPLE }: RedactSettings): Redactor {
  const mask = (text: string) => `text-${text.length}-${createHmac('sha256', key).update(text).digest('hex').slice(0, 8)}`
  const conceal = (text: string) => (values === 'masked' ? mask(text) : shown(text, limits.text))
  const word: Word = (text, words) => (words.has(text) ? text : conceal(text))
  return {
    value: valueRedactor(word, limits),
    pointer(at, where, words) {
      if (!at.startsWith('/')) return at
      const patterns = segmentsOf(where)
      return pointerOf(
        segmentsOf(at).map((segment, nth) => (patterns[nth] === ANY && !INDEX.test(segment) ? word(segment, words) : segment)),
      )
    },
    path(path, words) {
      const isFixed = (part: string) => part.split(':').every((piece) => piece === '' || words.has(piece))
      const parts = path.split('/').map((part) => (isFixed(part) || isHarmless(part, 'id') ? part : conceal(part)))
      return parts.join('/')
    },
  }
}

/** A text as it may be kept. */
type Word = (text: string, words: Vocabulary) => string

const INDEX = /^\d+$/

function valueRedactor(word: Word, limits: RedactLimits): Redactor['value'] {
  const walk = (value: unknown, name: string, words: Vocabulary, depth: number): unknown => {
    if (typeof value === 'string' && value !== '' && isSecretName(name)) return HIDDEN
    if (typeof value === 'string') return isHarmless(value, name) ? value : word(value, words)
    if (typeof value !== 'object' || value === null) return value
    if (isSecretName(name)) return HIDDEN
    if (depth > limits.depth) return '… deeper'
    if (Array.isArray(value)) {
      const items = value.slice(0, limits.items).map((item) => walk(item, name, words, depth + 1))
      return shortened(items, value.length)
    }
    const members = Object.entries(value).slice(0, limits.members)
    return Object.fromEntries(members.map(([member, inner]) => [word(member, words), walk(inner, member, words, depth + 1)]))
  }
  return (value, name, words) => walk(value, name, words, 0)
}

/** Characters behind the cut that are looked at too: a secret that begins before it has shown by then that it is one. */
const BEYOND = 4096

/** The beginning of a text without what looks like a secret; what is far behind the cut is not even looked at. */
function shown(text: string, limit: number): string {
  const seen = withoutSecrets(text.slice(0, limit + BEYOND))
  return seen.length > limit || text.length > limit + BEYOND ? `${seen.slice(0, limit)}… (${text.length} characters)` : seen
}

function shortened(items: readonly unknown[], length: number): readonly unknown[] {
  return length > items.length ? [...items, `… ${length - items.length} more`] : items
}
