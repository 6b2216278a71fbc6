/** The sandbox's one source of time. Tests move it instead of sleeping. */
export type Clock = {
  /** The current instant. */
  readonly now: () => Date
  /** Moves every later `now()` forward by `ms` milliseconds (the control endpoint `/-/clock`). */
  readonly advance: (ms: number) => void
}

/** A clock over `base`, a fixed epoch in milliseconds or a function such as `Date.now`. */
export const createClock = (base: number | (() => number) = Date.now): Clock => {
  let shift = 0
  const read = typeof base === 'number' ? () => base : base
  return {
    now: () => new Date(read() + shift),
    advance: (ms) => {
      shift += ms
    },
  }
}

/** Now as the service writes it: RFC 3339, UTC, milliseconds (specification §2). */
export const timestamp = (clock: Clock): string => clock.now().toISOString()
