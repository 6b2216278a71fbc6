import type { Scalar } from './form.ts'
import { instant, seconds } from './instant.ts'

/** How two values that are not both objects or both lists stand to each other. */
export type Verdict = 'same' | 'type' | 'value'

export type JsonType = 'nothing' | 'null' | 'boolean' | 'number' | 'string' | 'list' | 'object'

/** null is a type of its own: a v1 client tells it from `""`, `[]` and `{}` (facts §16.3). `nothing` is an empty body. */
export function jsonType(value: unknown): JsonType {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  return typeof value as JsonType
}

/**
 * The rules of equality of one kind of scalar. JSON types must agree first, so that the 64-bit integer `"5"` and the number `5` differ in
 * type: v1 promises strings (facts §16.5), and a client that adds 1 to one of them sees another result.
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

/** No 64-bit integer is longer; what is longer is compared as the text that it is. */
const INTEGER = /^-?\d{1,20}$/

/** Texts that are equal although they are spelled differently. Kinds that are not listed are equal when their texts are. */
const RULES: Partial<Record<Scalar | 'any', Rule>> = {
  time: alike(instant),
  duration: alike(seconds),
  long: alike((text) => (INTEGER.test(text) ? BigInt(text) : undefined)),
  // Each side has cursors of its own (facts §20); that there is a further page, or none, they must agree on.
  cursor: (v1, v2) => (v1 === '') === (v2 === ''),
  any: alike(instant),
}
