import { type JsonPath, pointer } from '../compare/json-path.ts'
import type { Redacted } from '../redact/redacted.ts'
import { isSecretName } from '../redact/secrets.ts'

/** True for a row of a list, and not for a member of an object. */
export function isRow({ up }: JsonPath): boolean {
  return Array.isArray(up?.v1) || Array.isArray(up?.v2)
}

/** True in and below a member with a secret name. */
export function isSecret(place: JsonPath): boolean {
  for (let here: JsonPath | undefined = place; here; here = here.up) if (isSecretName(here.at)) return true
  return false
}

/** Returns the JSON Pointer of a place, redacted. */
export function pointerTo(place: JsonPath, redacted: Redacted): string {
  return redacted.pointer({ at: pointer(place, 'at'), where: pointer(place, 'where'), path: pointer(place, 'path') })
}
