/** Counts by time step. All steps have one length, which doubles when there are too many, so that any span fits a bounded space. */
export interface Steps<K extends string> {
  /** Counts one event of a series at a time in milliseconds since 1970. */
  count(series: string, at: number, key: K): void
  /** Returns the steps of a series with counts, oldest first. */
  of(series: string): readonly CountedStep<K>[]
  /** Length of one step in milliseconds. */
  stepMs(): number
}

export interface CountedStep<K extends string> {
  /** When the step begins. */
  readonly at: number
  readonly counts: Partial<Readonly<Record<K, number>>>
}

const FIRST_STEP_MS = 1_000

/** Maximum steps of the whole span; a chart has no more pixels for them. */
const MOST_STEPS = 96

type Series<K extends string> = Map<number, { [Key in K]?: number }>

export function createSteps<K extends string>(): Steps<K> {
  const all = new Map<string, Series<K>>()
  let stepMs = FIRST_STEP_MS
  let [from, to] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  const widen = (at: number) => {
    from = Math.min(from, at)
    to = Math.max(to, at)
    const before = stepMs
    while (Math.floor(to / stepMs) - Math.floor(from / stepMs) >= MOST_STEPS) stepMs *= 2
    if (stepMs > before) for (const [name, series] of all) all.set(name, merged(series, stepMs / before))
  }
  return {
    count(name, at, key) {
      widen(at)
      const series: Series<K> = all.get(name) ?? new Map()
      all.set(name, series)
      add(series, Math.floor(at / stepMs), key, 1)
    },
    of: (name) => [...(all.get(name) ?? [])].sort(([a], [b]) => a - b).map(([index, counts]) => ({ at: index * stepMs, counts })),
    stepMs: () => stepMs,
  }
}

/** Returns the same counts in steps that are `times` as long. */
function merged<K extends string>(series: Series<K>, times: number): Series<K> {
  const wider: Series<K> = new Map()
  for (const [index, counts] of series) {
    for (const [key, count] of Object.entries(counts) as [K, number][]) add(wider, Math.floor(index / times), key, count)
  }
  return wider
}

function add<K extends string>(series: Series<K>, index: number, key: K, count: number): void {
  const counts: { [Key in K]?: number } = series.get(index) ?? {}
  series.set(index, counts)
  counts[key] = (counts[key] ?? 0) + count
}
