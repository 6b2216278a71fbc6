import { at, type JsonObject } from './json.ts'
import { snakeCase } from './names.ts'
import type { MaskRule } from './resource.ts'

/** The `updateMask` of a replacement: `*`, or the rule's paths, the conditional ones only when the body sets them (facts §13.2). */
export function fieldMask(rule: MaskRule, body: JsonObject, spelling: 'snake' | 'camel'): string {
  if (rule === '*') return '*'
  const paths = [...rule.always, ...(rule.whenSet ?? []).filter((path) => isSet(at(body, path.split('.'))))]
  return paths.map((path) => (spelling === 'snake' ? snakeCase(path) : path)).join(',')
}

/** False for absent, null, the empty string and the zero value of an enum. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '' && !(typeof value === 'string' && value.endsWith('_UNSPECIFIED'))
}
