import type { Field, Fields, FieldType } from '../../src/tables/fields.ts'

/** A row of a table at any depth. */
export interface Row {
  readonly path: readonly string[]
  readonly field: Field
}

export type ChangeRow = (name: string, field: Field) => readonly [name: string, field: Field]

/** Every row, those of inner messages after the row that holds them. */
export function rowsOf(fields: Fields, above: readonly string[] = []): readonly Row[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const path = [...above, name]
    return [{ path, field }, ...rowsOf(innerFields(field.type) ?? {}, path)]
  })
}

/** The table with one row changed. */
export function withRow(fields: Fields, [name, ...deeper]: readonly string[], change: ChangeRow): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([at, field]) => {
      if (at !== name) return [at, field]
      if (deeper.length === 0) return change(at, field)
      return [at, { ...field, type: withInner(field.type, (inner) => withRow(inner, deeper, change)) }]
    }),
  )
}

function innerFields(type: FieldType): Fields | undefined {
  if (type.kind === 'list' || type.kind === 'map') return innerFields(type.of)
  return type.kind === 'object' ? type.fields : undefined
}

function withInner(type: FieldType, change: (fields: Fields) => Fields): FieldType {
  if (type.kind === 'list' || type.kind === 'map') return { ...type, of: withInner(type.of, change) }
  return type.kind === 'object' ? { ...type, fields: change(type.fields) } : type
}
