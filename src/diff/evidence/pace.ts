/** Counts new observations by hour, to estimate how many a day brings. */
export interface Pace {
  /** Counts one observation; `at` in milliseconds since 1970. */
  add(at: number): void
  /** Returns observations per day at the pace of the last 24 hours before `now`; undefined while that is unknown. */
  perDay(now: number): number | undefined
}

/** Milliseconds. */
export const HOUR = 3_600_000

/** The hours that tell the pace. */
export const HOURS = 24

export function createPace(): Pace {
  const hours = new Map<number, number>()
  let first = Number.POSITIVE_INFINITY
  return {
    add(at) {
      first = Math.min(first, at)
      const hour = Math.floor(at / HOUR)
      hours.set(hour, (hours.get(hour) ?? 0) + 1)
      for (const old of hours.keys()) {
        if (hours.size <= HOURS + 1) return
        hours.delete(old)
      }
    },
    perDay: (now) => perDayOf(hours, first, now),
  }
}

/** Returns observations per day by those of each hour since 1970, as `perDay` does. `first` is the time of the first one of all. */
export function perDayOf(hours: Iterable<readonly [hour: number, count: number]>, first: number, now: number): number | undefined {
  const from = Math.floor(now / HOUR) - HOURS + 1
  const counted = [...hours].reduce((sum, [hour, count]) => (hour >= from && hour * HOUR <= now ? sum + count : sum), 0)
  const watched = Math.min(now - first, now - from * HOUR)
  return counted === 0 || watched < HOUR ? undefined : (counted * HOURS * HOUR) / watched
}
