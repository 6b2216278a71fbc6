import { invalidArgument } from '../../errors/api-error.ts'
import { count, isAnyGiven, type Query, spellings } from '../language/query.ts'

/** The part of a full-set list that a v1 client asked for; without `take`, to the end. */
export interface Window {
  readonly skip: number
  readonly take: number | undefined
  /** The v2 page token to continue from, where v1 itself paged by token. */
  readonly token?: string | undefined
}

/** The full set. */
export const EVERYTHING: Window = { skip: 0, take: undefined }

/**
 * v1's ways to ask for a part of a list (specification §9.5).
 * A family that counts pages has a parameter for their size; pages count from 1.
 */
const FAMILIES = [
  { start: 'offset', size: 'limit', paged: false },
  { start: 'page', size: 'page_size', paged: true },
  { start: 'page_number', size: 'per_page', paged: true },
] as const

export const WINDOW_PARAMETERS: readonly string[] = FAMILIES.flatMap(({ start, size }) => [start, size])

/** Those that a list ignored in v1 if v1 paged it by token: only the size of a page was known there. */
export const UNPAGED_PARAMETERS: ReadonlySet<string> = new Set(WINDOW_PARAMETERS.filter((name) => name !== 'page_size').flatMap(spellings))

const SPELLED = new Set(WINDOW_PARAMETERS.flatMap(spellings))

/** The page size if the client gave none: v2's own default (specification §8). */
export const DEFAULT_PAGE = 50

/** v2's `skip` has 32 bits. No list is that long, so that a page behind it is empty as well. */
const MOST_SKIPPED = 2 ** 31 - 1

/**
 * Returns the window of a v1 query; without any parameter, the whole set. Two families at once are INVALID_ARGUMENT.
 * `sizeBits` is the size of page_size where v1 itself has it.
 */
export function readWindow(query: Query, sizeBits: 32 | 64 = 32): Window {
  if (!isAnyGiven(query, SPELLED)) return EVERYTHING
  const used = FAMILIES.map((family) => ({
    family,
    start: count(query, family.start),
    size: count(query, family.size, family.size === 'page_size' ? sizeBits : 32),
  })).filter(({ start, size }) => start !== undefined || size !== undefined)
  const [first, second] = used
  if (!first) return EVERYTHING
  if (second) {
    const description = `cannot be combined with ${first.family.start} and ${first.family.size}`
    throw invalidArgument({ field: second.start === undefined ? second.family.size : second.family.start, description })
  }
  const { family, start, size } = first
  if (!family.paged) return { skip: start ?? 0, take: size }
  const take = size ?? DEFAULT_PAGE
  return { skip: Math.min(((start ?? 1) - 1) * take, MOST_SKIPPED), take }
}
