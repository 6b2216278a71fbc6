import { at, type JsonObject } from '../json.ts'
import type { Fields } from '../language/field.ts'
import { snakeCase } from '../language/names.ts'
import type { MaskRule } from '../language/resource.ts'
import type { Env } from '../operations/operation.ts'

/**
 * Returns the `updateMask` of a replacement: `*`, or instead the members that v1 writes (`replaceMask`), or the rule's paths.
 * Conditional paths are included only if the body sets them (facts §13.2). `fields` is the table of the request.
 */
export function fieldMask(rule: MaskRule, fields: Fields, body: JsonObject, { maskCase, replaceMask }: Masks): string {
  if (rule === '*' && replaceMask === '*') return '*'
  const paths =
    rule === '*' ? written(fields) : [...rule.always, ...(rule.whenSet ?? []).filter((path) => isSet(at(body, path.split('.'))))]
  return paths.map((path) => (maskCase === 'snake' ? snakeCase(path) : path)).join(',')
}

type Masks = Pick<Env, 'maskCase' | 'replaceMask'>

/** Returns the v2 members that a v1 body can set. A PUT also replaces messages and maps as a whole. */
function written(fields: Fields): readonly string[] {
  return Object.values(fields).flatMap(({ source, access }) => (access === 'readWrite' && typeof source === 'string' ? [source] : []))
}

/** False for absent, null, the empty string and the zero value of an enum. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(typeof value === 'string' && value.endsWith('_UNSPECIFIED'))
}
