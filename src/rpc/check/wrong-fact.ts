import type { Facts } from '../facts.ts'

/** The facts of a version beside the name of their file. */
export interface NamedFacts extends Facts {
  readonly api: 'v1' | 'v2'
}

/** Returns the error that stops the start: `mappings/grpc/v1.json: chainguard.platform.iam.Group.name has number 0, …`. */
export function wrongFact({ api }: NamedFacts, where: string, problem: string): Error {
  return new Error(`mappings/grpc/${api}.json: ${where} ${problem}`)
}
