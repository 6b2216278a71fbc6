import type { Scalar } from './form.ts'
import { instant, seconds } from './instant.ts'

/** The result of comparing two values that are neither both objects nor both lists. */
export type Verdict = 'same' | 'type' | 'value'

export type JsonType = 'nothing' | 'null' | 'boolean' | 'number' | 'string' | 'list' | 'object'

/** null is a type of its own: a v1 client distinguishes it from `""`, `[]` and `{}` (facts §16.3). `nothing` is an empty body. */
export function jsonType(value: unknown): JsonType {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  return typeof value as JsonType
}

/**
 * Compares two values by the rules of one kind of scalar. The JSON types must agree first: the text `"5"` and the number `5` differ in
 * type.
 * v1 promises strings for 64-bit integers (facts §16.5), and a client that adds 1 gets another result for a number.
 */
export function compareScalars(of: Scalar | 'any', v1: unknown, v2: unknown): Verdict {
  if (v1 === v2) return 'same'
  if (jsonType(v1) !== jsonType(v2)) return 'type'
  return typeof v1 === 'string' && RULES[of]?.(v1, v2 as string) ? 'same' : 'value'
}

type Rule = (v1: string, v2: string) => boolean

const alike =
  (normal: (text: string) => unknown): Rule =>
  (v1, v2) => {
    const value = normal(v1)
    return value !== undefined && value === normal(v2)
  }

/** No 64-bit integer is longer; longer ones are compared as text. */
const INTEGER = /^-?\d{1,20}$/

/** Rules for texts that are equal in different spellings. Kinds that are not listed are equal if their texts are. */
const RULES: Partial<Record<Scalar | 'any', Rule>> = {
  time: alike(instant),
  duration: alike(seconds),
  long: alike((text) => (INTEGER.test(text) ? BigInt(text) : undefined)),
  // Each side has its own cursors (facts §20), but both must agree on whether there is a further page.
  cursor: (v1, v2) => (v1 === '') === (v2 === ''),
  any: alike(instant),
}
