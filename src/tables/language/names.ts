/** How v1 names are written in answers (design §3): snake_case as the specification has them, or the published JSON names. */
export type Dialect = 'specification' | 'published'

export const DIALECTS: readonly Dialect[] = ['specification', 'published']

/** `group_id` → `groupId`, the JSON name protobuf derives; dots separate path members. Used when tables are built, never on data. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase())
}

/** `claimMatch.issuerPattern` → `claim_match.issuer_pattern`: how a field mask in a query spells a path (facts §13.3). */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}
