import { isObject } from '../../tables/json.ts'
import { WINDOW_PARAMETERS } from '../../tables/pages.ts'
import { isAnyGiven, spellings } from '../../tables/query.ts'
import { ROWS } from '../../tables/turn.ts'
import type { SeenAnswer } from '../compare/compare.ts'
import type { Finding } from '../compare/finding.ts'
import { segmentsOf } from '../compare/json-path.ts'
import type { AskedRequest } from './asked-request.ts'
import type { Movement } from './movement.ts'

interface Answers {
  readonly v1: SeenAnswer
  readonly v2: SeenAnswer
  readonly v2First: boolean
  readonly movement: Movement
}

const WINDOWED = new Set(WINDOW_PARAMETERS.flatMap(spellings))

/**
 * Returns the rows that a window of a list gains or loses at its ends, because a further row came or went, in the window or before it.
 * If nothing is known of v1 before, or if `isRepeated`, a row may also have gone.
 */
export function shiftedRows(
  { request }: AskedRequest,
  findings: readonly Finding[],
  { v1, v2, v2First, movement }: Answers,
  isRepeated: boolean,
): ReadonlySet<Finding> {
  if (!isAnyGiven(request.query, WINDOWED)) return new Set()
  const lost = findings.filter((finding) => finding.kind === 'missing' && isRowOfList(finding))
  const gained = findings.filter((finding) => finding.kind === 'extra' && isRowOfList(finding))
  if (isReplaced(lost, gained, lengthOf(v1))) return new Set()
  const isOpen = (row: Finding) => !movement.explains(row)
  const [openLost, openGained] = [lost.filter(isOpen), gained.filter(isOpen)]
  const came = [...pushedOut(openLost, gained, lengthOf(v1)), ...pushedIn(openGained, openLost)]
  if (came.length > 0) return new Set(came)
  const isKnown = !v2First && !isRepeated
  const atStart = lost.length === gained.length && !isKnown ? pushedIn(openLost, openGained) : []
  return new Set([...pushedOut(openGained, lost, lengthOf(v2)), ...atStart])
}

/** Most rows that may come into a window that was empty. A v2 that overlooks the window usually shows more. */
const COME = 2

/** True if v2 shows none of v1's rows, but others. */
function isReplaced(lost: readonly Finding[], gained: readonly Finding[], length: number): boolean {
  return length === 0 ? gained.length > COME : lost.length >= length
}

/** Returns the rows at the end of a list that others push out. */
function pushedOut(rows: readonly Finding[], others: readonly Finding[], length: number): readonly Finding[] {
  return rows.length <= others.length && rows.every((row) => indexOf(row) >= length - rows.length) ? rows : []
}

/** Returns the rows from the first one of a list on, unless more rows than that went. */
function pushedIn(rows: readonly Finding[], others: readonly Finding[]): readonly Finding[] {
  if (others.length > rows.length) return []
  return rows.toSorted((a, b) => indexOf(a) - indexOf(b)).filter((row, nth) => indexOf(row) === nth)
}

/** True for a row of the list that was asked for, and not of a list within a row. */
export function isRowOfList({ where }: Finding): boolean {
  return where === `/${ROWS}/*`
}

function indexOf({ at }: Finding): number {
  return Number(segmentsOf(at)[1])
}

function lengthOf({ body }: SeenAnswer): number {
  const rows = body.kind === 'json' && isObject(body.value) ? body.value[ROWS] : undefined
  return Array.isArray(rows) ? rows.length : 0
}
