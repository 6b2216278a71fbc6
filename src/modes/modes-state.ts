import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import type { Actor } from '../diff/records/actor.ts'
import { type ModeRules, needV1, readModeRules } from './choose/rules.ts'
import { createRulesInForce, type RulesInForce } from './choose/rules-in-force.ts'
import type { Journal } from './journal.ts'
import { changeOf, driftOf } from './modes-texts.ts'
import type { Rollouts } from './rollout/rollouts.ts'

/** The rules in force and what put them there. Every change makes a new state. */
export interface ModesState {
  readonly rules: ModeRules
  /** 1 at the start; each change adds 1. Replicas that share a store count together. */
  readonly version: number
  /** Tells this version from those of every other process that counts from 1 by itself. */
  readonly tag: string
  /** What made the last change, and when, in milliseconds since 1970. */
  readonly by: Actor
  readonly at: number
  /** If the configuration file says something else, because somebody put other rules: what it says, in sentences. */
  readonly drift?: string
}

/** Rules that replicas share. */
export type SharedModes = Omit<ModesState, 'drift'>

/** Holds the rules in force. */
export interface ModesStateHolder {
  state(): ModesState
  /** Reads rules that can be put in force here, or says in a sentence why they cannot. */
  check(rules: unknown): ModeRules | { readonly problem: string }
  /**
   * Applies other rules and closes every circuit, except those of a rollout that is turned back and stays so. Returns a sentence if it
   * cannot.
   */
  change(rules: unknown, by: Actor): string | undefined
  /** Applies rules that replicas share, likewise. Only the replica at which they were put notes them. */
  adopt(shared: SharedModes, isOwn: boolean): void
  /** Learns what the configuration file says by now, and applies nothing. */
  configure(rules: ModeRules): void
  readonly inForce: RulesInForce
}

interface StateParts {
  readonly journal: Pick<Journal, 'circuit' | 'note'>
  readonly rollouts: Rollouts
  readonly hasV1: boolean
  /** The path of the configuration file, if there is one. */
  readonly configFile: string | undefined
  /** Subjects of clients may be told. */
  readonly subjects: boolean
  readonly now: () => number
}

export function createModesState(initial: ModeRules, parts: StateParts): ModesStateHolder {
  const { journal, rollouts, hasV1, configFile: file, subjects, now } = parts
  let configured = initial
  const boot = randomBytes(6).toString('hex')
  const by: Actor = { source: 'start', ...(file !== undefined && { path: file }) }
  let state: ModesState = { rules: initial, version: 1, tag: `${boot}-1`, by, at: now() }
  let isShared = false
  const inForce = createRulesInForce(rollouts, () => state.rules)
  const compared = ({ drift: _, ...next }: ModesState): ModesState => {
    const drift = file === undefined ? undefined : driftOf({ configured, rules: next.rules, file, by: next.by, subjects, isShared })
    return { ...next, ...(drift !== undefined && { drift }) }
  }
  const check = (value: unknown) => {
    const rules = readModeRules(value)
    return !('problem' in rules) && !hasV1 && needV1(rules) ? { problem: NEEDS_V1 } : rules
  }
  const put = (next: SharedModes, isOwn: boolean) => {
    const { rules, by, version } = next
    const before = state
    state = compared(next)
    if (isOwn) journal.note({ what: 'modes', by, ...changeOf(before, state, subjects), version })
    if (isOwn) rollouts.change(rules, by)
    else rollouts.adopt(rules)
    const closed = journal.circuit.close((operation) => !rollouts.needsOpen(operation))
    for (const operation of isOwn ? closed : []) {
      journal.note({ what: 'circuit-closed', text: 'the modes changed', operation, by, from: 'open', to: 'closed' })
    }
    inForce.follow()
  }
  return {
    state: () => state,
    check,
    change(value, by) {
      const rules = check(value)
      if ('problem' in rules) return rules.problem
      if (by.source === 'file') configured = rules
      const version = state.version + 1
      put({ rules, version, tag: `${boot}-${version}`, by, at: now() }, true)
      return undefined
    },
    adopt(shared, isOwn) {
      isShared = true
      // The same change under another number closes nothing.
      if (!isDeepStrictEqual([shared.rules, shared.by, shared.at], [state.rules, state.by, state.at])) return put(shared, isOwn)
      state = compared(shared)
      inForce.follow()
    },
    configure(rules) {
      configured = rules
      state = compared(state)
    },
    inForce,
  }
}

export const NEEDS_V1 = 'The modes need a v1 service: set upstream.v1 (CROSSWALK_UPSTREAM_V1), or let v2 answer everything.'
