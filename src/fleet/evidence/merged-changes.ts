import type { StoreChange, Sums } from '../../store/store-change.ts'

type Summing = Extract<StoreChange, { readonly sums: Sums }>

const COMBINED: Readonly<Record<Summing['kind'], (a: number, b: number) => number>> = {
  add: (a, b) => a + b,
  most: Math.max,
  least: Math.min,
}

/** Returns changes that do the same in fewer: those of the same sums become one, and what changes nothing is left out. */
export function mergedChanges(changes: readonly StoreChange[]): readonly StoreChange[] {
  const merged = new Map<string, Summing & { readonly sums: Record<string, number> }>()
  const others: StoreChange[] = []
  for (const change of changes) {
    if (!('sums' in change)) {
      others.push(change)
      continue
    }
    const key = `${change.kind} ${change.name}`
    const known = merged.get(key) ?? { ...change, sums: {} }
    merged.set(key, known)
    for (const [field, value] of Object.entries(change.sums)) {
      const before = known.sums[field]
      known.sums[field] = before === undefined ? value : COMBINED[change.kind](before, value)
    }
  }
  return [...[...merged.values()].filter(({ sums }) => Object.keys(sums).length > 0), ...others]
}
