import { isDeepStrictEqual } from 'node:util'
import fc, { type Arbitrary } from 'fast-check'
import { isFull } from '../sample.ts'

/** Number of cases for each property. */
const CASES = Number(process.env.CROSSWALK_CASES ?? (isFull ? 1000 : 200))

/** fast-check reports the seed of a failure; this variable repeats the run. */
const seed = process.env.CROSSWALK_SEED === undefined ? {} : { seed: Number(process.env.CROSSWALK_SEED) }

/** Checks a property. A failure names the seed, the counterexample and what was expected of it. */
export function holds<T>(arbitrary: Arbitrary<T>, property: (value: T) => void): void {
  fc.assert(fc.property(arbitrary, property), { numRuns: CASES, ...seed })
}

/** Deep equality that includes own `__proto__` members and prototypes. */
export function same(actual: unknown, expected: unknown, what: string): void {
  if (!isDeepStrictEqual(actual, expected)) {
    throw new Error(`${what}\n  got      ${JSON.stringify(actual)}\n  expected ${JSON.stringify(expected)}`)
  }
}
