/** The spelling of v1 names in answers (design §3): snake_case as in the specification, or the published JSON names. */
export type Dialect = 'specification' | 'published'

export const DIALECTS: readonly Dialect[] = ['specification', 'published']

/** `group_id` → `groupId`, the JSON name that protobuf derives; dots separate path members. It converts tables, never data. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** `claimMatch.issuerPattern` → `claim_match.issuer_pattern`: the spelling of a field mask path in a query (facts §13.3). */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
