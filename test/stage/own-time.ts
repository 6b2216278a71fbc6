/** Milliseconds between two looks at the clock, and how much more than that a timer takes on any machine. */
const TICK = 5
const USUAL = 10

/**
 * Starts a stopwatch for what is promised on a quiet machine. It does not count the milliseconds in which this process wanted the
 * processor and others had it; it does count those in which this process computes.
 *
 * @example
 * const took = startOwnTime()
 * await refused()
 * expect(took()).toBeLessThan(300)
 */
export function startOwnTime(): () => number {
  const begun = performance.now()
  let [last, cpu, late] = [begun, process.cpuUsage(), 0]
  const look = () => {
    const now = performance.now()
    const { user, system } = process.cpuUsage(cpu)
    const more = now - last - TICK - (user + system) / 1000
    if (more > USUAL) late += more
    last = now
    cpu = process.cpuUsage()
  }
  const timer = setInterval(look, TICK)
  return () => {
    look()
    clearInterval(timer)
    return performance.now() - begun - late
  }
}

/** Returns the milliseconds of processor time that a function takes. A busy machine does not change them much. */
export function processorMs(run: () => void): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
