import type { Field, Fields, FieldType, Source } from '../tables/fields.ts'
import type { PointPart } from './point.ts'

/** A v2 member that a row reads or writes. */
export interface RowSource {
  /** `parent.id`. */
  readonly path: string
  /** Undefined if the row carries the value whole, whatever is in it. */
  readonly type: FieldType | undefined
  /** The row: `projects.parent`. */
  readonly row: string
  /** The plan makes the value, so that v2 need not have the member. */
  readonly isMade: boolean
}

/** Returns the v2 members that rows read for an answer, or write for a request. */
export function sourcesOf(fields: Fields, part: PointPart, path = '', row = ''): readonly RowSource[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    if (field.source === undefined || field.access === (part === 'request' ? 'readOnly' : 'writeOnly')) return []
    return pathsIn(field.source).flatMap((source) => belowRow(field, part, [path, source].filter(Boolean).join('.'), `${row}${name}`))
  })
}

function belowRow(field: Field, part: PointPart, path: string, row: string): readonly RowSource[] {
  const { type, convert, source, made, access } = field
  const inner = type.kind === 'list' || type.kind === 'map' ? type.of : type
  const below = inner.kind === 'object' && !convert ? sourcesOf(inner.fields, part, path, `${row}.`) : []
  const own: RowSource = { path, type: convert ? undefined : type, row, isMade: made !== undefined || access === 'elsewhere' }
  return source === '' ? below : [own, ...below]
}

function pathsIn(source: Source): readonly string[] {
  if (typeof source === 'string') return [source]
  return 'parentOf' in source ? [source.parentOf] : source.firstOf.flatMap(pathsIn)
}
