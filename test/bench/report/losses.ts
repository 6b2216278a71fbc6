/** How an answer differs from the right one. */
export interface Losses {
  /** Values that are missing, or are others. */
  readonly values: number
  /** Objects whose members stand in another order. */
  readonly orders: number
}

/** Compares decoded JSON with the right answer. Members that the right answer does not have count as values. */
export function lossesOf(right: unknown, given: unknown): Losses {
  if (!isTree(right) || !isTree(given) || Array.isArray(right) !== Array.isArray(given))
    return { values: Number(right !== given), orders: 0 }
  const [wanted, known] = [Object.keys(right), Object.keys(given)]
  const parts = [...new Set([...wanted, ...known])].map((name) =>
    Object.hasOwn(right, name) && Object.hasOwn(given, name) ? lossesOf(right[name], given[name]) : { values: 1, orders: 0 },
  )
  const shared = (names: readonly string[], others: readonly string[]) => names.filter((name) => others.includes(name)).join()
  const own = Number(!Array.isArray(right) && shared(wanted, known) !== shared(known, wanted))
  return {
    values: parts.reduce((sum, { values }) => sum + values, 0),
    orders: parts.reduce((sum, { orders }) => sum + orders, own),
  }
}

function isTree(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
