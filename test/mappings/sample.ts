import type { Field, Fields, FieldType } from '../../src/mapping/field.ts'
import type { JsonObject } from '../../src/mapping/json.ts'

/** Keys as users write them: either casing, a slash, and one that must never reach a prototype. */
const KEYS = ['snake_key', 'camelKey', 'a/b', '__proto__']

/** A v2 form with a value for every member that v1 can write. Of each oneof it sets one member: the `turn`-th. */
export function sampleV2(fields: Fields, turn: number): JsonObject {
  const v2: Record<string, unknown> = {}
  for (const field of oneOfEach(Object.values(fields), turn)) {
    if (field.access !== 'readWrite' || typeof field.source !== 'string') continue
    const value = sampleValue(field.type, turn)
    if (field.source === '') Object.assign(v2, value)
    else place(v2, field.source.split('.'), value)
  }
  return v2
}

/** All plain members, and of each oneof the `turn`-th. */
function oneOfEach(rows: readonly Field[], turn: number): readonly Field[] {
  return rows.filter((row) => {
    if (row.oneof === undefined) return true
    const members = rows.filter(({ oneof }) => oneof === row.oneof)
    return members[turn % members.length] === row
  })
}

function place(v2: Record<string, unknown>, [member = '', ...deeper]: readonly string[], value: unknown): void {
  if (deeper.length === 0) {
    v2[member] = value
    return
  }
  v2[member] ??= {}
  place(v2[member] as Record<string, unknown>, deeper, value)
}

function sampleValue(type: FieldType, turn: number): unknown {
  switch (type.kind) {
    case 'text':
      return 'Grüße \u{1f600} "quoted" \u0000'
    case 'flag':
      return true
    case 'int':
      return 2_147_483_647
    case 'long':
      return '9223372036854775807'
    case 'time':
      return '2025-01-02T03:04:05.678901+01:00'
    case 'duration':
      return '3600.5s'
    case 'bytes':
      return 'AP+/'
    case 'choice':
      return type.of.rows.at(-1)?.[1]
    case 'object':
      return sampleV2(type.fields, turn)
    case 'list':
      return [sampleValue(type.of, turn), sampleValue(type.of, turn + 1)]
    case 'map':
      return Object.fromEntries(KEYS.map((key, at) => [key, sampleValue(type.of, turn + at)]))
  }
}
