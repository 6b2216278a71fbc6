/** One line of the table: the measured value and its bound. */
export interface Figure {
  /** Number of the point to which it belongs. */
  readonly point: number
  readonly what: string
  readonly value: number
  readonly unit: string
  /** The bound in words; absent if the number is only shown. */
  readonly must?: string
  readonly holds?: boolean
}

/** What a scenario knows of the run. */
export interface Run {
  /** Fewer launches and shorter loads: checks that everything works, and is no comparison. */
  readonly short: boolean
  readonly note: (text: string) => void
}

export type Scenario = (run: Run) => Promise<readonly Figure[]>

export function shown(point: number, what: string, value: number, unit: string): Figure {
  return { point, what, value, unit }
}

export function atLeast(point: number, what: string, value: number, unit: string, bound: number): Figure {
  return { point, what, value, unit, must: `≥ ${bound} ${unit}`, holds: value >= bound }
}

export function atMost(point: number, what: string, value: number, unit: string, bound: number): Figure {
  return { point, what, value, unit, must: `≤ ${round(bound)} ${unit}`, holds: value <= bound }
}

/** Three significant digits; whole numbers from 1000. */
export function round(value: number): number {
  return Math.abs(value) >= 1000 ? Math.round(value) : Number(value.toPrecision(3))
}
