/** One fault in the tables, as data. */
export interface Mutant {
  /** Where and what: `role binding.group.name: source 1 renamed`. */
  readonly name: string
  /** Operations that a client could notice it by; of a fault in the list of differences, none. */
  readonly operations: readonly string[]
  /** Puts the fault in place; the result takes it away again. */
  readonly apply: () => () => void
}

/**
 * Overwrites members of a table and returns what restores them. Plans read their tables when they run, so that a running proxy shows the
 * fault at once; `readonly` is a promise of the source, not of the object.
 */
export function overwrite<T extends object>(table: T, changes: Partial<T>): () => void {
  const before = { ...table }
  Object.assign(table, changes)
  return () => void Object.assign(table, before)
}

/** A fault that no client can see, because the table says the same with it as without. */
export interface Explained {
  /** Name of the mutant. */
  readonly name: RegExp
  readonly because: string
}

export const explained: readonly Explained[] = [
  {
    name: /^advisory(\.events| event)\.component_location_changed(?!: optional turned round)/,
    because: 'v2 has no such event type, so that the member is never there and its rows say nothing (facts §5.2)',
  },
  {
    name: /^EolGracePeriodStatus: /,
    because: 'v2 does not know the grace status: v1 gets the zero value, and no other is ever looked up (facts §4.4)',
  },
  {
    name: /^end-of-life tag\.main_package_version\./,
    because:
      'v2 does not know the package version: it is always null, and its members only describe it. The contract suite holds what the genuine v1 answers against them (OpenAPI document)',
  },
  {
    name: /^identity provider\.scim\.\w+: no longer written$/,
    because: 'scim as a whole is not written, so that neither are its members',
  },
  {
    name: /^identity metadata\.onboarding_questions: implicit turned round$/,
    because: 'its members lie flat in the v2 answer, which is always there',
  },
  {
    name: /^advisory\.deleted_at: time swapped$/,
    because: 'absent when unset and passed through character by character when set, as a text is; advisories are not written',
  },
  {
    name: /^(ping\.response|resolved vulnerability reports\.items|artifact counts\.counts|role binding batch\.role_bindings): implicit turned round$/,
    because: 'the only member of its message: an answer without it is none of v2, and an error',
  },
  {
    name: /^role binding batch\.role_bindings\.id: implicit turned round$/,
    because: 'a row of v2 without a uid is an error',
  },
  {
    name: /^repo\.sync_config\.(?:grace_period|apko_overlay|expiration|unique_tags): written$/,
    because: 'a member whose other values are refused is never written, whatever its access says',
  },
]

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
