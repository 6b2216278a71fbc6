import { createCircuit } from '../../../src/migrate/evidence/circuit.ts'
import { createEvidence } from '../../../src/migrate/evidence/evidence.ts'
import { createNotes, createSaveOrder } from '../../../src/migrate/modes/journal.ts'
import { type ModeRules, readModeRules } from '../../../src/migrate/modes/rules.ts'
import { createSelect } from '../../../src/migrate/modes/select.ts'
import type { Entry } from '../../../src/migrate/records/record.ts'
import { createRollouts, type Rollouts } from '../../../src/migrate/rollout/rollouts.ts'
import { SERVED_BY } from '../../../src/serve/sides.ts'

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

/** Rollouts with real circuits and real evidence, and clients that only count. */
export interface Simulation {
  readonly rollouts: Rollouts
  readonly entries: Entry[]
  /** Notes of rollouts: the state after each. */
  moves(): readonly (string | undefined)[]
  /** The caller asks something new, v2 or v1 answers as the share says, and both are compared. */
  ask(nth: number, options?: { readonly operation?: string; readonly isWrong?: boolean; readonly shape?: string }): void
  /** v2 refuses so many writes of `iam.a`, and nobody knows whether v1 would. */
  refuse(count: number): void
  /** Lets callers ask for so many minutes, each minute once. */
  minutes(count: number, callers?: readonly number[]): void
  pass(ms: number): void
  setWall(ms: number): void
  place(): string
  isOpen(operation: string): boolean
  change(rules: ModeRules): void
  problem: string | undefined
}

/** Begins where `earlier` entries ended. */
export function simulate(rules: ModeRules, earlier: readonly Entry[] = [], probed = false): Simulation {
  let [wall, ticks, asked] = [1e12, 0, 0]
  const now = () => wall
  const entries: Entry[] = []
  const recorder = {
    record: (entry: Entry) => void entries.push(JSON.parse(JSON.stringify(entry)) as Entry),
    problem: () => simulation.problem,
    comparisons: () => [],
    dropped: () => 0,
    close: async () => {},
  }
  const evidence = createEvidence(now)
  const circuit = createCircuit(now, () => probed)
  const order = createSaveOrder()
  const notes = createNotes({ recorder, now, order })
  const sources = {
    journal: { circuit, evidence, recorder, order, ...notes },
    operations: OPERATIONS,
    canBeJudged: () => true,
    now,
    ticks: () => ticks,
    isShared: false,
  }
  const rollouts = createRollouts(rules, sources)
  let inForce = rules
  let select = createSelect(rollouts.inForce(inForce))
  rollouts.onMove(() => {
    select = createSelect(rollouts.inForce(inForce))
  })
  const simulation: Simulation = {
    rollouts,
    entries,
    problem: undefined,
    moves: () => entries.flatMap((entry) => (entry.kind === 'note' && entry.what === 'rollout' ? [entry.to] : [])),
    ask(nth, { operation = 'iam.a', isWrong = false, shape = `shape ${asked}` } = {}) {
      asked += 1
      const client = { caller: callerAt(nth), subject: undefined }
      const mode = select({ ...client, operation, circuit: circuit.isOpen(operation) ? (probed ? 'probed' : 'open') : 'closed' })
      rollouts.used({ ...client, mode, round: rollouts.round() }, operation, SERVED_BY[mode])
      const outcome = isWrong ? 'mismatch' : 'match'
      const comparison = { operation, caller: client.caller, shape, outcome, mode } as const
      const turned = [circuit.answered(operation, false), circuit.compared(operation, isWrong)].find(Boolean)
      evidence.observe(comparison)
      rollouts.compared(client, comparison)
      if (turned) notes.note({ what: turned.state === 'open' ? 'circuit' : 'circuit-closed', text: turned.reason, operation })
    },
    refuse: (count) => evidence.add('iam.a', { uncompared: { writeRefused: count } }),
    minutes(count, callers = [5, 50, 500]) {
      for (let minute = 0; minute < count; minute += 1) {
        for (const caller of callers) simulation.ask(caller)
        simulation.pass(60_000)
      }
    },
    pass(ms) {
      wall += ms
      ticks += ms
      rollouts.look()
    },
    setWall: (ms) => {
      wall = ms
    },
    place() {
      const [{ phase, step, percent } = { phase: 'ended', step: 0, percent: 0 }] = rollouts.all()
      return `${phase} ${step} ${percent}`
    },
    isOpen: circuit.isOpen,
    change(changed) {
      inForce = changed
      rollouts.change(changed, PERSON)
      circuit.close((operation) => rollouts.keptOpenBy(operation) === undefined)
      select = createSelect(rollouts.inForce(changed))
    },
  }
  for (const entry of earlier) rollouts.entry(entry)
  rollouts.start()
  return simulation
}
