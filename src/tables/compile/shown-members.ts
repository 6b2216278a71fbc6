import type { Field, Fields } from '../language/field.ts'
import type { Dialect } from '../language/names.ts'
import type { Operation } from '../operations/operation.ts'
import type { ReadBack } from '../operations/read-back.ts'
import { isShownIn, nameIn } from './show.ts'

/** A member of a write's answer, and where a read of the resource shows the same value. */
export interface ShownMember {
  /** As sent, and in the table. */
  readonly name: string
  readonly where: string
  /** The same of the place in the resource. */
  readonly path: readonly string[]
  readonly pathWhere: readonly string[]
}

/** Returns the members of a written item that a read shows too. `fields` describes the item. */
export function shownMembers({ resource, shownAs = {} }: ReadBack, fields: Fields, dialect: Dialect): readonly ShownMember[] {
  return Object.entries(fields).flatMap(([name, field]) => {
    const place = Object.hasOwn(shownAs, name) ? shownAs[name] : name
    if (typeof place !== 'string') return []
    const pathWhere = place.split('.')
    const path = pathIn(resource.shown, pathWhere, dialect)
    return path && isShownIn(dialect, field) ? [{ name: nameIn(dialect, name, field), where: name, path, pathWhere }] : []
  })
}

/** Returns the fields of one written item: of the answer, or of the rows in its list. */
export function itemFields({ resource, named }: ReadBack, answer: Operation['answer']): Fields {
  const fields = answer?.shown ?? resource.shown
  if (!('rows' in named)) return fields
  const list = fields[named.rows]?.type
  return list?.kind === 'list' && list.of.kind === 'object' ? list.of.fields : {}
}

/** Returns the operation that reads one of the resources that a write wrote. */
export function readerOf({ resource }: ReadBack, operations: readonly Operation[]): Operation | undefined {
  return operations.find(({ answer, selects, begin }) => answer === resource && selects !== undefined && begin)
}

/** Returns the field at a path of table names. */
export function fieldAt(fields: Fields, [name = '', ...rest]: readonly string[]): Field | undefined {
  const field = fields[name]
  if (!field || rest.length === 0) return field
  return field.type.kind === 'object' ? fieldAt(field.type.fields, rest) : undefined
}

function pathIn(fields: Fields, names: readonly string[], dialect: Dialect): readonly string[] | undefined {
  const fieldsAt = names.map((_, at) => fieldAt(fields, names.slice(0, at + 1)))
  const shown = fieldsAt.flatMap((field, at) => (field && isShownIn(dialect, field) ? [nameIn(dialect, names[at] ?? '', field)] : []))
  return shown.length === names.length ? shown : undefined
}
