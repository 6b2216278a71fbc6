/** A parsed JSON object. Tables name the members that are read; nothing walks over the others. */
export type JsonObject = { readonly [member: string]: unknown }

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Returns a scalar as text, and '' for everything else.
 * `String` would call an object's `toString`, and would overflow the stack on a deeply nested array.
 */
export function asText(value: unknown): string {
  return typeof value === 'object' || value === undefined ? '' : String(value)
}

/** Returns the value at a dotted path of own members; undefined if one is missing. */
export function at(object: JsonObject, path: readonly string[]): unknown {
  let value: unknown = object
  for (const member of path) {
    if (!isObject(value) || !Object.hasOwn(value, member)) return undefined
    value = value[member]
  }
  return value
}
