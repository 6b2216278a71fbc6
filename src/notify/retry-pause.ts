const FIRST_MS = 1000

/** The longest pause that Crosswalk chooses, and the longest that a receiver may ask for. */
export const LONGEST_MS = { own: 300_000, asked: 3_600_000 }

/**
 * Returns how long to wait after so many failed attempts in a row: 1 s, 2 s, 4 s and so on up to 5 minutes, each of them shortened by up
 * to a half at random. Many replicas would otherwise come back at once. `random` gives 0 up to 1.
 */
export function pauseAfter(failures: number, random: () => number): number {
  const whole = Math.min(LONGEST_MS.own, FIRST_MS * 2 ** (failures - 1))
  return Math.round(whole * (1 - random() / 2))
}

/**
 * Returns the milliseconds that a `Retry-After` header asks for (RFC 9110 §10.2.3): seconds or a date. At most one hour: a receiver that is
 * wrong by a year would stop all events.
 */
export function askedPause(header: string | undefined, nowMs: number): number {
  if (header === undefined) return 0
  const asked = /^\d+$/.test(header) ? 1000 * Number(header) : /^[A-Z][a-z]/.test(header) ? Date.parse(header) - nowMs : 0
  return asked > 0 ? Math.min(asked, LONGEST_MS.asked) : 0
}
