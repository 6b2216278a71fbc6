/** One thing a v1 client can see differently when v2 stands behind the proxy (design §3). */
export interface Difference {
  /** Kebab-case; the key in tests, reports and `crosswalk operations`. */
  readonly code: string
  /** Operation ids, or patterns with `*` (`iam.*`). */
  readonly operations: readonly string[]
  /** What the client sees. */
  readonly seen: string
  readonly because: string
  /** Name of the contract case that pins it (test/compat). */
  readonly test: string
}

/** Every known difference. The contract suite fails when one of these stops occurring, and when another one occurs. */
export const differences: readonly Difference[] = []

/** The codes that an operation shows. */
export function differencesOf(operation: string): readonly string[] {
  return differences.filter(({ operations }) => operations.some((pattern) => covers(pattern, operation))).map(({ code }) => code)
}

/** `iam.*` covers `iam.groups.list`; `*.delete` covers every delete. */
export function covers(pattern: string, operation: string): boolean {
  const expression = pattern
    .split('*')
    .map((part) => part.replace(/[.]/g, '\\.'))
    .join('.*')
  return new RegExp(`^${expression}$`).test(operation)
}
