import type { Redacted } from './redacted.ts'
import { isSecretName } from './secrets.ts'

/** Flags, small numbers and sort directions decide which calls are made, and are not secret in a parameter that the tables know. */
const PLAIN = /^(?:true|false|t|f|[+-]?\d{1,9})$/i
const DIRECTED = /^(\S+)\s+(asc|desc)$/i

/** Redacts the value of a query parameter. */
export function recordedParameter(value: string, name: string, redacted: Redacted): string {
  const isKnown = redacted.key(name) === name && !isSecretName(name)
  if (isKnown && PLAIN.test(value)) return value
  const [, field, direction] = DIRECTED.exec(value) ?? []
  return isKnown && field !== undefined ? `${redacted.value(field, name)} ${direction}` : String(redacted.value(value, name))
}
