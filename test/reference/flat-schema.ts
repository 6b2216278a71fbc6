/** The parts of a schema that both contracts have. */
export interface AnySchema {
  readonly $ref?: string
  readonly allOf?: readonly AnySchema[]
  readonly anyOf?: readonly AnySchema[]
  readonly type?: string | readonly string[]
  readonly format?: string
  readonly contentEncoding?: string
  readonly enum?: readonly string[]
  readonly properties?: Readonly<Record<string, AnySchema>>
  readonly additionalProperties?: AnySchema | boolean
  readonly items?: AnySchema
}

/** Named schemas of a document. */
export type Schemas = Readonly<Record<string, unknown>>

/** Returns every place in a schema with its type: `.items[].name` → `string`, `.claims{}` → `string`. Null counts as absent. */
export function flat(schemas: Schemas, schema: AnySchema, place = ''): ReadonlyMap<string, string> {
  const known = resolved(schemas, schema)
  const places = new Map([[place, typeOf(known)]])
  const add = (inner: AnySchema, at: string) => {
    for (const [name, type] of flat(schemas, inner, at)) places.set(name, type)
  }
  for (const [name, inner] of Object.entries(known.properties ?? {})) add(inner, `${place}.${name}`)
  if (known.items) add(known.items, `${place}[]`)
  if (typeof known.additionalProperties === 'object') add(known.additionalProperties, `${place}{}`)
  return places
}

function resolved(schemas: Schemas, schema: AnySchema): AnySchema {
  const { $ref, allOf, anyOf } = schema
  if ($ref) return resolved(schemas, schemas[$ref.split('/').at(-1) ?? ''] as AnySchema)
  const [only] = allOf ?? anyOf?.filter(({ type }) => type !== 'null') ?? []
  return only && !schema.properties ? resolved(schemas, only) : schema
}

function typeOf({ type, format, contentEncoding, enum: values }: AnySchema): string {
  if (values) return `one of ${[...values].sort().join(', ')}`
  const plain = typeof type === 'string' ? type : type?.find((one) => one !== 'null')
  const written = contentEncoding === 'base64' ? 'byte' : format
  return written === undefined ? String(plain) : `${plain} ${written}`
}
