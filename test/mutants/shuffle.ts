/** The items in an order that the seed fixes (a linear congruential generator; Knuth's constants). */
export function shuffled<T>(items: readonly T[], seed: number): readonly T[] {
  let state = BigInt(seed)
  const next = (): bigint => {
    state = (state * 6364136223846793005n + 1442695040888963407n) % 2n ** 64n
    return state
  }
  return items
    .map((item) => ({ item, key: next() }))
    .sort((a, b) => (a.key < b.key ? -1 : 1))
    .map(({ item }) => item)
}
