/** The sandbox's one source of time. Tests move it instead of sleeping. */
export type Clock = {
  /** The current instant. */
  readonly now: () => Date
  /** Moves every later `now()` forward by `ms` milliseconds (the control endpoint `/-/clock`). */
  readonly advance: (ms: number) => void
  /**
   * Runs `task` once, after the clock has moved by `ms` milliseconds, on its own or through `advance`. The returned function cancels it. A
   * waiting task does not keep the process alive.
   */
  readonly after: (ms: number, task: () => void) => () => void
}

type Alarm = { readonly at: number; readonly task: () => void; timer?: NodeJS.Timeout }

/** A clock over `base`: a fixed epoch in milliseconds, or a function such as `Date.now`. Only `advance` moves a fixed one. */
export const createClock = (base: number | (() => number) = Date.now): Clock => {
  const alarms = new Set<Alarm>()
  let shift = 0
  const now = (): number => (typeof base === 'number' ? base : base()) + shift
  const drop = (alarm: Alarm): void => {
    clearTimeout(alarm.timer)
    alarms.delete(alarm)
  }
  const ring = (): void => {
    const due = [...alarms].filter(({ at }) => at <= now()).sort((left, right) => left.at - right.at)
    for (const alarm of due) {
      drop(alarm)
      alarm.task()
    }
  }
  // A timer may fire slightly early by this clock. A task that is not yet due is therefore armed again.
  const arm = (alarm: Alarm): void => {
    if (typeof base === 'number' || !alarms.has(alarm)) return
    alarm.timer = setTimeout(() => {
      ring()
      arm(alarm)
    }, alarm.at - now()).unref()
  }
  return {
    now: () => new Date(now()),
    advance: (ms) => {
      shift += ms
      ring()
    },
    after: (ms, task) => {
      const alarm: Alarm = { at: now() + ms, task }
      alarms.add(alarm)
      arm(alarm)
      return () => drop(alarm)
    },
  }
}

/** Now as the service writes it: RFC 3339, UTC, milliseconds (specification §2). */
export const timestamp = (clock: Clock): string => clock.now().toISOString()
