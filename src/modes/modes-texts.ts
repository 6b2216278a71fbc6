import { isDeepStrictEqual } from 'node:util'
import { type Actor, describeActor } from '../diff/records/actor.ts'
import type { ModeRules } from './choose/rules.ts'
import { describeChange, describeRules } from './choose/rules-text.ts'

/** Rules and what put them there. */
interface PutRules {
  readonly rules: ModeRules
  readonly by: Actor
  readonly drift?: string
}

/** Tells a change in a note. A file that replaces what somebody put says whose rules they were. */
export function changeOf(before: PutRules, after: PutRules, subjects: boolean): { text: string; from: string; to: string } {
  const isLost = before.drift !== undefined && after.by.source === 'file'
  const replaced = isLost ? ` (it replaces what was put by ${describeActor(before.by)})` : ''
  const text = `${describeActor(after.by)}${replaced}: ${describeChange(before.rules, after.rules, subjects)}`
  return { text, from: describeRules(before.rules, subjects), to: describeRules(after.rules, subjects) }
}

interface Drift {
  /** What the configuration says. */
  readonly configured: ModeRules
  readonly rules: ModeRules
  /** The path of the configuration file. */
  readonly file: string
  readonly by: Actor
  /** Subjects of clients may be told. */
  readonly subjects: boolean
  /** Replicas share the rules, and a restart keeps them. */
  readonly isShared: boolean
}

/** Says in sentences that other rules are in force than the configuration says; undefined if they are the same. */
export function driftOf({ configured, rules, file, by, subjects, isShared }: Drift): string | undefined {
  if (isDeepStrictEqual(configured, rules)) return undefined
  const said = describeRules(configured, subjects)
  const end = isShared
    ? 'All replicas share those. A change of the file replaces them; a restart does not.'
    : 'A restart, or a change of the file, brings the former back.'
  return `The configuration (${file}) says: ${said}. Other rules were put by ${describeActor(by)}. ${end}`
}
