/**
 * The names in the store of the clients of an epoch. The clients are spread over several names, so that the store answers others between
 * two reads.
 */
export interface ClientNames {
  /** Calls, times, mismatches, and the places of differences. */
  readonly sums: string
  /** Subjects, and kinds of requests. */
  readonly texts: string
}

/** Names over which the clients are spread. */
export const SPREAD = 64

/** Returns the names of the clients that share a number below `SPREAD`. `nth` is the number of the epoch. */
export function clientNames(nth: number, number: number): ClientNames {
  return { sums: `clients:${nth}:${number}`, texts: `client-texts:${nth}:${number}` }
}

/** The sums that count the clients of an epoch that are told apart, in the field `callers`. */
export function callersName(nth: number): string {
  return `callers:${nth}`
}

/** Returns the number of a client: the same in every process. */
export function numberOf(caller: string): number {
  let hash = 0
  for (const character of caller) hash = (hash * 31 + (character.codePointAt(0) ?? 0)) % 65_537
  return hash % SPREAD
}

/** Writes parts as one field. Only the last part may hold line breaks. */
export function fieldOfParts(...parts: readonly string[]): string {
  return parts.join('\n')
}

/** Reads `count` parts of a field. */
export function partsOfField(field: string, count: number): readonly string[] {
  const parts = field.split('\n')
  return [...parts.slice(0, count - 1), parts.slice(count - 1).join('\n')]
}
