import { askAgain } from '../../errors.ts'
import type { Rollouts } from '../rollout/rollouts.ts'
import { isV2Canary, type ModeRules } from './rules.ts'
import { createSelect, type Select } from './select.ts'

/** The rules as requests meet them: with the shares of rollouts. */
export interface RulesInForce {
  rules(): ModeRules
  /** Chooses the mode of one request. */
  readonly select: Select
  /** The round of rollouts to which a choice belongs; -1 while canaries are held, because their callers then tell nothing of a share. */
  round(): number
  /** Takes the rules anew. It ends `refuse`. */
  follow(): void
  /** Gives no canary an answer of v2 until it is called with false. */
  hold(isHeld: boolean): void
  /** Refuses every request until the rules are taken anew: nobody knows which are in force. */
  refuse(why: string): void
}

export function createRulesInForce(rollouts: Pick<Rollouts, 'inForce' | 'onMove' | 'round'>, given: () => ModeRules): RulesInForce {
  let isHeld = false
  let refusal: Select | undefined
  const rules = () => {
    const shared = rollouts.inForce(given())
    return isHeld ? withoutCanaries(shared) : shared
  }
  let select = createSelect(rules())
  const compile = () => {
    select = refusal ?? createSelect(rules())
  }
  rollouts.onMove(compile)
  return {
    rules,
    select: (question) => select(question),
    round: () => (isHeld ? -1 : rollouts.round()),
    follow() {
      refusal = undefined
      compile()
    },
    hold(held) {
      isHeld = held
      compile()
    },
    refuse(why) {
      refusal = () => {
        throw askAgain('UNAVAILABLE', why)
      }
      compile()
    },
  }
}

/** Returns the rules without the canaries that v2 answers: their callers get what all others get. */
function withoutCanaries({ rules, ...rest }: ModeRules): ModeRules {
  return { ...rest, rules: rules.map((rule) => (isV2Canary(rule) ? { ...rule, canary: undefined } : rule)) }
}
