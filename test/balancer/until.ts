import { setTimeout as delay } from 'node:timers/promises'

/** Looks again and again until there is something to see, and returns it; fails after half a minute. What throws is not there yet. */
export async function until<T>(what: string, look: () => Promise<T | false | undefined>): Promise<T> {
  for (const end = performance.now() + 30_000; performance.now() < end; await delay(20)) {
    const seen = await look().catch(() => undefined)
    if (seen !== undefined && seen !== false) return seen
  }
  throw new Error(`waited in vain until ${what}`)
}
