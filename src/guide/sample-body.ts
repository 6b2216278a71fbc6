import { requestMarker } from '../explain/marker.ts'
import type { Field, Fields, FieldType } from '../tables/fields.ts'
import type { JsonObject } from '../tables/json.ts'

/** Returns a v1 body with these members, or with all that a client can send. Texts are words in angle brackets. */
export function sampleBody(fields: Fields, members?: readonly string[]): JsonObject {
  return bodyOf(fields, '', members && new Set(members))
}

function bodyOf(fields: Fields, prefix: string, members: ReadonlySet<string> | undefined): JsonObject {
  const taken = new Set<string>()
  const rows = Object.entries(fields).flatMap(([name, field]) => {
    const path = prefix + name
    // Nobody can make up a value that a function of the tables reads.
    if (field.access === 'readOnly' || field.convert || !isSent(path, field, members, taken)) return []
    if (field.oneof !== undefined) taken.add(field.oneof)
    // A member that is named as a whole has all its members.
    return [[name, sampleOf(field.type, path, members?.has(path) ? undefined : members)] as const]
  })
  return Object.fromEntries(rows)
}

/** Without a choice of members, the first member of each oneof is sent: v1 refuses two. */
function isSent(path: string, { oneof }: Field, members: ReadonlySet<string> | undefined, taken: ReadonlySet<string>): boolean {
  if (!members) return oneof === undefined || !taken.has(oneof)
  return [...members].some((member) => member === path || member.startsWith(`${path}.`))
}

/** A value that the tables accept. */
function sampleOf(type: FieldType, path: string, members: ReadonlySet<string> | undefined): unknown {
  switch (type.kind) {
    case 'text':
      return requestMarker(path)
    case 'flag':
      return true
    case 'int':
      return 1
    case 'long':
      return '1'
    case 'time':
      return '2026-01-02T03:04:05Z'
    case 'duration':
      return '3600s'
    case 'bytes':
      return 'AAAA'
    case 'choice':
      return (type.of.rows.find((row) => row !== type.of.zero) ?? type.of.zero)[0]
    case 'object':
      return bodyOf(type.fields, `${path}.`, members)
    case 'list':
      return [sampleOf(type.of, path, members)]
    case 'map':
      return { key: sampleOf(type.of, path, members) }
  }
}
