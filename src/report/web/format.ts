/** 12,345 */
export function count(n: number): string {
  return n.toLocaleString('en-US')
}

/** `1 request`, `2 requests`. */
export function many(n: number, one: string, several = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : several}`
}

/** `2026-01-05 14:03:09` in UTC. The page says once that all times are UTC. */
export function time(at: number): string {
  return new Date(at).toISOString().slice(0, 19).replace('T', ' ')
}

/** A label for an axis: the day if the span has several, otherwise the time of day. */
export function tick(at: number, spanMs: number): string {
  const text = time(at)
  if (spanMs > 3 * 86_400_000) return text.slice(5, 10)
  return spanMs > 86_400_000 ? text.slice(5, 16) : spanMs > 600_000 ? text.slice(11, 16) : text.slice(11)
}

const UNITS: readonly (readonly [ms: number, name: string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
  [1_000, 'second'],
]

/** `5 minutes`, rounded to the unit that fits. */
export function duration(ms: number): string {
  const [size, name] = UNITS.find(([unit]) => ms >= unit) ?? [1_000, 'second']
  const n = Math.round((ms / size) * 10) / 10
  return many(n, name)
}

/** `12 ms`, `1.4 s`. */
export function milliseconds(ms: number): string {
  return ms >= 1_000 ? `${(ms / 1_000).toFixed(1)} s` : `${ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms)} ms`
}

/** `5 %`, `0.5 %`: a share that a person chose. */
export function percentText(percent: number): string {
  return `${percent} %`
}
