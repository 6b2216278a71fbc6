/** A JSON Schema of draft 2020-12, the one of OpenAPI 3.1. */
export type JsonSchema = { readonly [keyword: string]: unknown }

/** Returns a reference to a part of `components`: `refTo('schemas', 'Group')`. */
export function refTo(kind: 'schemas' | 'parameters' | 'responses' | 'headers', name: string): JsonSchema {
  return { $ref: `#/components/${kind}/${name}` }
}
