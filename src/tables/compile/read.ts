import { type FieldViolation, invalidArgument, MOST_VIOLATIONS } from '../../errors/api-error.ts'
import { isObject, type JsonObject } from '../json.ts'
import { requirement } from '../language/enums.ts'
import type { Field, Fields, FieldType } from '../language/field.ts'
import { camelCase } from '../language/names.ts'
import { readWith } from './convert.ts'
import { isDuration, isInt32, isInteger, isTimestamp } from './scalars.ts'

/** v1 body → v2 body. Throws one INVALID_ARGUMENT that names the members of a wrong type, at most a hundred. Never mutates its argument. */
export type ReadBody = (v1: unknown) => JsonObject

type Report = (field: string, description: string) => undefined
type Take = (value: unknown, field: string, report: Report) => unknown
type Fill = (v1: JsonObject, v2: Record<string, unknown>, prefix: string, report: Report) => void

/**
 * Compiles a field table into the function that reads a v1 message in either spelling. Absent and null members stay absent.
 * Unknown and output-only members are dropped (facts §16.2, §16.8). An absent body is the empty message.
 */
export function compileRead(fields: Fields): ReadBody {
  const fill = compileFill(fields)
  return (v1) => {
    const violations: FieldViolation[] = []
    const report: Report = (field, description) => {
      if (violations.length < MOST_VIOLATIONS) violations.push({ field, description })
      return undefined
    }
    const v2: Record<string, unknown> = {}
    if (isObject(v1)) fill(v1, v2, '', report)
    else if (v1 !== undefined && v1 !== null) report('body', 'must be a JSON object')
    if (violations.length > 0) throw invalidArgument(...violations)
    return v2
  }
}

/** Returns the value of a v1 member in whichever spelling the message has. */
export function member(v1: JsonObject, name: string, field: Pick<Field, 'json'>): unknown {
  const json = field.json ?? camelCase(name)
  if (Object.hasOwn(v1, name)) return v1[name]
  return Object.hasOwn(v1, json) ? v1[json] : undefined
}

/** Returns the JSON name if it differs. */
function otherSpelling(name: string, { json = camelCase(name) }: Field): string | undefined {
  return json === name ? undefined : json
}

function compileFill(fields: Fields): Fill {
  const rows = Object.entries(fields)
    .filter(([, { access }]) => access === 'readWrite' || access === 'writeOnly')
    .map(([name, field]) => ({ name, field, other: otherSpelling(name, field), put: compilePut(field) }))
  return (v1, v2, prefix, report) => {
    for (const { name, field, other, put } of rows) {
      if (other !== undefined && Object.hasOwn(v1, other) && Object.hasOwn(v1, name))
        report(prefix + name, `is given twice, as ${other} too`)
      const value = member(v1, name, field)
      if (value !== undefined && value !== null) put(value, v2, prefix + name, report)
    }
  }
}

function compilePut(field: Field): (value: unknown, v2: Record<string, unknown>, name: string, report: Report) => void {
  const { source, type } = field
  if (source === '' && type.kind === 'object') {
    const fill = compileFill(type.fields)
    return (value, v2, name, report) => (isObject(value) ? fill(value, v2, `${name}.`, report) : report(name, 'must be an object'))
  }
  const take = convertedBy(field, taker(type))
  const path = typeof source === 'string' ? source.split('.') : []
  return (value, v2, name, report) => {
    const taken = take(value, name, report)
    if (taken !== undefined) put(v2, path, taken)
  }
}

/** Returns what takes a value and writes it as v2 does. */
function convertedBy({ convert }: Field, take: Take): Take {
  if (!convert) return take
  return (value, field, report) => {
    const taken = take(value, field, report)
    return taken === undefined ? undefined : readWith(convert, taken, (why) => report(field, why))
  }
}

/** Sets a member that v2 may nest more deeply than v1. The path comes from a table, never from a request. */
function put(v2: Record<string, unknown>, path: readonly string[], value: unknown): void {
  let inner = v2
  for (const name of path.slice(0, -1)) {
    inner[name] ??= {}
    inner = inner[name] as Record<string, unknown>
  }
  inner[path.at(-1) ?? ''] = value
}

/** Returns how each kind of value is checked and, where the versions differ, converted; `undefined` after a reported error. */
function taker(type: FieldType): Take {
  switch (type.kind) {
    case 'text':
    case 'bytes':
      return (value, field, report) => (typeof value === 'string' ? value : report(field, 'must be a string'))
    case 'flag':
      return (value, field, report) => (typeof value === 'boolean' ? value : report(field, 'must be true or false'))
    case 'int':
      return (value, field, report) =>
        isInt32(Number(value)) && isInteger(value) && !(type.unsigned && Number(value) < 0)
          ? Number(value)
          : report(field, type.unsigned ? 'must be an integer from 0 to 2147483647' : 'must be a 32-bit integer')
    case 'long':
      return (value, field, report) => (isInteger(value) ? String(value) : report(field, 'must be a 64-bit integer, as a string'))
    case 'time':
      return (value, field, report) => (isTimestamp(value) ? value : report(field, 'must be an RFC 3339 timestamp'))
    case 'duration':
      return (value, field, report) => (isDuration(value) ? value : report(field, 'must be a duration in seconds such as "3600s"'))
    case 'choice':
      return (value, field, report) => type.of.toV2.get(value) ?? report(field, requirement(type.of))
    case 'object': {
      const fill = compileFill(type.fields)
      return (value, field, report) => {
        if (!isObject(value)) return report(field, 'must be an object')
        const v2 = {}
        fill(value, v2, `${field}.`, report)
        return v2
      }
    }
    case 'list': {
      const take = taker(type.of)
      return (value, field, report) =>
        Array.isArray(value) ? value.map((item, index) => take(item, `${field}[${index}]`, report)) : report(field, 'must be a list')
    }
    case 'map': {
      const take = taker(type.of)
      return (value, field, report) =>
        isObject(value)
          ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, take(item, `${field}["${key}"]`, report)]))
          : report(field, 'must be an object')
    }
  }
}
