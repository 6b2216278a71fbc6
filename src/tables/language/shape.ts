import type { EnumMap } from './enums.ts'
import type { Field, Fields, FieldType } from './field.ts'
import type { Params } from './param.ts'

/** A message of v1 that is described and never translated. */
export interface MessageShape {
  readonly name: string
  readonly fields: Fields
}

/** What v1 takes and answers in an operation that it alone serves. */
export interface V1OnlyShape {
  readonly params?: Params
  readonly request?: MessageShape
  /** The member of the request that is the whole body. */
  readonly bodyIs?: string
  readonly answer: MessageShape
}

/** Stands for the members of a value that may have any type. */
export const ANY_VALUE: Fields = {}

type Scalar = 'text' | 'flag' | 'int' | 'long' | 'time' | 'bytes'
type Single = Scalar | 'any' | EnumMap | MessageShape
/** The type of a member: one of something, a list of it, a map of it. */
export type ShapeType = Single | readonly [Single] | { readonly mapOf: Single }
type ShapeMember = ShapeType | Field

/**
 * A message by the types of its members:
 *
 *     const scanner = shape('scanner', { name: scannerName, version: 'text' })
 *     const report = shape('report', { scanner, found: [vulnerability], counts: { mapOf: 'int' }, note: optionalShape('text') })
 */
export function shape(name: string, members: Readonly<Record<string, ShapeMember>>): MessageShape {
  return { name, fields: Object.fromEntries(Object.entries(members).map(([member, type]) => [member, fieldOf(type)])) }
}

/** A member that is absent when unset; with `oneof`, one of a group of which at most one is present. */
export function optionalShape(type: ShapeType, oneof?: string): Field {
  return { ...fieldOf(type), presence: 'optional', ...(oneof !== undefined && { oneof }) }
}

function fieldOf(member: ShapeMember): Field {
  if (typeof member === 'object' && 'access' in member) return member
  return { type: typeOf(member), source: undefined, access: 'readWrite', presence: 'implicit' }
}

function typeOf(type: ShapeType): FieldType {
  if (type === 'any') return { kind: 'object', fields: ANY_VALUE }
  if (typeof type === 'string') return { kind: type }
  if ('mapOf' in type) return { kind: 'map', of: typeOf(type.mapOf) }
  if ('fields' in type) return { kind: 'object', fields: type.fields, name: type.name }
  return 'rows' in type ? { kind: 'choice', of: type } : { kind: 'list', of: typeOf(type[0]) }
}
