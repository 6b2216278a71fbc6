import { setTimeout as delay } from 'node:timers/promises'
import type { FleetClocks } from '../../src/fleet/exchange.ts'
import type { CallTimes } from '../../src/grpc/wire/call.ts'
import { Firing } from '../../src/serve/signals.ts'

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

/** The times of a call whose client waits as long as its work goes on. */
export function callTimes(signal: Firing = new Firing()): CallTimes {
  return Object.assign(signal, { client: () => signal })
}

/** A generator of numbers from 0 up to 1 that always gives the same ones for a seed (mulberry32). */
export function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** Draws places from 0 to below `count` by Zipf's law: the first is the busiest. */
export function zipf(count: number) {
  const weights = Array.from({ length: count }, (_, nth) => 1 / (nth + 1))
  const all = weights.reduce((sum, one) => sum + one, 0)
  return {
    shareOf: (place: number) => (weights[place] ?? 0) / all,
    draw(random: () => number) {
      let left = random() * all
      const found = weights.findIndex((weight) => {
        left -= weight
        return left < 0
      })
      return found < 0 ? count - 1 : found
    },
  }
}

/**
 * Starts acts at a rate, whether earlier ones are over or not, as often as `startDue` is called. If as many are under way as the crowd has
 * members, the next one is skipped: the rate drops instead of causing an overload when the machine stops for a moment.
 */
export function paced(act: () => Promise<unknown>, perSecond: number, crowd: number) {
  const begun = performance.now()
  const pending = new Set<Promise<unknown>>()
  let acts = 0
  const passed = () => (performance.now() - begun) / 1000
  return {
    /** Seconds since the beginning. */
    passed,
    acts: () => acts,
    startDue() {
      for (const due = passed() * perSecond; acts < due; acts++) {
        if (pending.size >= crowd) continue
        const one: Promise<unknown> = act().finally(() => pending.delete(one))
        pending.add(one)
      }
    },
    /** Resolves when every act is over. */
    settled: () => Promise.all(pending),
  }
}
