import { randomBytes } from 'node:crypto'
import { type Actor, describeActor } from '../diff/records/actor.ts'
import { describeRules, type ModeRules, needV1, readModeRules } from './choose/rules.ts'
import { createSelect, type Select } from './choose/select.ts'
import type { Journal } from './journal.ts'
import type { Rollouts } from './rollout/rollouts.ts'

/** The rules in force and what put them there. Every change makes a new state. */
export interface ModesState {
  readonly rules: ModeRules
  /** 1 at the start; each change adds 1. */
  readonly version: number
  /** Tells this version from those of every other process, which count from 1 too. */
  readonly tag: string
  /** What made the last change, and when, in milliseconds since 1970. */
  readonly by: Actor
  readonly at: number
}

/** Holds the rules in force. */
export interface ModesStateHolder {
  state(): ModesState
  /** Applies other rules and closes every circuit. Returns a sentence if it cannot. */
  change(rules: unknown, by: Actor): string | undefined
  /** Chooses the mode of one request by the rules in force. */
  readonly select: Select
}

interface StateParts {
  readonly journal: Pick<Journal, 'circuit' | 'note'>
  readonly rollouts: Rollouts
  readonly hasV1: boolean
  readonly now: () => number
}

export function createModesState(initial: ModeRules, { journal, rollouts, hasV1, now }: StateParts): ModesStateHolder {
  const boot = randomBytes(6).toString('hex')
  let state: ModesState = { rules: initial, version: 1, tag: `${boot}-1`, by: { source: 'start' }, at: now() }
  const compiled = () => createSelect(rollouts.inForce(state.rules))
  let select = compiled()
  rollouts.onMove(() => {
    select = compiled()
  })
  return {
    state: () => state,
    change(value, by) {
      const rules = readModeRules(value)
      if ('problem' in rules) return rules.problem
      if (!hasV1 && needV1(rules)) return NEEDS_V1
      const [from, to] = [describeRules(state.rules), describeRules(rules)]
      const version = state.version + 1
      state = { rules, version, tag: `${boot}-${version}`, by, at: now() }
      const closed = journal.circuit.closeAll()
      journal.note({ what: 'modes', text: `${describeActor(by)}: ${to}`, by, from, to, version: state.version })
      for (const operation of closed) {
        journal.note({ what: 'circuit-closed', text: 'the modes changed', operation, by, from: 'open', to: 'closed' })
      }
      rollouts.change(rules, by)
      select = compiled()
      return undefined
    },
    select: (question) => select(question),
  }
}

export const NEEDS_V1 = 'The modes need a v1 service: set upstream.v1 (CROSSWALK_UPSTREAM_V1), or let v2 answer everything.'
