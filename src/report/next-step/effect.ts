import type { ModeRule } from '../../migrate/modes/rules.ts'
import type { RolloutStatus } from '../../migrate/rollout/machine.ts'
import { BY_V1, type Mode, SERVED_BY } from '../../serve/sides.ts'
import { covers } from '../../tables/operation.ts'
import type { InForce } from '../in-force.ts'

/** What one rule does to an operation. */
export interface RuleEffect {
  /** Its place among the rules; absent for the default. */
  readonly rule?: number
  /** False: the rule is for some clients alone. */
  readonly allClients: boolean
  readonly mode: Mode
  readonly share?: ShareInForce
}

/** A share of the callers gets another mode. */
export interface ShareInForce {
  /** Share in force, 0–100: 0 while the circuit is open. */
  readonly percent: number
  /** Share that the rule or its rollout asks for. */
  readonly wanted: number
  readonly mode: Mode
  readonly rollout?: RolloutStatus
}

/** What is in force for one operation. */
export interface Effect {
  /** Rules for some clients first. The last one is for all others. */
  readonly rules: readonly [...RuleEffect[], RuleEffect]
  /** Why its circuit is open, if it is. */
  readonly circuit?: string
}

/** Returns what is in force for an operation. The first rule that fits decides, as for a request. */
export function effectOn(operation: string, now: InForce): Effect {
  const circuit = now.circuits[operation]
  const open = circuit === undefined ? {} : { circuit }
  if (!now.hasV1) return { rules: [{ allClients: true, mode: 'v2' }], ...open }
  const fitting = now.rules.rules.flatMap((rule, at) =>
    fits(rule, operation) ? [effectOf(rule, at, { ...now, isOpen: circuit !== undefined })] : [],
  )
  const forSome = fitting.slice(0, fitting.findIndex(({ allClients }) => allClients) + 1 || fitting.length)
  const last = forSome.at(-1)
  if (last?.allClients) return { rules: [...forSome.slice(0, -1), last], ...open }
  const mode = now.v1First.includes(operation) ? BY_V1[now.rules.default] : now.rules.default
  return { rules: [...forSome, { allClients: true, mode }], ...open }
}

/** What is in force for the clients that no rule names. */
export function forMost({ rules }: Effect): RuleEffect {
  return rules.at(-1) ?? rules[0]
}

function fits({ operations }: ModeRule, operation: string): boolean {
  return [operations].flat().some((pattern) => covers(pattern, operation))
}

interface Circumstances extends Pick<InForce, 'rollouts'> {
  readonly isOpen: boolean
}

function effectOf({ clients, mode, canary }: ModeRule, rule: number, { rollouts, isOpen }: Circumstances): RuleEffect {
  const allClients = [clients].flat().includes('*')
  if (!canary) return { rule, allClients, mode }
  const rollout = rollouts.find(({ name }) => name === canary.rollout?.name)
  const wanted = canary.percent ?? rollout?.percent ?? 0
  const isHeld = isOpen && SERVED_BY[canary.mode] === 'v2' && SERVED_BY[mode] === 'v1'
  return { rule, allClients, mode, share: { percent: isHeld ? 0 : wanted, wanted, mode: canary.mode, ...(rollout && { rollout }) } }
}
