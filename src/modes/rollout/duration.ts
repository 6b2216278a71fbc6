const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 }

const MOST_MS = 365 * 86_400_000

/** Returns the milliseconds of a duration such as `30m` or `1h`; undefined if it is none, or longer than 365 days. */
export function durationOf(text: string): number | undefined {
  const [, count = '', unit = ''] = /^([1-9]\d{0,8})([smhd])$/.exec(text) ?? []
  const ms = Number(count) * (UNITS[unit] ?? Number.NaN)
  return ms <= MOST_MS ? ms : undefined
}

/** Describes milliseconds by their largest units: `1 h 30 min`, `45 s`. */
export function describeDuration(ms: number): string {
  const seconds = Math.floor(ms / 1_000)
  const parts = [
    [Math.floor(seconds / 86_400), 'd'],
    [Math.floor(seconds / 3_600) % 24, 'h'],
    [Math.floor(seconds / 60) % 60, 'min'],
    [seconds % 60, 's'],
  ] as const
  const first = parts.findIndex(([count]) => count > 0)
  const shown = first < 0 ? parts.slice(3) : parts.slice(first, first + 2)
  return shown
    .filter(([count], nth) => nth === 0 || count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(' ')
}
