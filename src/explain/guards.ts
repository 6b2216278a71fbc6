import type { ApiError } from '../errors.ts'
import { isObject } from '../tables/json.ts'
import { textOf, textsOf } from './call-text.ts'
import { type Marker, markersIn, markerText } from './marker.ts'
import { type ExplainedRequest, type Scenario, type Trace, trace } from './trace.ts'

/** The condition of a call: a member of an earlier answer is (or is not) this text. */
export interface Guard {
  readonly member: Marker
  readonly value: string
  readonly equal: boolean
}

/** The result of a request if a guard does not hold. */
export interface Refusal extends Guard {
  readonly error: ApiError
}

/** Returns the ordinary scenario. If the plan refuses what it reads, the scenario contains the value that the plan requires. */
export function ordinary(subject: ExplainedRequest): { readonly base: Scenario; readonly assumed?: Refusal } {
  const first = trace(subject)
  if (!first.error || first.calls.length === 0) return { base: {} }
  for (const [member, value] of candidates(subject, first)) {
    const base = { values: new Map([[markerText(member), value]]) }
    if (!trace(subject, base).error) return { base, assumed: { member, value, equal: true, error: first.error } }
  }
  return { base: {} }
}

/** Returns the calls that are omitted, with no other change, if an answer already contains a text of the request. */
export function guardsOf(subject: ExplainedRequest, base: Scenario, course: Trace): ReadonlyMap<number, Guard> {
  const guards = new Map<number, Guard>()
  for (const [member, value] of candidates(subject, course)) {
    const values = new Map([...(base.values ?? []), [markerText(member), value]])
    const other = trace(subject, { ...base, values })
    const left = textsOf(other.calls)
    const onlyFewer = !other.error && other.calls.length < course.calls.length && isPartOf(left, textsOf(course.calls))
    if (!onlyFewer) continue
    course.calls.forEach((call, at) => {
      if (!left.has(textOf(call)) && !guards.has(at + 1)) guards.set(at + 1, { member, value, equal: false })
    })
  }
  return guards
}

/** Each text costs a run. Bodies that a plan compares with an answer are short. */
const MOST_TEXTS = 50

/** Pairs every text of an answer with every text of the request's body and with the empty text. */
function candidates(subject: ExplainedRequest, { calls }: Trace): readonly (readonly [Marker, string])[] {
  const values = new Set(['', ...textsIn(subject.request.body).slice(0, MOST_TEXTS)])
  const members = calls.flatMap((call, at) => {
    const { plural, body } = subject.shapeOf(subject.operation, call)
    return call.method === 'GET' ? markersIn(JSON.stringify(body(at + 1, plural === undefined ? 0 : 1))) : []
  })
  return members.flatMap((member) => [...values].map((value) => [member, value] as const))
}

function textsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value.flatMap(textsIn)
  return isObject(value) ? Object.values(value).flatMap(textsIn) : []
}

function isPartOf<T>(part: ReadonlySet<T>, whole: ReadonlySet<T>): boolean {
  return [...part].every((item) => whole.has(item))
}
