import { parseTimestamp } from '../messages/timestamp.ts'
import { malformed } from '../status.ts'
import { snakeCase } from './case.ts'

/**
 * The query parameters of a request. Every reader takes the snake_case name and accepts camelCase too, dotted names included (facts §16.2).
 * A malformed value or a repeated singular parameter is 400 code 3 in the gateway's words (semantics §4.1).
 */
export type Query = {
  /** Every value of a repeated parameter, in order; `[]` when absent. */
  readonly texts: (name: string) => readonly string[]
  /** The value; `''` when absent. */
  readonly text: (name: string) => string
  /** 1, t, T, true, TRUE, True and their opposites; false when absent. */
  readonly flag: (name: string) => boolean
  /** A 32-bit integer; 0 when absent. */
  readonly integer: (name: string) => number
  /** An RFC 3339 time as milliseconds since the epoch; undefined when absent. */
  readonly time: (name: string) => number | undefined
  /** One of `values`, by name or by number (its index); the first when absent. */
  readonly choice: (name: string, values: readonly string[]) => string
  /** Every value of a repeated enum parameter, each by name or by number; `[]` when absent. */
  readonly choices: (name: string, values: readonly string[]) => readonly string[]
  /** True if the parameter is present, even if empty. */
  readonly has: (name: string) => boolean
  /** Every pair as received, in order, for the journal. */
  readonly pairs: readonly (readonly [string, string])[]
}

const TRUE = new Set(['1', 't', 'T', 'true', 'TRUE', 'True'])
const FALSE = new Set(['0', 'f', 'F', 'false', 'FALSE', 'False'])

/** The last part of a dotted name: the gateway's name of a field in an error. */
const fieldName = (name: string): string => name.slice(name.lastIndexOf('.') + 1)

const fail = (name: string, reason: string): never => malformed(`parsing field ${JSON.stringify(fieldName(name))}: ${reason}`)

const parseFlag = (name: string, value: string): boolean =>
  TRUE.has(value) || (FALSE.has(value) ? false : fail(name, `strconv.ParseBool: parsing ${JSON.stringify(value)}: invalid syntax`))

const parseInteger = (name: string, value: string): number => {
  if (!/^[+-]?[0-9]+$/.test(value)) return fail(name, `strconv.ParseInt: parsing ${JSON.stringify(value)}: invalid syntax`)
  const number = Number(value)
  return number === (number | 0) ? number : fail(name, `strconv.ParseInt: parsing ${JSON.stringify(value)}: value out of range`)
}

const parseChoice = (name: string, value: string, values: readonly string[]): string => {
  const chosen = /^[0-9]+$/.test(value) ? values[Number(value)] : values.find((known) => known === value)
  return chosen ?? fail(name, `${JSON.stringify(value)} is not a valid value`)
}

/** Reads the pairs of a query string or a form-encoded body. */
export const readQuery = (pairs: readonly (readonly [string, string])[]): Query => {
  const values = new Map<string, string[]>()
  for (const [key, value] of pairs) values.set(snakeCase(key), [...(values.get(snakeCase(key)) ?? []), value])
  const texts = (name: string): readonly string[] => values.get(name) ?? []
  const single = (name: string): string | undefined => {
    const given = texts(name)
    if (given.length > 1) malformed(`too many values for field ${JSON.stringify(fieldName(name))}: ${given.join(', ')}`)
    return given[0]
  }
  const parsed = <T>(name: string, absent: T, parse: (value: string) => T): T => {
    const value = single(name)
    return value === undefined ? absent : parse(value)
  }
  return {
    pairs,
    texts,
    has: (name) => values.has(name),
    text: (name) => single(name) ?? '',
    flag: (name) => parsed(name, false, (value) => parseFlag(name, value)),
    integer: (name) => parsed(name, 0, (value) => parseInteger(name, value)),
    time: (name) =>
      parsed<number | undefined>(
        name,
        undefined,
        (value) => parseTimestamp(value) ?? fail(name, `${JSON.stringify(value)} is not an RFC 3339 time`),
      ),
    choices: (name, allowed) => texts(name).map((value) => parseChoice(name, value, allowed)),
    choice: (name, allowed) => parsed(name, allowed[0] ?? '', (value) => parseChoice(name, value, allowed)),
  }
}
