import type { Operation, V1Request } from '../operations/operation.ts'
import { variablesOf } from './path.ts'
import { count, spellings } from './query.ts'

/**
 * What the request must be: every row must hold. A request that skips or takes a number of rows which is none:
 *
 *     when: [{ param: ['offset', 'limit'], isNot: 'count' }]
 */
export type Condition = readonly ParamCondition[]

/** What one parameter must be. It must be given; `is` and `isNot` say what its values are. */
export interface ParamCondition {
  /** Table names of query parameters or path variables, in either spelling. One of them is enough. */
  readonly param: string | readonly string[]
  /** One of its values is one of these texts, or the parameter has this form. */
  readonly is?: readonly string[] | ParamForm
  /** One of its values is none of these texts, or the parameter does not have this form. */
  readonly isNot?: readonly string[] | ParamForm
}

/** `count` is a whole number of 32 bits, 0 or more; `positive` is one above 0; `uid` is a uid (facts §17). */
export const PARAM_FORMS = ['count', 'positive', 'uid'] as const
export type ParamForm = (typeof PARAM_FORMS)[number]

/** A request and the operation that it was routed to. */
interface RoutedRequest {
  readonly operation: Operation
  readonly request: V1Request
}

/** Returns the names that a condition may use: those of the query parameters and path variables of an operation. */
export function paramsOf({ params, ownParams, template }: Operation): readonly string[] {
  return [...Object.keys(params), ...ownParams, ...variablesOf(template)]
}

/** Returns a test of requests. A parameter that the operation does not have is never given: both services ignore it. */
export function compileCondition(condition: Condition): (asking: RoutedRequest) => boolean {
  const tests = condition.map(compileRow)
  return (asking) => tests.every((test) => test(asking))
}

function compileRow({ param, is, isNot }: ParamCondition): (asking: RoutedRequest) => boolean {
  const names = [param].flat()
  const has = is === undefined ? undefined : matcher(is)
  const lacks = isNot === undefined ? undefined : mismatcher(isNot)
  return (asking) =>
    names.some((name) => {
      const values = valuesOf(asking, name)
      return values.length > 0 && has?.(asking, name, values) !== false && lacks?.(asking, name, values) !== false
    })
}

type Test = (asking: RoutedRequest, name: string, values: readonly string[]) => boolean

function matcher(wanted: readonly string[] | ParamForm): Test {
  return typeof wanted === 'string' ? FORMS[wanted] : (_, __, values) => values.some((value) => wanted.includes(value))
}

function mismatcher(unwanted: readonly string[] | ParamForm): Test {
  if (typeof unwanted !== 'string') return (_, __, values) => values.some((value) => !unwanted.includes(value))
  return (asking, name, values) => !FORMS[unwanted](asking, name, values)
}

const UID = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/

const FORMS: Readonly<Record<ParamForm, Test>> = {
  count: ({ request }, name) => reads(() => count(request.query, name)),
  positive: ({ request }, name) => reads(() => count(request.query, name) !== undefined),
  uid: (_, __, values) => values.every((value) => UID.test(value)),
}

/** False if it returns false, or throws because the tables refuse the value. */
function reads(read: () => unknown): boolean {
  try {
    return read() !== false
  } catch {
    return false
  }
}

function valuesOf({ operation, request: { params, query } }: RoutedRequest, name: string): readonly string[] {
  if (!paramsOf(operation).includes(name)) return []
  const variable = params[name]
  return variable === undefined ? spellings(name).flatMap((spelling) => query.get(spelling) ?? []) : [variable]
}
