import type { OpenApiDocument } from '../../src/tools/openapi.ts'

/** The keywords of a schema that decide how a value may also be written. */
interface Schema {
  readonly $ref?: string
  readonly readOnly?: true
  readonly type?: string
  readonly format?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
}

/**
 * Writes a value as the document spells it. v1 also reads the other spelling of a member, null for an unset one, numbers of enum values
 * and integers of either JSON type, and it ignores members that it alone writes (facts §16).
 */
export function canonical(document: OpenApiDocument, schema: Schema, value: unknown): unknown {
  const { type, format, properties, additionalProperties, items, ...rest } = resolved(document, schema)
  if (Array.isArray(value)) return items ? value.map((item) => canonical(document, items, item)) : value
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).flatMap(([name, inner]): (readonly [string, unknown])[] => {
      if (inner === null) return []
      if (additionalProperties) return [[name, canonical(document, additionalProperties, inner)]]
      const known = Object.keys(properties ?? {}).find((other) => plain(other) === plain(name)) ?? name
      const below = properties?.[known] ?? {}
      return below.readOnly ? [] : [[known, canonical(document, below, inner)]]
    })
    return Object.fromEntries(entries)
  }
  if (rest.enum && typeof value === 'number') return rest.enum[0]
  if (type === 'integer' && typeof value === 'string' && /^-?\d+$/.test(value)) return Number(value)
  return type === 'string' && format === 'int64' && typeof value === 'number' ? String(value) : value
}

/** The same text for both spellings of a name. */
export function plain(name: string): string {
  return name.replaceAll('_', '').toLowerCase()
}

function resolved({ components }: OpenApiDocument, schema: Schema): Schema {
  return schema.$ref ? (components.schemas[schema.$ref.split('/').at(-1) ?? ''] as Schema) : schema
}
