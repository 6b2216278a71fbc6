import { type Actor, describeActor } from '../../diff/records/actor.ts'
import { covers } from '../../tables/operations/operation-pattern.ts'
import type { ModeRules } from '../choose/rules.ts'
import type { Journal } from '../journal.ts'
import { planOf, type RolloutPlan } from './rollout-plan.ts'
import { describeState, firstState, type RolloutState, shareOf } from './rollout-state.ts'
import { type RolloutStatus, statusOf } from './rollout-status.ts'
import { ROLLOUT_COMMANDS, type RolloutCommand, steered } from './steer.ts'

/** Runs the rollouts of the rules in force. */
export interface Rollouts {
  all(): readonly RolloutStatus[]
  /** Gives a command. Returns a sentence if it makes no sense. */
  steer(name: string, command: RolloutCommand, by: Actor): string | undefined
  /** Follows other rules. A rollout with the same steps goes on where it is. */
  change(rules: ModeRules, by: Actor): void
  /** Returns the rules with the shares in force in place of rollouts. */
  inForce(rules: ModeRules): ModeRules
  /** Calls a listener whenever a share may have changed. */
  onMove(listener: () => void): void
}

interface RolloutSources {
  readonly journal: Pick<Journal, 'circuit' | 'note'>
  /** Milliseconds since 1970. */
  readonly now: () => number
}

interface Run {
  readonly plan: RolloutPlan
  state: RolloutState
}

export function createRollouts(initial: ModeRules, { journal, now }: RolloutSources): Rollouts {
  const listeners: (() => void)[] = []
  let runs: ReadonlyMap<string, Run> = new Map()

  const openOf = ({ operations }: RolloutPlan) => {
    const open = [...journal.circuit.all()].flatMap(([operation, { state }]) => (state === 'open' ? operation : []))
    return open.filter((operation) => operations.some((pattern) => covers(pattern, operation)))
  }
  const move = (run: Run, state: RolloutState, by: Actor) => {
    const { plan } = run
    const [from, to] = [describeState(plan, run.state), describeState(plan, state)]
    run.state = state
    for (const listener of listeners) listener()
    journal.note({ what: 'rollout', text: `rollout ${plan.name}: ${state.reason}`, by, from, to })
  }
  const begin = (plan: RolloutPlan): Run => ({ plan, state: firstState('It begins at its first step.', now()) })
  const follow = (rules: ModeRules) => {
    const plans = plansOf(rules)
    runs = new Map(plans.map((plan) => [plan.name, keptOf(runs.get(plan.name), plan) ?? begin(plan)]))
  }
  follow(initial)

  return {
    all: () => Array.from(runs.values(), ({ plan, state }) => statusOf(plan, state, 0)),
    steer(name, command, by) {
      const run = runs.get(name)
      if (!run) return `There is no rollout ${JSON.stringify(name)}.`
      if (!ROLLOUT_COMMANDS.includes(command))
        return `A rollout knows no command ${JSON.stringify(command)}: use ${ROLLOUT_COMMANDS.join(', ')}.`
      const result = steered(run.plan, run.state, command, { by: describeActor(by), open: openOf(run.plan), now: now() })
      if (result === 'same') return undefined
      if ('problem' in result) return result.problem
      move(run, result.state, by)
      return undefined
    },
    change: (rules) => follow(rules),
    inForce(rules) {
      const inForce = rules.rules.map((rule) => {
        const run = rule.canary?.rollout && runs.get(rule.canary.rollout.name)
        return run && rule.canary ? { ...rule, canary: { mode: rule.canary.mode, percent: shareOf(run.plan, run.state) } } : rule
      })
      return { ...rules, rules: inForce }
    },
    onMove: (listener) => void listeners.push(listener),
  }
}

function plansOf({ rules }: ModeRules): readonly RolloutPlan[] {
  return rules.flatMap((rule) => (rule.canary?.rollout ? planOf(rule.canary.rollout, rule) : []))
}

function keptOf(run: Run | undefined, { digest }: RolloutPlan): Run | undefined {
  return run?.plan.digest === digest ? run : undefined
}
