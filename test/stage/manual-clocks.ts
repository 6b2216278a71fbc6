import type { FleetClocks } from '../../src/fleet/exchange.ts'

/** Clocks that stand still until a test moves them. */
export interface ManualClocks extends FleetClocks {
  /** Moves them on in steps of 5 ms, and lets everything that is due happen after each. */
  pass(ms: number): Promise<void>
}

const STEP = 5

export function manualClocks(start = Date.parse('2026-11-23T00:00:00Z')): ManualClocks {
  let elapsed = 0
  const repeated = new Set<{ readonly run: () => void; readonly every: number; due: number }>()
  return {
    now: () => start + elapsed,
    ticks: () => elapsed,
    repeat(run, every) {
      const one = { run, every, due: elapsed + every }
      repeated.add(one)
      return () => void repeated.delete(one)
    },
    async pass(ms) {
      await quiet()
      for (const until = elapsed + ms; elapsed < until; ) {
        elapsed = Math.min(elapsed + STEP, until)
        for (const one of repeated) {
          if (one.due > elapsed) continue
          one.due += one.every
          one.run()
        }
        await quiet()
      }
    },
  }
}

/** Resolves when what waits for promises alone has happened. */
export const quiet = () => new Promise<void>((resolve) => setImmediate(resolve))
