import type { ModeRule, ModeRules } from '../../migrate/modes/rules.ts'
import { BY_V1, COMPARING, type Mode, SERVED_BY } from '../../serve/sides.ts'
import { type Effect, forMost } from './effect.ts'

/** Shares that a person raises an operation to, one after the other. */
const SHARES = [1, 5, 25, 50, 100] as const

/** Steps of a new rollout: each share is held for a time with traffic. */
const STEPS = [
  { percent: 1, hold: '1h' },
  { percent: 5, hold: '1h' },
  { percent: 25, hold: '6h' },
  { percent: 50, hold: '6h' },
  { percent: 100, hold: '24h' },
]

/** Returns the next larger share; undefined if all callers have it. */
export function nextShare(percent: number): number | undefined {
  return SHARES.find((share) => share > percent)
}

/** Gives a share of an operation's callers to v2, which is compared with v1. All other rules stay as they are. */
export function withShare(rules: ModeRules, operation: string, effect: Effect, percent: number): ModeRules {
  const base = { operations: operation, clients: '*', mode: 'diff-v2' as const }
  return withOwnRule(rules, effect, percent === 100 ? base : { ...base, mode: 'diff-v1', canary: { percent, mode: 'diff-v2' } })
}

/** Gives an operation another mode for the clients that no rule names. */
export function withMode(rules: ModeRules, operation: string, effect: Effect, mode: Mode): ModeRules {
  return withOwnRule(rules, effect, { operations: operation, clients: '*', mode })
}

/** Lets a new rollout raise the share of an operation by itself. */
export function withRollout(rules: ModeRules, operation: string, effect: Effect): ModeRules {
  const names = new Set(rules.rules.map(({ canary }) => canary?.rollout?.name))
  const tries = Array.from({ length: names.size + 1 }, (_, nth) => (nth === 0 ? operation : `${operation}-${nth + 1}`))
  const name = tries.find((one) => !names.has(one)) ?? operation
  const rollout = { name, target: 0.001, retries: 2, watch: '24h', steps: STEPS }
  return withOwnRule(rules, effect, { operations: operation, clients: '*', mode: 'diff-v1', canary: { mode: 'diff-v2', rollout } })
}

/** Lets v1 answer every client of an operation. What is compared now is compared further. */
export function backToV1(rules: ModeRules, operation: string, { rules: [first, ...others] }: Effect): ModeRules {
  const isCompared = [first, ...others].some(({ mode, share }) => COMPARING.has(mode) || (share && COMPARING.has(share.mode)))
  const own: ModeRule = { operations: operation, clients: '*', mode: isCompared ? 'diff-v1' : 'v1' }
  return inserted(rules, first.rule ?? rules.rules.length, own)
}

/** Lets v1 answer everything. What is compared now is compared further. Shares and rollouts end. */
export function allBackToV1({ default: byDefault, rules, testers }: ModeRules): ModeRules {
  return {
    default: BY_V1[byDefault],
    rules: rules.map(({ operations, clients, mode, canary }) => {
      return { operations, clients, mode: COMPARING.has(mode) || (canary && COMPARING.has(canary.mode)) ? 'diff-v1' : 'v1' }
    }),
    testers,
  }
}

/** True if v2 answers some client under these rules. */
export function usesV2({ default: byDefault, rules }: ModeRules): boolean {
  return [byDefault, ...rules.flatMap(({ mode, canary }) => [mode, canary?.mode ?? mode])].some((mode) => SERVED_BY[mode] === 'v2')
}

/** Puts a rule of one operation in the place of the rule that decides for most clients, or before it if that rule is for others too. */
function withOwnRule(rules: ModeRules, effect: Effect, own: ModeRule): ModeRules {
  return inserted(rules, forMost(effect).rule ?? rules.rules.length, own)
}

function inserted({ rules, ...rest }: ModeRules, at: number, own: ModeRule): ModeRules {
  const isSame = ({ operations, clients }: ModeRule) => [operations].flat().join() === own.operations && clients === '*'
  const before = rules.slice(0, at).filter((rule) => !isSame(rule))
  return { ...rest, rules: [...before, own, ...rules.slice(at).filter((rule) => !isSame(rule))] }
}
