import { invalidArgument } from '../../errors/api-error.ts'
import { count, isAnyGiven, type Query, spellings } from '../language/query.ts'

/** The part of a full-set list that a v1 client asked for; `take` undefined = to the end. */
export interface Window {
  readonly skip: number
  readonly take: number | undefined
  /** A v2 page token to go on from, where v1 was paged by token itself. */
  readonly token?: string | undefined
}

/** The full set. */
export const EVERYTHING: Window = { skip: 0, take: undefined }

/** v1's ways to ask for a part of a list (specification §9.5). A family that counts pages names its size; pages count from 1. */
const FAMILIES = [
  { start: 'offset', size: 'limit', paged: false },
  { start: 'page', size: 'page_size', paged: true },
  { start: 'page_number', size: 'per_page', paged: true },
] as const

export const WINDOW_PARAMETERS: readonly string[] = FAMILIES.flatMap(({ start, size }) => [start, size])

const SPELLED = new Set(WINDOW_PARAMETERS.flatMap(spellings))

/** Rows of a page whose size the client did not say: v2's own default (specification §8). */
export const DEFAULT_PAGE = 50

/**
 * The window a v1 query asks for; none of the parameters = the whole set. Two families at once are INVALID_ARGUMENT. `sizeBits` are those
 * of page_size where v1 has that itself.
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
  return { skip: ((start ?? 1) - 1) * take, take }
}
