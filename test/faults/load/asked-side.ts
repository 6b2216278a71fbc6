import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import type { Fault } from '../fault.ts'
import { type Child, program, serve } from '../process/child.ts'
import { residentMiB } from '../soak/samples.ts'
import { BURDENS, type Burden } from './burdens.ts'
import { type Callers, createCallers } from './callers.ts'
import { ATTEMPTS_MS, attempt } from './overload.ts'
import { openLoop, quantile } from './pressure.ts'

const PATH = '/iam/v1/groups'
const PER_SECOND = 200
const WINDOW = 1500
const ROUNDS = 3

interface Program {
  readonly url: string
  stop(): void
}

/** Starts an upstream as a process of its own. With a niceness, the scheduler prefers the others, so that sending costs them little. */
function startHeavy(niceness: number): Promise<Program> {
  const child = spawn('nice', ['-n', String(niceness), process.execPath, program('../load/heavy-upstream.js')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const end = () => child.kill('SIGKILL')
  process.once('exit', end)
  const stop = () => {
    process.off('exit', end)
    end()
  }
  return new Promise((resolve) => createInterface({ input: child.stdout }).once('line', (url) => resolve({ url, stop })))
}

/** What clients and the system saw while the asked side was in one state. */
interface Sight {
  /** Milliseconds of each answer, round by round. */
  readonly rounds: number[][]
  mib: number
  failed: number
}

async function look(callers: Callers, child: Child, sight: Sight): Promise<void> {
  const sampling = setInterval(() => {
    sight.mib = Math.max(sight.mib, residentMiB(child.pid))
  }, 50)
  const { outcomes } = await openLoop(callers, PER_SECOND, WINDOW)
  clearInterval(sampling)
  sight.rounds.push(outcomes.map(({ ms }) => ms))
  sight.failed += outcomes.filter(({ status }) => status !== 200).length
}

/** Measures with and without the burden in turn, so that whatever else the machine does hits both. */
async function measure(mode: 'diff-v1' | 'diff-v2', burden: Burden): Promise<string> {
  const good = await startHeavy(0)
  const bad = await startHeavy(19)
  const [v1, v2] = mode === 'diff-v1' ? [good.url, bad.url] : [bad.url, good.url]
  const child = await serve({ 'upstream-v1': v1, 'upstream-v2': v2, mode })
  const callers = createCallers(child.url, PATH)
  const sights = { without: { rounds: [], mib: 0, failed: 0 }, with: { rounds: [], mib: 0, failed: 0 } } satisfies Record<string, Sight>
  try {
    await openLoop(callers, PER_SECOND, 2 * WINDOW)
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, state] of [['without', 'none'] as const, ['with', burden] as const]) {
        await fetch(`${bad.url}/-/${encodeURIComponent(state)}`)
        await look(callers, child, sights[name])
      }
    }
  } finally {
    callers.close()
    await child.stop('SIGKILL')
    good.stop()
    bad.stop()
  }
  return verdict(sights.without, sights.with)
}

/** Milliseconds below which two times cannot be told apart on a quiet machine. */
const BLUR = 1

const median = (numbers: readonly number[]) => quantile(numbers, 0.5)

function verdict(before: Sight, after: Sight): string {
  const late = ({ rounds }: Sight) => rounds.map((ms) => quantile(ms, 0.99))
  const [alone, burdened] = [median(late(before)), median(late(after))]
  // Rounds without the burden are alike. What tells them apart is other work on the machine, and it may hit a round with the burden too.
  const blur = Math.max(BLUR, Math.max(...late(before)) - Math.min(...late(before)))
  const more = after.mib - before.mib
  const figures = `p99 ${alone.toFixed(2)} (± ${blur.toFixed(2)}) → ${burdened.toFixed(2)} ms, p50 ${median(before.rounds.flat()).toFixed(2)} → ${median(after.rounds.flat()).toFixed(2)} ms, memory ${before.mib.toFixed(0)} → ${after.mib.toFixed(0)} MiB`
  process.stderr.write(`      ${figures}\n`)
  const holds = burdened <= Math.max(1.05 * alone, alone + blur) && more <= 32 && before.failed + after.failed === 0
  return holds ? EXPECTED : `${figures}, ${before.failed + after.failed} failures`
}

const EXPECTED = 'clients: p99 at most 5 % later, or 1 ms, or as much as the machine varies; at most 32 MiB more'

export const askedSideFaults: readonly Fault[] = (['diff-v1', 'diff-v2'] as const).flatMap((mode) =>
  BURDENS.filter((burden) => burden !== 'none').map((burden) => ({
    name: `the asked side sends 10 MB or more to ${mode}: ${burden}`,
    expected: EXPECTED,
    full: true as const,
    patienceMs: ATTEMPTS_MS,
    see: () => attempt(EXPECTED, () => measure(mode, burden)),
  })),
)
