import type { Field, Fields } from '../tables/fields.ts'
import { isObject, type JsonObject } from '../tables/json.ts'
import type { Operation } from '../tables/operation.ts'
import { camelCase } from '../tables/uid.ts'

/** A member of a v1 body that is not sent to v2, and why. */
export interface DroppedMember {
  readonly member: string
  readonly because: string
}

/** Returns the members of a v1 body that the operation's table does not send to v2. */
export function droppedMembers({ request }: Operation, body: unknown): readonly DroppedMember[] {
  if (!isObject(body)) return []
  if (!request) return Object.keys(body).map((member) => ({ member, because: 'this operation reads no body' }))
  return dropped(request.fields, body, '')
}

function dropped(fields: Fields, body: JsonObject, prefix: string): readonly DroppedMember[] {
  return Object.entries(body).flatMap(([spelling, value]) => {
    const member = prefix + spelling
    const field = Object.entries(fields).find(([name, row]) => spelling === name || spelling === (row.json ?? camelCase(name)))?.[1]
    const because = reason(field)
    return because === undefined && field ? below(field, value, member) : [{ member, because: because ?? '' }]
  })
}

function reason(field: Field | undefined): string | undefined {
  if (!field) return 'v1 does not know it'
  if (field.source === undefined) return field.lossy ?? 'v2 has no such member'
  return field.access === 'readOnly' ? 'output only' : undefined
}

function below({ type }: Field, value: unknown, member: string): readonly DroppedMember[] {
  if (type.kind === 'object' && isObject(value)) return dropped(type.fields, value, `${member}.`)
  if (type.kind !== 'list' || type.of.kind !== 'object' || !Array.isArray(value)) return []
  const { fields } = type.of
  return value.flatMap((item, at) => (isObject(item) ? dropped(fields, item, `${member}[${at}].`) : []))
}

/** Returns the members of a v1 answer that v2 cannot know, and what the translation loses. */
export function unknowable({ answer, kind, because }: Operation): readonly string[] {
  const general = kind === 'emulated' && because !== undefined ? [because] : []
  return [...general, ...(answer ? lossy(answer.fields, '') : [])]
}

function lossy(fields: Fields, prefix: string): readonly string[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const own = field.lossy === undefined ? [] : [`${prefix}${name}: ${field.lossy}`]
    const { type } = field
    const inner = type.kind === 'list' || type.kind === 'map' ? type.of : type
    return inner.kind === 'object' ? [...own, ...lossy(inner.fields, `${prefix}${name}.`)] : own
  })
}
