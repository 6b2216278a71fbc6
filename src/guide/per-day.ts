const HOUR = 3_600_000
const DAY = 24 * HOUR

/** Returns calls a day; undefined if they were counted for less than an hour. */
export function perDay({ calls, firstSeen, lastSeen }: Counted): number | undefined {
  const span = lastSeen - firstSeen
  return span < HOUR ? undefined : Math.round((calls / span) * DAY)
}

interface Counted {
  readonly calls: number
  /** Milliseconds since 1970, like `lastSeen`. */
  readonly firstSeen: number
  readonly lastSeen: number
}
