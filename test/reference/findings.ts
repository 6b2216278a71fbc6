/** What the tables lack (`missing`), have too much (`extra`) or say otherwise (`different`), as sentences. */
export interface Findings {
  readonly missing: string[]
  readonly extra: string[]
  readonly different: string[]
}

export function noFindings(): Findings {
  return { missing: [], extra: [], different: [] }
}
