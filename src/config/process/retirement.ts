import type { Config } from '../settings.ts'

/** The times in which a process leaves. */
export function retirement(config: Config) {
  return { drainMs: config['limits.drainMs'], lingerMs: config['limits.lingerMs'], shutdownMs: config['limits.shutdownMs'] }
}

/** The least time in which the connections of a process that gives way are served, so that most get an answer that ends them. */
const GIVEN_WAY_MS = 5000

/** The times of a process in whose place another one listens. The port stays open, so that nothing waits for a balancer to notice. */
export function wayGiving(config: Config) {
  const { lingerMs, shutdownMs } = retirement(config)
  return { drainMs: 0, lingerMs: Math.max(lingerMs, GIVEN_WAY_MS), shutdownMs }
}
