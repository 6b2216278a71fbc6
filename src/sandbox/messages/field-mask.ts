import { type FieldViolation, invalidField, malformed } from '../status.ts'
import {
  type Check,
  type Draft,
  type Field,
  fill,
  isObject,
  isZero,
  type Message,
  memberOf,
  outputText,
  snakeCase,
  text,
  zeroOf,
} from './message.ts'

/** The members a write touches, as paths of JSON names: `['oidc', 'clientSecret']`. */
export type Mask = readonly (readonly string[])[]

/** Every member that a client can set: the meaning of `*`. */
const everything = (message: Message): Mask =>
  Object.entries(message.fields)
    .filter(([, { outputOnly }]) => outputOnly !== true)
    .map(([name]) => [name])

/** The JSON names of a path, or undefined for an unknown path. Only a single sub-message has paths below it: lists and maps are leaves. */
const resolve = (message: Message, path: string): readonly string[] | undefined => {
  const names: string[] = []
  let at: Message | undefined = message
  for (const part of path.split('.')) {
    const name: string | undefined = at ? memberOf(at, part) : undefined
    const field: Field | undefined = name === undefined ? undefined : at?.fields[name]
    if (name === undefined || !field) return undefined
    names.push(name)
    at = field.shape === 'single' ? field.message : undefined
  }
  return names
}

/**
 * Parses an `updateMask` parameter: comma separated, either spelling, or `*` alone. An unknown path, or `*` beside others, is
 * INVALID_ARGUMENT on `update_mask` (specification §4 rule 5, semantics §6).
 */
export const explicitMask = (message: Message, text: string): Mask => {
  const paths = text
    .split(',')
    .map((path) => path.trim())
    .filter((path) => path !== '')
  if (paths.includes('*')) {
    return paths.length === 1 ? everything(message) : invalidField('update_mask', 'the wildcard "*" cannot be combined with other paths')
  }
  return paths.map((path) => resolve(message, path) ?? invalidField('update_mask', `unknown path ${JSON.stringify(path)}`))
}

/**
 * Derives the mask of a body sent without one: the members present, also inside sub-messages; null, `[]` and `{}` count as present. An
 * unknown key is 400 code 3 in the gateway's words (semantics §6).
 */
export const impliedMask = (message: Message, body: unknown): Mask =>
  !isObject(body)
    ? []
    : Object.entries(body).flatMap(([key, value]) => {
        const name = memberOf(message, key)
        if (name === undefined) return malformed(`could not find field ${JSON.stringify(key)} in ${JSON.stringify(message.name)}`)
        const field = message.fields[name]
        const inner = field?.shape === 'single' && field.message ? impliedMask(field.message, value) : []
        return inner.length === 0 ? [[name]] : inner.map((path) => [name, ...path])
      })

/** The explicit mask unless `text` is empty, otherwise the implied one. */
export const maskOf = (message: Message, text: string, body: unknown): Mask =>
  text === '' ? impliedMask(message, body) : explicitMask(message, text)

/** True if the mask names `path` (either spelling, parts joined with dots), a member of it or a message around it. */
export const touches = (mask: Mask, path: string): boolean => {
  const asked = snakeCase(path)
  return mask.some((names) => {
    const named = snakeCase(names.join('.'))
    return named === asked || asked.startsWith(`${named}.`) || asked.startsWith(`${named}[`) || named.startsWith(`${asked}.`)
  })
}

const clearSiblings = (message: Message, name: string, target: Record<string, unknown>): void => {
  const group = message.fields[name]?.oneof
  if (group === undefined || target[name] === undefined) return
  for (const [other, field] of Object.entries(message.fields)) if (field.oneof === group && other !== name) target[other] = undefined
}

const assign = (message: Message, target: Draft, input: Draft, path: readonly string[]): Draft => {
  const [name, ...rest] = path
  const field = name === undefined ? undefined : message.fields[name]
  if (name === undefined || !field || field.outputOnly) return target
  const next: Record<string, unknown> = { ...target }
  if (rest.length === 0)
    next[name] =
      input[name] === undefined ? zeroOf(field) : fill(message, { [name]: keepOutput(field.message, target[name], input[name]) })[name]
  else if (field.message && (target[name] !== undefined || input[name] !== undefined)) {
    const inner = isObject(target[name]) ? target[name] : fill(field.message, {})
    next[name] = assign(field.message, inner, isObject(input[name]) ? input[name] : {}, rest)
  }
  clearSiblings(message, name, next)
  return next
}

/** When a sub-message is replaced, its output-only members keep their values. */
const keepOutput = (message: Message | undefined, target: unknown, input: unknown): unknown => {
  if (!message || !isObject(input)) return input
  const outputs = Object.entries(message.fields).filter(([, { outputOnly }]) => outputOnly)
  return { ...input, ...Object.fromEntries(outputs.map(([name]) => [name, isObject(target) ? target[name] : undefined])) }
}

/** `current` with the members of `mask` from `input` (zero if `input` lacks them). Output-only members never change. */
export const applyMask = <R extends Draft>(message: Message, current: R, input: Draft, mask: Mask): R =>
  mask.reduce<Draft>((row, path) => assign(message, row, input, path), current) as R

/** Checks a string against `pattern`. The message is the service's own: `name must match "^[a-z0-9 ._-]{1,}$"` (semantics §3.0). */
export const matching =
  (label: string, pattern: RegExp): Check =>
  (value: string) =>
    pattern.test(value) ? undefined : `${label} must match ${JSON.stringify(pattern.source)}`

/** The first members of groups, identities, roles, repos, identity providers and associations (specification §8). */
export const NAMED = {
  uid: outputText,
  name: text({ required: true, check: matching('name', /^[a-z0-9 ._-]{1,}$/) }),
  // No line breaks or tabs, at most 512 characters (semantics §3.0).
  description: text({ check: matching('description', /^[\S ]{0,512}$/) }),
}

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
