import { ANY, rowIdOf, segmentsOf } from '../compare/json-path.ts'
import type { Explained } from '../judge/judge.ts'
import type { Example } from '../records/record.ts'
import type { Redacted } from '../redact/redacted.ts'
import { isSecretName } from '../redact/secrets.ts'

/** Returns the place and the values of a finding, redacted. */
export function exampleOf(finding: Explained, redacted: Redacted): Pick<Example, 'at' | 'v1' | 'v2' | 'differsAt' | 'row'> {
  const row = rowIdOf(finding.path)
  return {
    at: redacted.pointer(finding),
    ...valuesOf(finding, redacted),
    ...(row !== undefined && { row: String(redacted.value(row, 'id')) }),
  }
}

function valuesOf(finding: Explained, redacted: Redacted): Pick<Example, 'v1' | 'v2' | 'differsAt'> {
  const { kind, v1, v2 } = finding
  const name = nameOf(finding)
  if (kind === 'value' && typeof v1 === 'string' && typeof v2 === 'string') return redacted.texts(v1, v2, name)
  return {
    ...(v1 !== undefined && { v1: redacted.value(v1, name) }),
    ...(v2 !== undefined && { v2: redacted.value(v2, name) }),
  }
}

/**
 * Returns the name that decides how a value is redacted: the last one of the tables, or `id` for the rows of an order. A secret name
 * anywhere on the way, also of a user's map, hides all that is below it.
 */
function nameOf({ kind, at, where }: Explained): string {
  const secret = [...segmentsOf(where), ...segmentsOf(at)].find(isSecretName)
  return secret ?? (kind === 'order' ? 'id' : segmentsOf(where).findLast((segment) => segment !== ANY)) ?? ''
}
