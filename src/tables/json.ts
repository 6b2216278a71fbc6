/** A parsed JSON object. Members are read by name from tables, never by walking. */
export type JsonObject = { readonly [member: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * A scalar as text; everything else is ''. `String` would call what an object names `toString`, and overflow the stack on an array that is
 * nested deeply enough.
 */
export function asText(value: unknown): string {
  return typeof value === 'object' || value === undefined ? '' : String(value)
}

/** The value at a dotted path of own members; undefined as soon as one is missing. */
export function at(object: JsonObject, path: readonly string[]): unknown {
  let value: unknown = object
  for (const member of path) {
    if (!isObject(value) || !Object.hasOwn(value, member)) return undefined
    value = value[member]
  }
  return value
}
