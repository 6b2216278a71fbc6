import { randomBytes } from 'node:crypto'
import { isDeepStrictEqual } from 'node:util'
import { type Actor, describeActor } from '../diff/records/actor.ts'
import { type ModeRules, needV1, readModeRules } from './choose/rules.ts'
import { describeChange, describeRules } from './choose/rules-text.ts'
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
  /** If the configuration file says something else, because somebody put other rules: what it says, in sentences. */
  readonly drift?: string
}

/** Holds the rules in force. */
export interface ModesStateHolder {
  state(): ModesState
  /**
   * Applies other rules and closes every circuit, except those of a rollout that is turned back and stays so. Returns a sentence if it
   * cannot.
   */
  change(rules: unknown, by: Actor): string | undefined
  /** The rules with the share in force in place of each rollout. */
  inForce(): ModeRules
  /** Chooses the mode of one request by the rules in force. */
  readonly select: Select
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
  /** What the configuration says. */
  let configured = initial
  const boot = randomBytes(6).toString('hex')
  const by: Actor = { source: 'start', ...(file !== undefined && { path: file }) }
  let state: ModesState = { rules: initial, version: 1, tag: `${boot}-1`, by, at: now() }
  const inForce = () => rollouts.inForce(state.rules)
  let select = createSelect(inForce())
  rollouts.onMove(() => {
    select = createSelect(inForce())
  })
  return {
    state: () => state,
    change(value, by) {
      const rules = readModeRules(value)
      if ('problem' in rules) return rules.problem
      if (!hasV1 && needV1(rules)) return NEEDS_V1
      const before = state
      if (by.source === 'file') configured = rules
      const drift = file === undefined ? undefined : driftOf({ configured, rules, file, by, subjects })
      const version = before.version + 1
      state = { rules, version, tag: `${boot}-${version}`, by, at: now(), ...(drift !== undefined && { drift }) }
      journal.note({ what: 'modes', by, ...changeOf(before, state, subjects), version })
      rollouts.change(rules, by)
      const closed = journal.circuit.close((operation) => !rollouts.needsOpen(operation))
      for (const operation of closed) {
        journal.note({ what: 'circuit-closed', text: 'the modes changed', operation, by, from: 'open', to: 'closed' })
      }
      select = createSelect(inForce())
      return undefined
    },
    inForce,
    select: (question) => select(question),
  }
}

/** Tells a change in a note. A file that replaces what somebody put says whose rules they were. */
function changeOf(before: ModesState, after: ModesState, subjects: boolean): { text: string; from: string; to: string } {
  const isLost = before.drift !== undefined && after.by.source === 'file'
  const replaced = isLost ? ` (it replaces what was put by ${describeActor(before.by)})` : ''
  const text = `${describeActor(after.by)}${replaced}: ${describeChange(before.rules, after.rules, subjects)}`
  return { text, from: describeRules(before.rules, subjects), to: describeRules(after.rules, subjects) }
}

interface Drift {
  readonly configured: ModeRules
  readonly rules: ModeRules
  readonly file: string
  readonly by: Actor
  readonly subjects: boolean
}

function driftOf({ configured, rules, file, by, subjects }: Drift): string | undefined {
  if (isDeepStrictEqual(configured, rules)) return undefined
  const said = describeRules(configured, subjects)
  return `The configuration (${file}) says: ${said}. Other rules were put by ${describeActor(by)}. A restart, or a change of the file, brings the former back.`
}

export const NEEDS_V1 = 'The modes need a v1 service: set upstream.v1 (CROSSWALK_UPSTREAM_V1), or let v2 answer everything.'
