import { setTimeout as delay } from 'node:timers/promises'

/** Milliseconds after which an expected event counts as missing. */
const PATIENCE = 30_000

/** Looks every 20 ms until there is something to see, and returns it. A look that throws sees nothing yet. */
export async function until<T>(look: () => Promise<T | false | undefined>, what = String(look)): Promise<T> {
  let problem: unknown
  for (const end = performance.now() + PATIENCE; performance.now() < end; await delay(20)) {
    try {
      const seen = await look()
      if (seen !== undefined && seen !== false) return seen
    } catch (thrown) {
      problem = thrown
    }
  }
  throw new Error(`not within ${PATIENCE} ms: ${what}`, { cause: problem })
}
