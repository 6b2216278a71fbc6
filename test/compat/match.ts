import { inspect } from 'node:util'

/** A test of one value inside an expected shape, with its description for the report. */
export interface Matcher {
  readonly what: string
  readonly test: (value: unknown) => boolean
}

const IS_MATCHER = Symbol('matcher')

export function matcher(what: string, test: (value: unknown) => boolean): Matcher {
  // A matcher is a function, so that code that walks plain data does not take it for an expected object.
  return Object.assign((value: unknown) => test(value), { what, test, [IS_MATCHER]: true })
}

const UID = /^[0-9a-f]{40}(?:\/[0-9a-f]{16})*$/
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d{3}){0,3}Z$/

const matching = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value)

export const anything = matcher('anything', () => true)
export const text = matcher('a text', (value) => typeof value === 'string' && value !== '')
export const uid = matcher('a uid', matching(UID))
export const time = matcher('an RFC 3339 UTC time', matching(TIME))

export const list = matcher('a list', Array.isArray)

/** Matches a uid directly below another. */
export function below(parent: string): Matcher {
  const child = (value: unknown) => typeof value === 'string' && value.slice(0, value.lastIndexOf('/')) === parent && UID.test(value)
  return matcher(`a uid directly below ${parent}`, child)
}

/** Matches a text by a pattern. */
export function like(pattern: RegExp): Matcher {
  return matcher(`a text like ${pattern}`, matching(pattern))
}

/** Returns every difference between a value and the expected shape. Members are compared exactly, without missing or extra ones. */
export function mismatches(actual: unknown, expected: unknown, at = ''): string[] {
  if (isMatcher(expected)) return expected.test(actual) ? [] : [`${at || '/'}: ${show(actual)} is not ${expected.what}`]
  if (Array.isArray(expected)) {
    if (!Array.isArray(actual)) return [`${at || '/'}: ${show(actual)} is not a list`]
    const rows = expected.flatMap((item, index) => (index in actual ? mismatches(actual[index], item, `${at}/${index}`) : []))
    return actual.length === expected.length ? rows : [...rows, `${at || '/'}: ${actual.length} rows instead of ${expected.length}`]
  }
  if (typeof expected !== 'object' || expected === null) {
    return Object.is(actual, expected) ? [] : [`${at || '/'}: ${show(actual)} instead of ${show(expected)}`]
  }
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return [`${at || '/'}: ${show(actual)} is not an object`]
  const names = new Set([...Object.keys(expected), ...Object.keys(actual)])
  return [...names].flatMap((name) => member(actual as Members, expected as Members, name, `${at}/${name}`))
}

type Members = Readonly<Record<string, unknown>>

function member(actual: Members, expected: Members, name: string, at: string): string[] {
  if (!Object.hasOwn(expected, name)) return [`${at}: must not be there, but is ${show(actual[name])}`]
  if (!Object.hasOwn(actual, name)) return [`${at}: is missing`]
  return mismatches(actual[name], expected[name], at)
}

function isMatcher(value: unknown): value is Matcher {
  return typeof value === 'function' && IS_MATCHER in value
}

function show(value: unknown): string {
  return inspect(value, { depth: 3, breakLength: 140 })
}
