import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import {
  type ComparisonGroup,
  type ComparisonOptions,
  type ComparisonSettings,
  createComparison,
  type Mismatch,
} from '../../../src/app/library/compare.ts'
import { type CrosswalkPluginOptions, crosswalk } from '../../../src/index.ts'
import type { Clocks } from '../../../src/serve/bounds.ts'
import { closedLater } from '../../stage/upstream.ts'

/** A clock that a test moves. A timer that is due runs when it is moved. */
export interface TestClock {
  readonly clocks: Clocks
  move(ms: number): void
  /** Timers that wait. */
  count(): number
}

export function createTestClock(start = Date.parse('2026-03-01T00:00:00Z')): TestClock {
  const timers = new Set<{ readonly run: () => void; readonly ms: number; at: number }>()
  let now = start
  return {
    clocks: {
      now: () => now,
      ticks: () => now - start,
      repeat(run, ms) {
        const timer = { run, ms, at: now + ms }
        timers.add(timer)
        return () => void timers.delete(timer)
      },
    },
    move(ms) {
      now += ms
      for (const timer of [...timers].sort((a, b) => a.at - b.at)) {
        while (timers.has(timer) && timer.at <= now) {
          timer.at += timer.ms
          timer.run()
        }
      }
    },
    count: () => timers.size,
  }
}

export interface TestComparison extends TestClock {
  readonly comparison: ComparisonGroup
  readonly mismatches: Mismatch[]
  readonly warnings: string[]
}

/** A group that compares every call, with a clock of its own. */
export function startComparison(settings: ComparisonSettings = {}, options: ComparisonOptions = {}): TestComparison {
  const clock = createTestClock()
  const mismatches: Mismatch[] = []
  const warnings: string[] = []
  const comparison = createComparison(
    { ...settings, diff: { perSecond: 0, ...settings.diff } },
    {
      clocks: clock.clocks,
      warn: (text) => warnings.push(text),
      onMismatch: (one) => mismatches.push(one),
      target: 0.01,
      ...options,
    },
  )
  return { ...clock, comparison, mismatches, warnings }
}

/** Calls a function with the numbers below `count`, and lets the comparisons keep up. */
export async function callMany(call: (n: number) => Promise<unknown>, count: number, { comparison }: Pick<TestComparison, 'comparison'>) {
  for (let n = 0; n < count; n++) {
    await call(n).catch(() => undefined)
    if (n % 50 === 49) await comparison.idle()
  }
  await comparison.idle()
}

/** A server of somebody else, with the plugin in it. */
export interface Host {
  readonly app: FastifyInstance
  readonly url: string
}

export interface HostOptions {
  readonly server?: FastifyServerOptions
  readonly prefix?: string
  /** Adds what the owner has of their own, before the plugin. */
  readonly own?: (app: FastifyInstance) => void
}

/** Starts such a server on a free port. It is closed after its test. */
export async function startHost(
  options: CrosswalkPluginOptions,
  { server = {}, prefix = '', own = () => {} }: HostOptions = {},
): Promise<Host> {
  const app = Fastify({ forceCloseConnections: true, ...server })
  own(app)
  await app.register(crosswalk, { ...options, prefix })
  closedLater(async () => void (await app.close()))
  return { app, url: await app.listen({ host: '127.0.0.1', port: 0 }) }
}
