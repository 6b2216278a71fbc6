import type { Config } from '../../../src/app/config/settings.ts'
import { isWithinShare } from '../../../src/migrate/modes/select.ts'
import type { RolloutStatus } from '../../../src/migrate/rollout/machine.ts'
import type { Clocks } from '../../../src/serve/bounds.ts'
import { identify } from '../../../src/serve/caller.ts'
import { type Stage, startStage } from '../../stage/stage.ts'

/** A clock that stands still until a test moves it. */
export interface ManualClock {
  readonly clocks: Clocks
  /** Lets time pass, with a look in each minute. */
  pass(ms: number): void
  /** Sets the wall clock, and nothing else. */
  setWall(ms: number): void
}

const MINUTE = 60_000

export function createManualClock(): ManualClock {
  const looks = new Set<() => void>()
  let [wall, ticks] = [Date.UTC(2026, 10, 24, 14), 0]
  return {
    clocks: {
      now: () => wall,
      ticks: () => ticks,
      repeat(run, ms) {
        if (ms === 1000) looks.add(run)
        return () => void looks.delete(run)
      },
    },
    pass(ms) {
      for (let passed = 0; passed < ms; passed += MINUTE) {
        wall += MINUTE
        ticks += MINUTE
        for (const look of looks) look()
      }
    },
    setWall: (ms) => {
      wall = ms
    },
  }
}

/** Returns demo tokens of callers whose place is from `from` up to but not including `to` percent. */
export function tokensBetween(from: number, to: number, count: number): readonly string[] {
  const tokens = Array.from({ length: 10_000 }, (_, nth) => `demo-viewer-${nth}`)
  const caller = (token: string) => identify(`Bearer ${token}`).caller
  return tokens.filter((token) => isWithinShare(caller(token), to) && !isWithinShare(caller(token), from)).slice(0, count)
}

/** The sandbox with rollouts and a clock of the test. */
export interface RolloutStage extends Stage {
  readonly clock: ManualClock
  /** Sends a request of each kind with each token. Then five minutes pass. Returns the modes that served each token, by token. */
  traffic(tokens: readonly string[], kinds: readonly string[]): Promise<Readonly<Record<string, readonly unknown[]>>>
  rollouts(): Promise<readonly RolloutStatus[]>
  command(name: string, command: string): Promise<number>
}

export async function startRolloutStage(values: Partial<Config>, clock: ManualClock = createManualClock()): Promise<RolloutStage> {
  const stage = await startStage(values, {}, clock.clocks)
  const admin = (path: string, init?: RequestInit) => fetch(`${stage.server.adminUrl}${path}`, init)
  return {
    ...stage,
    clock,
    async traffic(tokens, kinds) {
      const modes: Record<string, readonly unknown[]> = {}
      for (const token of tokens) {
        const before = stage.server.log.length
        for (const path of kinds) await stage.request('GET', path, { token })
        await stage.settled()
        const requests = stage.server.log.slice(before).filter(({ msg }) => msg === 'request')
        modes[token] = [...new Set(requests.map(({ mode, status }) => `${mode} ${status}`))]
      }
      clock.pass(300_000)
      return modes
    },
    rollouts: async () => (await admin('/rollouts')).json() as Promise<readonly RolloutStatus[]>,
    command: async (name, command) => (await admin(`/rollouts/${name}/${command}`, { method: 'POST' })).status,
  }
}
