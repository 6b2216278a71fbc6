import { isObject } from '../../tables/json.ts'
import { isAnyGiven, spellings } from '../../tables/language/query.ts'
import { ROWS } from '../../tables/plan/plan.ts'
import { WINDOW_PARAMETERS } from '../../tables/plan/window.ts'
import type { SeenAnswer } from '../compare/compare.ts'
import type { Finding } from '../compare/finding.ts'
import { segmentsOf } from '../compare/json-path.ts'
import type { AskedRequest } from './asked-request.ts'

const WINDOWED = new Set(WINDOW_PARAMETERS.flatMap(spellings))

/**
 * Returns the rows that a window of a list gains or loses at its ends, because a further row came or went, in the window or before it.
 * If nothing is known of v1 before, or if `isRepeated`, a row may also have gone.
 */
export function shiftedRows(
  { request }: AskedRequest,
  findings: readonly Finding[],
  { v1, v2, v2First }: { readonly v1: SeenAnswer; readonly v2: SeenAnswer; readonly v2First: boolean },
  isRepeated: boolean,
): ReadonlySet<Finding> {
  if (!isAnyGiven(request.query, WINDOWED)) return new Set()
  const lost = findings.filter((finding) => finding.kind === 'missing' && isRowOfList(finding))
  const gained = findings.filter((finding) => finding.kind === 'extra' && isRowOfList(finding))
  const came = pushedRows(gained, lost, lengthOf(v1))
  if (came.length > 0) return new Set(came)
  const went = pushedRows(lost, gained, lengthOf(v2))
  return new Set(v2First || isRepeated ? went : went.filter(({ kind }) => kind === 'extra'))
}

/** Returns the gained rows from the first one on, and the lost ones up to the last one of a list, if there are not more of these. */
function pushedRows(gained: readonly Finding[], lost: readonly Finding[], length: number): readonly Finding[] {
  const isAtEnd = lost.every((row) => indexOf(row) >= length - lost.length)
  if (!isAtEnd || lost.length > gained.length) return []
  const inOrder = gained.toSorted((a, b) => indexOf(a) - indexOf(b))
  return [...lost, ...inOrder.filter((row, nth) => indexOf(row) === nth)]
}

function isRowOfList({ where }: Finding): boolean {
  return where === `/${ROWS}/*`
}

function indexOf({ at }: Finding): number {
  return Number(segmentsOf(at)[1])
}

function lengthOf({ body }: SeenAnswer): number {
  const rows = body.kind === 'json' && isObject(body.value) ? body.value[ROWS] : undefined
  return Array.isArray(rows) ? rows.length : 0
}
