/** The type of a value in a contract, in the words of the table language. */
export type SchemaShape =
  | { readonly kind: 'text' | 'flag' | 'int' | 'long' | 'time' | 'bytes' }
  | { readonly kind: 'choice'; readonly values: readonly string[] }
  | { readonly kind: 'list' | 'map'; readonly of: SchemaShape }
  | { readonly kind: 'object'; readonly name: string | undefined; readonly members: Members }
  /** A type that the language has no word for, or that the document does not say. */
  | { readonly kind: 'unknown'; readonly because: string }

export interface SchemaMember {
  readonly shape: SchemaShape
  readonly isReadOnly: boolean
  readonly isWriteOnly?: true
  /** A request without it is refused. */
  readonly isRequired?: true
}

export type Members = Readonly<Record<string, SchemaMember>>

/** A JSON object of a document. */
export type Node = Readonly<Record<string, unknown>>

export function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Looks up a `$ref` within a document; undefined if it leads nowhere. */
export type LookUp = (ref: string) => unknown

const SCALARS: Readonly<Record<string, SchemaShape>> = {
  'string date-time': { kind: 'time' },
  'string int64': { kind: 'long' },
  'string uint64': { kind: 'long' },
  'string byte': { kind: 'bytes' },
  'integer int64': { kind: 'long' },
  integer: { kind: 'int' },
  boolean: { kind: 'flag' },
  string: { kind: 'text' },
}

/** Returns the shape of a schema. `above` holds the references on the way to it: a cycle ends where it closes. */
export function shapeOf(schema: unknown, lookUp: LookUp, above: readonly string[] = []): SchemaShape {
  if (!isNode(schema)) return unknown('has no schema')
  const { $ref: ref } = schema
  if (typeof ref === 'string') {
    if (above.includes(ref)) return unknown(`${lastOf(ref)} holds itself`)
    const found = lookUp(ref)
    if (found === undefined) return unknown(`${ref} leads nowhere`)
    return named(shapeOf(found, lookUp, [...above, ref]), lastOf(ref))
  }
  const combined = ['oneOf', 'anyOf', 'not'].find((word) => word in schema)
  if (combined !== undefined) return unknown(`is a ${combined}`)
  if (Array.isArray(schema['allOf'])) return merged(schema['allOf'].map((part) => shapeOf(part, lookUp, above)))
  return plainShape(schema, lookUp, above)
}

function plainShape(schema: Node, lookUp: LookUp, above: readonly string[]): SchemaShape {
  const { format, properties, additionalProperties, items } = schema
  const values = schema['enum']
  const type = typeIn(schema)
  if (Array.isArray(values) && type === 'string') return { kind: 'choice', values: values.map(String) }
  if (type === 'array') return { kind: 'list', of: shapeOf(items, lookUp, above) }
  if (isNode(properties) || (type === 'object' && !additionalProperties)) {
    const required = Array.isArray(schema['required']) ? schema['required'] : []
    const members = Object.entries(isNode(properties) ? properties : {}).map(([name, member]) => [
      name,
      { ...memberOf(member, lookUp, above), ...(required.includes(name) && { isRequired: true }) },
    ])
    return { kind: 'object', name: undefined, members: Object.fromEntries(members) }
  }
  if (isNode(additionalProperties) && Object.keys(additionalProperties).length > 0)
    return { kind: 'map', of: shapeOf(additionalProperties, lookUp, above) }
  if (type === 'object') return unknown('may hold anything')
  return SCALARS[`${type} ${format}`] ?? SCALARS[String(type)] ?? unknown(type === undefined ? 'has no type' : `is a ${type}`)
}

/** A type of OpenAPI 3.1 may be a list with `null`. */
function typeIn({ type }: Node): unknown {
  return Array.isArray(type) ? type.filter((one) => one !== 'null')[0] : type
}

function memberOf(schema: unknown, lookUp: LookUp, above: readonly string[]): SchemaMember {
  const isWriteOnly = isNode(schema) && schema['writeOnly'] === true
  return {
    shape: shapeOf(schema, lookUp, above),
    isReadOnly: isNode(schema) && schema['readOnly'] === true,
    ...(isWriteOnly && { isWriteOnly }),
  }
}

function merged(parts: readonly SchemaShape[]): SchemaShape {
  const [first] = parts
  if (parts.length === 1 && first) return first
  const members = parts.map((part) => (part.kind === 'object' ? part.members : undefined))
  if (members.some((one) => one === undefined)) return unknown('is an allOf of other things than objects')
  return { kind: 'object', name: undefined, members: Object.assign({}, ...members) }
}

function named(shape: SchemaShape, name: string): SchemaShape {
  return shape.kind === 'object' ? { ...shape, name } : shape
}

function unknown(because: string): SchemaShape {
  return { kind: 'unknown', because }
}

function lastOf(ref: string): string {
  return ref.slice(ref.lastIndexOf('/') + 1)
}
