import type { Actor } from '../../diff/records/actor.ts'
import { operationsOf } from '../choose/reach.ts'
import type { ModeRules } from '../choose/rules.ts'
import { planOf } from './rollout-plan.ts'
import { createRun, type RolloutRun, type RunSources } from './rollout-run.ts'
import { shareOf } from './rollout-state.ts'

/** The rollouts of the rules in force, by name. */
export type Runs = ReadonlyMap<string, RolloutRun>

interface FollowSources extends RunSources {
  /** Ids of all operations that v2 has. */
  readonly operations: readonly string[]
}

/** Returns the rollouts of the rules. One with the same steps and operations is the one that was there before. */
export function runsOf({ rules }: ModeRules, before: Runs, sources: FollowSources): Runs {
  const runs = rules.flatMap((rule, at) => {
    if (!rule.canary?.rollout) return []
    const plan = planOf(rule.canary.rollout, rule)
    const known = before.get(plan.name)
    const run = known?.plan.digest === plan.digest ? known : createRun(plan, sources)
    run.reach(operationsOf(rules, at, sources.operations))
    return [[plan.name, run] as const]
  })
  return new Map(runs)
}

/** Notes every rollout that a change of modes began, began anew or ended. */
export function tellChange(before: Runs, after: Runs, by: Actor): void {
  for (const [name, run] of before) if (!after.has(name)) run.end('It ends: the modes have it no more.', by)
  for (const [name, run] of after) {
    const known = before.get(name)
    if (known === run) continue
    run.begin(known ? 'It begins anew: its steps, operations or clients are others now.' : 'It begins at its first step.', by, known)
  }
}

/** Returns the rules with the shares in force in place of rollouts. */
export function withShares(rules: ModeRules, runs: Runs): ModeRules {
  const inForce = rules.rules.map((rule) => {
    const run = rule.canary?.rollout && runs.get(rule.canary.rollout.name)
    return run && rule.canary ? { ...rule, canary: { mode: rule.canary.mode, percent: shareOf(run.plan, run.state()) } } : rule
  })
  return { ...rules, rules: inForce }
}
