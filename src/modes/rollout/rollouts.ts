import type { Observation } from '../../diff/evidence/observation.ts'
import type { Actor } from '../../diff/records/actor.ts'
import type { Comparison } from '../../diff/records/record.ts'
import type { Identity } from '../../serve/caller.ts'
import type { Mode, Side } from '../../serve/sides.ts'
import type { ModeRules } from '../choose/rules.ts'
import { createRuleOf, type RuleOf } from '../choose/select.ts'
import type { Journal } from '../journal.ts'
import { createEarlierRuns, type EarlierRuns } from './earlier-runs.ts'
import { type Runs, runsOf, tellChange, withShares } from './followed-runs.ts'
import type { RunSources } from './rollout-run.ts'
import type { RolloutStatus } from './rollout-status.ts'
import type { RolloutCommand } from './steer.ts'
import type { KnownFigures } from './view-of.ts'

/** A request of a client, as far as rollouts look at it. */
export interface SidedRequest extends Identity {
  readonly mode: Mode
  /** The round in which its mode was chosen. */
  readonly round?: number | undefined
}

/** Runs the rollouts of the rules in force. */
export interface Rollouts {
  all(): readonly RolloutStatus[]
  /** Gives a command. Returns a sentence if it makes no sense. */
  steer(name: string, command: RolloutCommand, by: Actor): string | undefined
  /** Follows other rules. A rollout with the same steps goes on where it is. */
  change(rules: ModeRules, by: Actor): void
  /** Follows rules that another replica put in force: it has noted what begins and what ends. */
  adopt(rules: ModeRules): void
  /** True if the circuit of this operation turned back a rollout that still waits for it. */
  needsOpen(operation: string): boolean
  /** Returns the rules with the shares in force in place of rollouts. */
  inForce(rules: ModeRules): ModeRules
  /** Calls a listener whenever a share may have changed. */
  onMove(listener: () => void): void
  /** Grows whenever a share may have changed. */
  round(): number
  /** Looks at all of them. Call it every second; nothing depends on the exact time. */
  look(): void
  /** Counts a finished request of an accepted client. */
  used(request: SidedRequest, operation: string, by: Side): void
  /** Counts a comparison of an answer to a client. */
  compared(client: Identity, comparison: Pick<Comparison, 'mode'> & Observation): void
  readonly entry: EarlierRuns['entry']
  /** Begins, or goes on where the records ended. */
  start(): void
  /** Records where they stand. */
  flush(): void
  /** The rollouts themselves, by name. */
  runs(): Runs
  /** From now on, what is known of v2's answers is what all replicas have seen. */
  know(of: KnownFigures['evidence']['of']): void
}

interface RolloutSources extends Omit<RunSources, 'moved' | 'order'> {
  readonly journal: RunSources['journal'] & Pick<Journal, 'onNote' | 'order'>
  /** Ids of all operations that v2 has. */
  readonly operations: readonly string[]
}

export function createRollouts(initial: ModeRules, sources: RolloutSources): Rollouts {
  const { now } = sources
  const { order } = sources.journal
  let known = sources.journal.evidence.of
  const journal = { ...sources.journal, evidence: { of: (operation: string) => known(operation) } }
  const listeners: (() => void)[] = []
  let runs: Runs = new Map()
  let ruleOf: RuleOf = () => undefined
  let round = 0
  const moved = () => {
    round += 1
    for (const listener of listeners) listener()
  }
  const runOf = (operation: string, client: Identity) => {
    const name = runs.size > 0 ? ruleOf(operation, client)?.canary?.rollout?.name : undefined
    return name === undefined ? undefined : runs.get(name)
  }
  const follow = (rules: ModeRules) => {
    runs = runsOf(rules, runs, { ...sources, journal, moved, order })
    ruleOf = createRuleOf(rules.rules)
    round += 1
  }
  const look = () => {
    for (const run of runs.values()) run.look()
  }
  const earlier = createEarlierRuns({ runs: () => runs, journal, order, now, isShared: sources.isShared })
  journal.onNote(({ what }) => what === 'circuit' && look())
  follow(initial)

  return {
    all: () => Array.from(runs.values(), (run) => run.status()),
    steer(name, command, by) {
      const run = runs.get(name)
      return run ? run.steer(command, by) : `There is no rollout ${JSON.stringify(name)}.`
    },
    change(rules, by) {
      const before = runs
      follow(rules)
      tellChange(before, runs, by)
    },
    adopt: follow,
    needsOpen: (operation) => [...runs.values()].some((run) => run.state().phase === 'turned-back' && run.reaches(operation)),
    inForce: (rules) => withShares(rules, runs),
    onMove: (listener) => void listeners.push(listener),
    round: () => round,
    look,
    used(request, operation, by) {
      if (request.round === round) runOf(operation, request)?.used(operation, request.caller, { mode: request.mode, by })
    },
    compared(client, comparison) {
      if (comparison.mode === 'diff-v2') runOf(comparison.operation, client)?.compared(comparison)
    },
    entry: earlier.entry,
    start() {
      earlier.end()
      // A circuit that is open again turns a rollout back before the first request.
      look()
      moved()
    },
    flush() {
      for (const run of runs.values()) run.save()
    },
    runs: () => runs,
    know(of) {
      known = of
    },
  }
}
