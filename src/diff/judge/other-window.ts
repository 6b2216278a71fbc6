import { UNPAGED_PARAMETERS, type Window } from '../../tables/pages.ts'
import type { Finding } from '../compare/finding.ts'
import { segmentsOf } from '../compare/json-path.ts'
import type { AskedRequest } from './asked-request.ts'

/**
 * True if a finding only shows that v2 followed a window which v1 ignored: a row that lies in the window of one side alone, or a member
 * beside the rows. A row that both windows hold is expected on both sides.
 */
export function isOfOtherWindow({ operation, request }: AskedRequest, { kind, at, where }: Finding): boolean {
  const windows = windowsOf(operation, request)
  if (!windows) return false
  const { v1, v2 } = windows
  if (where !== ROW) return !isSame(v1, v2)
  const index = Number(segmentsOf(at).at(-1))
  return kind === 'missing' ? isInOneAlone(v1.skip + index, v1, v2) : isInOneAlone(v2.skip + index, v2, v1)
}

const ROW = '/items/*'

/** Returns the windows that the two services follow; undefined if v1 did not page the list by token, or both refuse the request. */
function windowsOf({ windowOf }: AskedRequest['operation'], { query }: AskedRequest['request']): Record<'v1' | 'v2', Window> | undefined {
  const known = new Map([...query].filter(([name]) => !UNPAGED_PARAMETERS.has(name)))
  try {
    return windowOf && { v1: windowOf(known), v2: windowOf(query) }
  } catch {
    return undefined
  }
}

function isSame(v1: Window, v2: Window): boolean {
  return v1.skip === v2.skip && v1.take === v2.take
}

function isInOneAlone(position: number, one: Window, other: Window): boolean {
  return holds(one, position) && !holds(other, position)
}

function holds({ skip, take = Number.POSITIVE_INFINITY }: Window, position: number): boolean {
  return position >= skip && position < skip + take
}
