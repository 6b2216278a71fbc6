import type { Config } from '../../../src/app/config/settings.ts'
import { createCircuit } from '../../../src/migrate/evidence/circuit.ts'
import { createEvidence, noEvidence } from '../../../src/migrate/evidence/evidence.ts'
import { createNotes, createSaveOrder } from '../../../src/migrate/modes/journal.ts'
import { type ModeRules, readModeRules } from '../../../src/migrate/modes/rules.ts'
import { createSelect, isWithinShare } from '../../../src/migrate/modes/select.ts'
import type { Entry } from '../../../src/migrate/records/record.ts'
import type { OperationView, RolloutStatus, RolloutView } from '../../../src/migrate/rollout/machine.ts'
import { firstState, planOf, type RolloutPhase, type RolloutPlan, type RolloutState } from '../../../src/migrate/rollout/plan.ts'
import { createRollouts } from '../../../src/migrate/rollout/rollouts.ts'
import type { Clocks } from '../../../src/serve/bounds.ts'
import { identify } from '../../../src/serve/request.ts'
import { SERVED_BY } from '../../../src/serve/sides.ts'
import { type Stage, startStage } from '../../stage/stage.ts'

export const HOUR = 3_600_000

/** 1 % for 100 observations, 50 % for an hour, and an hour of watching; two retries. */
export const PLAN: RolloutPlan = planOf(
  {
    name: 'iam',
    target: 0.01,
    retries: 2,
    watch: '1h',
    steps: [
      { percent: 1, observations: 100 },
      { percent: 50, hold: '1h' },
    ],
  },
  { operations: 'iam.*', clients: '*' },
)

export const stateIn = (phase: RolloutPhase, more: Partial<RolloutState> = {}): RolloutState => ({ ...firstState('x', 0), phase, ...more })

const { n, bad } = noEvidence('x')

/** An operation that had requests, with this evidence in the step and in the run. */
export const operation = (more: Partial<OperationView> & Partial<OperationView['step']> = {}): OperationView => {
  const { requests = 1, observations = { n, bad }, comparisons = observations, ...rest } = more
  const failures = { n: 0, bad: 0 }
  return {
    operation: 'iam.a',
    canBeJudged: true,
    run: observations,
    alone: 0,
    failures,
    ...rest,
    step: { requests, observations, comparisons },
  }
}

/** An operation inside 1 %, with enough observations for the first step. */
export const proven = (more: Parameters<typeof operation>[0] = {}) =>
  operation({ observations: { n: 100, bad: 0 }, run: { n: 400, bad: 0 }, ...more })

/** A view with traffic and nothing wrong. */
export const viewOn = (more: Partial<RolloutView> = {}): RolloutView => ({
  operations: [operation()],
  unused: 0,
  open: {},
  stuck: [],
  requests: 1,
  unjudged: { requests: 0, ms: 0 },
  ratio: undefined,
  unwritten: undefined,
  ...more,
})

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
  const stage = await startStage({ proxy: values, clocks: clock.clocks })
  const admin = (path: string, init?: RequestInit) => fetch(`${stage.adminUrl}${path}`, init)
  return {
    ...stage,
    clock,
    async traffic(tokens, kinds) {
      const modes: Record<string, readonly unknown[]> = {}
      for (const token of tokens) {
        const before = stage.log.length
        for (const path of kinds) await stage.request('GET', path, { token })
        await stage.settled()
        const requests = stage.log.slice(before).filter(({ msg }) => msg === 'request')
        modes[token] = [...new Set(requests.map(({ mode, status }) => `${mode} ${status}`))]
      }
      clock.pass(300_000)
      return modes
    },
    rollouts: async () => (await admin('/rollouts')).json() as Promise<readonly RolloutStatus[]>,
    command: async (name, command) => (await admin(`/rollouts/${name}/${command}`, { method: 'POST' })).status,
  }
}

export const OPERATIONS = ['iam.a', 'iam.b', 'registry.c']

export const PERSON = { source: 'admin', token: 'ops' } as const

/** Rules with a rollout of `iam.*` at 1, 10 and 100 %, ten minutes each, and two retries. */
export const iamRules = (rollout: object = {}, others: readonly object[] = [], operations = 'iam.*'): ModeRules => {
  const steps = [1, 10, 100].map((percent) => ({ percent, hold: '10m' }))
  const canary = { mode: 'diff-v2', rollout: { name: 'iam', target: 0.1, retries: 2, watch: '10m', steps, ...rollout } }
  const read = readModeRules({ default: 'diff-v1', rules: [{ operations, mode: 'diff-v1', canary }, ...others] })
  if ('problem' in read) throw new Error(read.problem)
  return read
}

/** Hashes of callers: the nth of a thousand stands at nth/10 percent. */
export const callerAt = (nth: number) =>
  `${Math.floor((nth / 1000) * 2 ** 32)
    .toString(16)
    .padStart(8, '0')}00000000`

