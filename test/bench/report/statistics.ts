export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = Math.floor(sorted.length / 2)
  const upper = sorted[middle] ?? Number.NaN
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2
}

/** Returns the standard error of the median, taken from the median distance to it: 1.2533 × 1.4826 × distance ÷ √n, for normal values. */
export function medianError(values: readonly number[]): number {
  const middle = median(values)
  return (1.2533 * 1.4826 * median(values.map((value) => Math.abs(value - middle)))) / Math.sqrt(values.length)
}

/** Returns the value below which `share` (0 … 1) of the values lie. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** Returns the line `y = slope × x + base` closest to the points, and how much of their variance it explains (r²). */
export function line(points: readonly (readonly [x: number, y: number])[]): { slope: number; base: number; r2: number } {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length
  const [meanX, meanY] = [mean(points.map(([x]) => x)), mean(points.map(([, y]) => y))]
  const sum = (of: (x: number, y: number) => number) => points.reduce((total, [x, y]) => total + of(x - meanX, y - meanY), 0)
  const slope = sum((x, y) => x * y) / sum((x) => x * x)
  const base = meanY - slope * meanX
  const residue = points.reduce((total, [x, y]) => total + (y - slope * x - base) ** 2, 0)
  return { slope, base, r2: 1 - residue / sum((_, y) => y * y) }
}
