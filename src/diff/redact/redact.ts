import { createHmac } from 'node:crypto'
import type { Finding } from '../compare/finding.ts'
import type { IsName } from '../compare/form.ts'
import { ANY, isRowSegment, pointerOf, segmentsOf } from '../compare/json-path.ts'
import { isHarmless } from './harmless.ts'
import { HIDDEN, isSecretName, withoutSecrets } from './secrets.ts'
import { differingParts, firstDifference, LONG, type TextPair } from './text-pair.ts'
import type { Vocabulary } from './vocabulary.ts'

/**
 * `masked`: a text that is not provably harmless becomes its length and a keyed hash. Equal texts stay equal, and nothing else is
 * disclosed.
 * `shown`: texts are cut and written without anything that looks like a secret, for data that all readers of the records may see.
 */
export type Values = 'masked' | 'shown'

export interface RedactSettings {
  readonly values: Values
  /** Returns the key of the hashes. It is random, so that short texts cannot be guessed from a record. */
  readonly key: () => string
  /** Names of members that may be kept besides those that the tables know. Default: none. */
  readonly isName?: IsName | undefined
  /** Default: the limits of an example. An export that must run needs whole bodies. */
  readonly limits?: RedactLimits
}

/** A place in its three spellings; `where` tells data from names, and `path` tells keys from indices. */
export type Spellings = Pick<Finding, 'at' | 'where' | 'path'>

/** Redacts requests and answers so that they can be kept. Members with secret names are hidden in both modes. */
export interface Redactor {
  /** Redacts any JSON value of a member of this name. Long lists and deep objects are cut. */
  value(value: unknown, name: string, words: Vocabulary, limits?: RedactLimits): unknown
  /** Redacts two different texts of a member of this name. Of long ones, the parts that differ are shown. */
  texts(v1: string, v2: string, name: string, words: Vocabulary): TextPair
  /** Redacts the name of a member, which may be a key of a user's map. */
  key(name: string, words: Vocabulary): string
  /** Redacts the exact JSON Pointer of a place, because keys of users' maps are data. */
  pointer(place: Spellings, words: Vocabulary): string
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

export function createRedactor({ values, key, isName = () => false, limits = EXAMPLE }: RedactSettings): Redactor {
  const mask = (text: string) => `text-${text.length}-${createHmac('sha256', key()).update(text).digest('hex').slice(0, 8)}`
  const conceal = (text: string, limit = limits.text) => (values === 'masked' ? mask(text) : shown(text, limit))
  const word: Word = (text, words, limit) => (words.has(text) ? text : conceal(text, limit))
  const nameWord: Word = (text, words) => (isName(text) ? text : word(text, words))
  const value: Redactor['value'] = (value, name, words, own = limits) => redactValue(value, name, { word, nameWord, words, limits: own }, 0)
  return {
    value,
    texts(v1, v2, name, words) {
      const parts = values === 'shown' && !isSecretName(name) ? differingParts(v1, v2, limits.text, BEYOND) : undefined
      const isPlain = isSecretName(name) || Math.max(v1.length, v2.length) < LONG || [v1, v2].every((text) => isHarmless(text, name))
      const [left, right] = parts ?? [value(v1, name, words), value(v2, name, words)]
      return { v1: left, v2: right, ...(!isPlain && { differsAt: firstDifference(v1, v2) }) }
    },
    key: (name, words) => nameWord(name, words),
    pointer({ at, where, path }, words) {
      if (!at.startsWith('/')) return at
      const [patterns, ids] = [segmentsOf(where), segmentsOf(path)]
      const isKey = (nth: number) => patterns[nth] === ANY && !isRowSegment(ids[nth] ?? '')
      return pointerOf(segmentsOf(at).map((segment, nth) => (isKey(nth) ? nameWord(segment, words) : segment)))
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
type Word = (text: string, words: Vocabulary, limit?: number) => string

interface Rules {
  readonly word: Word
  /** The same for the name of a member. */
  readonly nameWord: Word
  readonly words: Vocabulary
  readonly limits: RedactLimits
}

function redactValue(value: unknown, name: string, rules: Rules, depth: number): unknown {
  const { word, nameWord, words, limits } = rules
  if (typeof value === 'string' && value !== '' && isSecretName(name)) return HIDDEN
  if (typeof value === 'string') return isHarmless(value, name) ? value : word(value, words, limits.text)
  if (typeof value !== 'object' || value === null) return value
  if (isSecretName(name)) return HIDDEN
  if (depth > limits.depth) return '… deeper'
  if (Array.isArray(value)) {
    const items = value.slice(0, limits.items).map((item) => redactValue(item, name, rules, depth + 1))
    return value.length > items.length ? [...items, `… ${value.length - items.length} more`] : items
  }
  const members = Object.entries(value)
  const kept = members.slice(0, limits.members)
  const shown = kept.map(([member, inner]) => [nameWord(member, words), redactValue(inner, member, rules, depth + 1)] as const)
  return Object.fromEntries([...shown, ...leftOut(members.length - kept.length)])
}

/** Name of the member that counts those that are left out. */
export const LEFT_OUT = '…'

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