interface Callers extends Pick<Clocks, 'now' | 'ticks'> {
  readonly rules: ModeRules
  /** Why the records cannot be written. */
  readonly problem: () => string | undefined
  readonly isProbed?: boolean
  /** Its name among others that share the rollouts. */
  readonly replica?: string
}

/** Rollouts with real circuits and real evidence, and clients that only count. */
export function createCallers({ rules, now, ticks, problem, isProbed = false, replica }: Callers) {
  const entries: Entry[] = []
  const record = (entry: Entry) => void entries.push(JSON.parse(JSON.stringify(entry)) as Entry)
  const recorder = { record, problem, comparisons: () => [], dropped: () => 0, close: async () => {} }
  const evidence = createEvidence(now)
  const circuit = createCircuit(now, () => isProbed)
  const order = createSaveOrder()
  const { note, onNote } = createNotes({ recorder, now, order, ...(replica !== undefined && { replica }) })
  const rollouts = createRollouts(rules, {
    journal: { circuit, evidence, recorder, order, note, onNote },
    ...{ operations: OPERATIONS, canBeJudged: () => true, now, ticks, isShared: replica !== undefined },
  })
  let [inForce, asked] = [rules, 0]
  let select = createSelect(rollouts.inForce(rules))
  /** Puts rules in force. */
  const follow = (changed = inForce) => {
    inForce = changed
    select = createSelect(rollouts.inForce(changed))
  }
  rollouts.onMove(() => follow())
  return {
    ...{ rollouts, entries, circuit, evidence, follow },
    /** The nth caller asks something new, v2 or v1 answers as the share says, and both are compared. */
    ask(nth: number, { operation = 'iam.a', isWrong = false, shape = `${replica ?? 'shape'} ${asked}` }: Asked = {}) {
      asked += 1
      const client = { caller: callerAt(nth), subject: undefined }
      const mode = select({ ...client, operation, circuit: circuit.isOpen(operation) ? (isProbed ? 'probed' : 'open') : 'closed' })
      rollouts.used({ ...client, mode, round: rollouts.round() }, operation, SERVED_BY[mode])
      const comparison = { operation, caller: client.caller, shape, outcome: isWrong ? 'mismatch' : 'match', mode } as const
      const turned = [circuit.observe(operation, 'errors', false), circuit.observe(operation, 'mismatches', isWrong)].find(Boolean)
      const isObserved = evidence.observe(comparison) !== undefined
      if (mode === 'diff-v2') rollouts.compared(client, comparison)
      if (turned) note({ what: turned.state === 'open' ? 'circuit' : 'circuit-closed', text: turned.reason, operation })
      return { comparison, isObserved }
    },
    place() {
      const [{ phase, step, percent } = { phase: 'ended', step: 0, percent: 0 }] = rollouts.all()
      return `${phase} ${step} ${percent}`
    },
    /** Notes of rollouts: the state after each. */
    moves: () => entries.flatMap((entry) => (entry.kind === 'note' && entry.what === 'rollout' ? [entry.to] : [])),
  }
}

interface Asked {
  readonly operation?: string
  readonly isWrong?: boolean
  readonly shape?: string
}

/** Callers of one process, whose time a test moves. It begins where `earlier` entries ended. */
export function simulate(rules: ModeRules, earlier: readonly Entry[] = [], isProbed = false) {
  let [wall, ticks] = [1e12, 0]
  const clocks = { now: () => wall, ticks: () => ticks }
  const { ask, follow, ...callers } = createCallers({ rules, ...clocks, problem: () => simulation.problem, isProbed })
  const { rollouts, circuit, evidence } = callers
  const simulation = {
    ...callers,
    problem: undefined as string | undefined,
    ask: (...asked: Parameters<typeof ask>) => void ask(...asked),
    /** v2 refuses so many writes of `iam.a`, and nobody knows whether v1 would. */
    refuse: (count: number) => evidence.add('iam.a', { uncompared: { writeRefused: count } }),
    /** Lets callers ask for so many minutes, each minute once. */
    minutes(count: number, asking: readonly number[] = [5, 50, 500]) {
      for (let minute = 0; minute < count; minute += 1) {
        for (const caller of asking) ask(caller)
        simulation.pass(60_000)
      }
    },
    pass(ms: number) {
      wall += ms
      ticks += ms
      rollouts.look()
    },
    setWall: (ms: number) => {
      wall = ms
    },
    isOpen: circuit.isOpen,
    change(changed: ModeRules) {
      rollouts.change(changed, PERSON)
      circuit.close((operation) => rollouts.keptOpenBy(operation) === undefined)
      follow(changed)
    },
  }
  for (const entry of earlier) rollouts.entry(entry)
  rollouts.start()
  return simulation
}

export type Simulation = ReturnType<typeof simulate>
