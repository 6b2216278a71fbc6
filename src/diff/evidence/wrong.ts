/** The observations that count against v2. */
export interface WrongCounts {
  readonly mismatches: number
  readonly transients: number
  readonly errors: number
}

export function wrongOf({ mismatches, transients, errors }: WrongCounts): number {
  return mismatches + transients + errors
}
