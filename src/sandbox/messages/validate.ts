import { snakeCase } from '../http/case.ts'
import type { FieldViolation } from '../status.ts'
import { type Check, type Draft, type Field, isZero, type Message } from './message.ts'

/** Checks a string against `pattern`. The message is the service's own: `name must match "^[a-z0-9 ._-]{1,}$"` (semantics §3.0). */
export const matching =
  (label: string, pattern: RegExp): Check =>
  (value: string) =>
    pattern.test(value) ? undefined : `${label} must match ${JSON.stringify(pattern.source)}`

/** The name rule of groups, identities, roles, repos, identity providers and associations (specification §8). */
export const nameRule = matching('name', /^[a-z0-9 ._-]{1,}$/)

/** No line breaks or tabs, at most 512 characters (semantics §3.0). */
export const descriptionRule = matching('description', /^[\S ]{0,512}$/)

/** Checks each element of a list. Returns the first refusal. */
export const each =
  (check: Check): Check =>
  (values: readonly never[]) =>
    values.map(check).find((description) => description !== undefined)

/** Checks that the value is one of `allowed`. */
export const among =
  (label: string, allowed: readonly string[]): Check =>
  (value: string) =>
    allowed.includes(value) ? undefined : `${label} must be one of ${allowed.join(', ')}`

const ownViolation = (field: Field, value: unknown): string | undefined => {
  const zero = isZero(field, value)
  // The error for a missing name quotes its pattern (specification §7 rule 1), so this check precedes the plain message.
  if (zero && !field.required) return undefined
  return field.check?.((value ?? '') as never) ?? (zero ? 'is required' : undefined)
}

const innerViolations = (field: Field, value: unknown, path: string): readonly FieldViolation[] => {
  const { message } = field
  if (!message || value === undefined) return []
  if (field.shape === 'single') return violations(message, value as Draft, `${path}.`)
  const items = field.shape === 'list' ? (value as readonly Draft[]).entries() : Object.entries(value as Readonly<Record<string, Draft>>)
  return [...items].flatMap(([key, item]) => violations(message, item, `${path}[${key}].`))
}

/** Every invalid field of `row`, which is filled, in the order of the table. `prefix` is the proto path of the message. */
export const violations = (message: Message, row: Draft, prefix = ''): readonly FieldViolation[] =>
  Object.entries(message.fields).flatMap(([name, field]) => {
    if (field.outputOnly) return []
    const path = prefix + snakeCase(name)
    const description = ownViolation(field, row[name])
    return [...(description === undefined ? [] : [{ field: path, description }]), ...innerViolations(field, row[name], path)]
  })
