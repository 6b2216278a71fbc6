import type { ApiError, CodeName } from '../errors.ts'
import type { Call } from '../tables/turn.ts'
import { textOf, textsOf } from './call-text.ts'
import { type Guard, guardsOf, ordinary, type Refusal } from './guards.ts'
import { leftMarker } from './marker.ts'
import { type ExplainedRequest, type Scenario, type Trace, trace } from './trace.ts'

/** Calls that are made only on a certain result of another call. */
export interface Branch {
  /** Completes "when it …". */
  readonly when: string
  readonly calls: readonly Call[]
}

/** One call in the ordinary course of a request. */
export interface PlannedCall {
  readonly number: number
  readonly call: Call
  /** Made for every row of an earlier list (`row`), or once with the values of all rows (`page`); its markers stand for one row. */
  readonly each: 'row' | 'page' | undefined
  readonly guard: Guard | undefined
  /** The calls after it are made only if it succeeds. */
  readonly decisive: boolean
  readonly branches: readonly Branch[]
}

/** The calls that a request makes to v2. `error` is its result although v2 refuses nothing. */
export interface Course {
  readonly calls: readonly PlannedCall[]
  readonly error: ApiError | undefined
  /** The result of the request if an answer does not contain a required value. */
  readonly otherwise?: Refusal
}

/** Failures that plans are known to handle. */
const FAILURES: readonly CodeName[] = ['ALREADY_EXISTS', 'NOT_FOUND', 'PERMISSION_DENIED']

/**
 * Finds the calls of a plan by running it against imagined answers: the ordinary course, and what changes if one thing differs.
 * Every plan can thus be explained without describing itself.
 */
export function explore(subject: ExplainedRequest): Course {
  const { base, assumed } = ordinary(subject)
  const course = trace(subject, base)
  const twice = textsOf(trace(subject, { ...base, rows: 2 }).calls)
  const guards = guardsOf(subject, base, course)
  const calls = course.calls.map((call, at): PlannedCall => {
    const number = at + 1
    const each = eachOf(call, twice)
    // A loop over the rows needs no guard, because it makes no call without rows.
    const guard = each === 'row' ? undefined : (guards.get(number) ?? (assumed && number > assumed.member.call ? assumed : undefined))
    return { number, call, each, guard, ...reactions(subject, base, course, number) }
  })
  return { calls, error: course.error, ...(assumed && { otherwise: assumed }) }
}

/** Returns how often a call is made, from the texts of the calls that are made for two rows. */
function eachOf(call: Call, twice: ReadonlySet<string>): PlannedCall['each'] {
  const [own, second] = [textOf(call), ofSecondRow(textOf(call))]
  if (own === second) return undefined
  if (twice.has(second)) return 'row'
  const both = call.query.flatMap(([name, value]) => [...new Set([value, ofSecondRow(value)])].map((one) => [name, one] as const))
  return twice.has(textOf({ ...call, query: both })) ? 'page' : undefined
}

function ofSecondRow(text: string): string {
  return text.replace(/(CROSSWALK-\d+)-1-/g, '$1-2-')
}

/** Returns how the plan reacts if one call ends differently. */
function reactions(subject: ExplainedRequest, base: Scenario, course: Trace, number: number): Pick<PlannedCall, 'decisive' | 'branches'> {
  const usual = textsOf(course.calls)
  const further = (scenario: Scenario) => trace(subject, { ...base, ...scenario }).calls.slice(number)
  const next = course.calls[number]
  const failures = FAILURES.map((code) => ({ code, calls: further({ failing: [number, code] }) }))
  const decisive = next !== undefined && !failures.some(({ calls }) => textsOf(calls).has(textOf(next)))
  const fresh = (calls: readonly Call[]) => calls.filter((call) => !usual.has(textOf(call)))
  const branches: Branch[] = failures.map(({ code, calls }) => ({ when: `answers ${code}`, calls: fresh(calls) }))
  const nextPage = rest(fresh(further({ paged: number })), fresh(further({ paged: number, rows: 2 })))
  const nothingFound = further({ rows: 0 }).filter((call) => call.method !== 'GET')
  branches.push({ when: 'has a nextPageToken, and again for each page', calls: nextPage })
  branches.push({ when: 'finds nothing', calls: isList(subject, course, number) ? fresh(nothingFound) : [] })
  return { decisive, branches: merged(branches.filter(({ calls }) => calls.length > 0)) }
}

/**
 * Returns the call for the next page. What is left of a window depends on the rows so far: with one imagined row more it is one less. Such a
 * value becomes words.
 */
function rest([call]: readonly Call[], others: readonly Call[]): readonly Call[] {
  if (!call) return []
  const other = others.find(({ path }) => path === call.path)
  const query = call.query.map(([name, value], at) => {
    const isLess = Number(other?.query[at]?.[1]) === Number(value) - 1
    return [name, isLess ? leftMarker(Number(value) + 1) : value] as const
  })
  return [{ ...call, query }]
}

function isList({ operation, shapeOf }: ExplainedRequest, { calls }: Trace, number: number): boolean {
  const call = calls[number - 1]
  return call !== undefined && shapeOf(operation, call).plural !== undefined
}

/** Merges branches with the same calls. */
function merged(branches: readonly Branch[]): readonly Branch[] {
  const byCalls = new Map<string, Branch>()
  for (const branch of branches) {
    const key = branch.calls.map(textOf).join()
    const known = byCalls.get(key)
    byCalls.set(key, known ? { ...known, when: `${known.when} or ${branch.when}` } : branch)
  }
  return [...byCalls.values()]
}
