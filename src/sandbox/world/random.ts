/** A seeded source of random bytes: one seed gives the same uids, tokens and digests in every run. Not for real secrets. */
export type Random = {
  /** `count` pseudo-random bytes. */
  readonly bytes: (count: number) => Uint8Array
  /** `count` pseudo-random bytes as 2 × `count` lower-case hex digits. */
  readonly hex: (count: number) => string
  /** An integer from 0 up to, but excluding, `limit`. */
  readonly below: (limit: number) => number
}

/** A mulberry32 generator: 32 bits of state suffice for fixtures, and it needs no dependency. */
export const createRandom = (seed: number): Random => {
  let state = seed >>> 0
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return (mixed ^ (mixed >>> 14)) >>> 0
  }
  const bytes = (count: number): Uint8Array => Uint8Array.from({ length: count }, () => next() >>> 24)
  return {
    bytes,
    hex: (count) => Buffer.from(bytes(count)).toString('hex'),
    below: (limit) => next() % limit,
  }
}
