import type { ApiError } from '../errors/api-error.ts'
import type { CodeName } from '../errors/codes.ts'
import type { Call } from '../tables/plan/plan.ts'
import { textOf, textsOf } from './call-text.ts'
import { type Guard, guardsOf, ordinary, type Refusal } from './guards.ts'
import { type Scenario, type Subject, type Trace, trace } from './trace.ts'

/** Calls that are made only when something happens to the call they belong to. */
export interface Branch {
  /** Completes "when it …". */
  readonly when: string
  readonly calls: readonly Call[]
}

/** One call of the ordinary course of a request. */
export interface PlannedCall {
  readonly number: number
  readonly call: Call
  /** Made for every row of an earlier list; its markers stand for one row. */
  readonly each: boolean
  readonly guard: Guard | undefined
  /** The calls after it are made only when it succeeds. */
  readonly decisive: boolean
  readonly branches: readonly Branch[]
}

/** What a request does to v2; `error`: what it ends with although v2 refuses nothing. */
export interface Course {
  readonly calls: readonly PlannedCall[]
  readonly error: ApiError | undefined
  /** What the request ends with when an answer does not hold what it must. */
  readonly otherwise?: Refusal
}

/** Failures that plans are known to react to. */
const FAILURES: readonly CodeName[] = ['ALREADY_EXISTS', 'NOT_FOUND', 'PERMISSION_DENIED']

/**
 * Finds out what a plan does by running it against imagined answers: the ordinary course, and what changes when one thing is different.
 * So every plan can be explained, and none has to explain itself.
 */
export function explore(subject: Subject): Course {
  const { base, assumed } = ordinary(subject)
  const course = trace(subject, base)
  const twice = textsOf(trace(subject, { ...base, rows: 2 }).calls)
  const guards = guardsOf(subject, base, course)
  const calls = course.calls.map((call, at): PlannedCall => {
    const number = at + 1
    const secondRow = textOf(call).replace(/(CROSSWALK-\d+)-1-/g, '$1-2-')
    const each = secondRow !== textOf(call) && twice.has(secondRow)
    // A loop over the rows needs no guard: it finds nothing where there is nothing.
    const guard = each ? undefined : (guards.get(number) ?? (assumed && number > assumed.member.call ? assumed : undefined))
    return { number, call, each, guard, ...reactions(subject, base, course, number) }
  })
  return { calls, error: course.error, ...(assumed && { otherwise: assumed }) }
}

/** What the plan does when one call goes otherwise. */
function reactions(subject: Subject, base: Scenario, course: Trace, number: number): Pick<PlannedCall, 'decisive' | 'branches'> {
  const usual = textsOf(course.calls)
  const further = (scenario: Scenario) => trace(subject, { ...base, ...scenario }).calls.slice(number)
  const next = course.calls[number]
  const failures = FAILURES.map((code) => ({ code, calls: further({ failing: [number, code] }) }))
  const decisive = next !== undefined && !failures.some(({ calls }) => textsOf(calls).has(textOf(next)))
  const fresh = (calls: readonly Call[]) => calls.filter((call) => !usual.has(textOf(call)))
  const branches = failures.map(({ code, calls }) => ({ when: `answers ${code}`, calls: fresh(calls) }))
  const nextPage = fresh(further({ paged: number })).slice(0, 1)
  const nothingFound = further({ rows: 0 }).filter((call) => call.method !== 'GET')
  branches.push({ when: 'has a nextPageToken, and again for each page', calls: nextPage })
  branches.push({ when: 'finds nothing', calls: isList(subject, course, number) ? fresh(nothingFound) : [] })
  return { decisive, branches: merged(branches.filter(({ calls }) => calls.length > 0)) }
}

function isList({ operation, shapeOf }: Subject, { calls }: Trace, number: number): boolean {
  const call = calls[number - 1]
  return call !== undefined && shapeOf(operation, call).plural !== undefined
}

/** Branches with the same calls are one. */
function merged(branches: readonly Branch[]): readonly Branch[] {
  const byCalls = new Map<string, Branch>()
  for (const branch of branches) {
    const key = branch.calls.map(textOf).join()
    const known = byCalls.get(key)
    byCalls.set(key, known ? { ...known, when: `${known.when} or ${branch.when}` } : branch)
  }
  return [...byCalls.values()]
}
