import { createHmac } from 'node:crypto'
import { ANY, pointerOf, segmentsOf } from '../compare/json-path.ts'
import { isHarmless } from './harmless.ts'
import { HIDDEN, isSecretName, withoutSecrets } from './secrets.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * `masked`: a text that is not provably harmless becomes its length and a keyed hash. Equal texts stay equal, and nothing else is
 * disclosed.
 * `shown`: texts are cut and written without anything that looks like a secret, for data that all readers of the records may see.
 */
export type Values = 'masked' | 'shown'

export interface RedactSettings {
  readonly values: Values
  /** Key of the hashes. It is random for each process, so that short texts cannot be guessed from a record. */
  readonly key: string
  /** Default: the limits of an example. An export that must run needs whole bodies. */
  readonly limits?: RedactLimits
}

/** Redacts requests and answers so that they can be kept. Members with secret names are hidden in both modes. */
export interface Redactor {
  /** Redacts any JSON value of a member of this name. Long lists and deep objects are cut. */
  value(value: unknown, name: string, words: Vocabulary): unknown
  /** Redacts an exact JSON Pointer, because keys of users' maps are data. `where` is the same pointer with `*` for them. */
  pointer(at: string, where: string, words: Vocabulary): string
  /** Redacts a path without its query. */
  path(path: string, words: Vocabulary): string
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

const MASK = /^text-\d+-[0-9a-f]{8}$/

/** True if this text of a redacted value stands for another one, or for the rest of it. */
export function isConcealed(text: string): boolean {
  return MASK.test(text) || text.includes(HIDDEN) || text.includes(CUT)
}

/** Follows the beginning of a text that was cut. */
const CUT = '… ('

/** Returns a text in the form in which it may be kept. */
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

/** Characters beyond the cut that are searched too: a secret that begins before the cut is recognized within them. */
const BEYOND = 4096

/** Returns the beginning of a text without anything that looks like a secret. Text far beyond the cut is not searched. */
function shown(text: string, limit: number): string {
  const seen = withoutSecrets(text.slice(0, limit + BEYOND))
  return seen.length > limit || text.length > limit + BEYOND ? `${seen.slice(0, limit)}${CUT}${text.length} characters)` : seen
}

function shortened(items: readonly unknown[], length: number): readonly unknown[] {
  return length > items.length ? [...items, `… ${length - items.length} more`] : items
}
