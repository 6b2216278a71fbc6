import { invalidArgument } from '../../errors.ts'
import type { Identity } from '../../serve/caller.ts'
import { BY_V1, isMode, MODE_HEADER, MODES, type Mode } from '../../serve/sides.ts'
import { covers } from '../../tables/operation.ts'
import { isV2Canary, type ModeRule, type ModeRules, patternsOf } from './rules.ts'
import { isWithinShare } from './share.ts'

/** What an open circuit means for one request: its canary gets no v2 (`open`), and it may be compared besides (`probed`). */
export type CircuitPosition = 'closed' | 'open' | 'probed'

export interface Question extends Identity {
  /** Operation id. */
  readonly operation: string
  /** The value of `x-crosswalk-mode`, if any. It has an effect for testers only. */
  readonly wish?: string | undefined
  /** v1 answers if no rule fits, because v2 can only emulate this operation. */
  readonly isV1First?: boolean
  readonly circuit: CircuitPosition
}

/** Returns the mode of one request. Throws INVALID_ARGUMENT if a tester's header names no mode. */
export type Select = (question: Question) => Mode

/** Returns the first rule that fits an operation and its client. */
export type RuleOf = (operation: string, client: Identity) => ModeRule | undefined

/** Compiles the rules. Each operation is matched once. */
export function createRuleOf(rules: readonly ModeRule[]): RuleOf {
  const known = new Map<string, readonly ModeRule[]>()
  const rulesFor = (operation: string) => {
    const found = known.get(operation) ?? rules.filter(({ operations }) => fits(operations, operation))
    known.set(operation, found)
    return found
  }
  return (operation, client) => rulesFor(operation).find(({ clients }) => isClient(clients, client))
}

export function createSelect({ default: byDefault, rules, testers }: ModeRules): Select {
  const ruleOf = createRuleOf(rules)
  return (question) => {
    if (question.wish !== undefined && isClient(testers, question)) return wished(question.wish)
    const rule = ruleOf(question.operation, question)
    if (rule) return modeOf(rule, question)
    return question.isV1First ? BY_V1[byDefault] : byDefault
  }
}

function modeOf(rule: ModeRule, { caller, circuit }: Question): Mode {
  const { mode, canary } = rule
  // v1 answers the clients of a probe, so that no client meets a v2 that is still wrong.
  if (circuit !== 'closed' && isV2Canary(rule)) return circuit === 'probed' ? 'diff-v1' : mode
  return canary?.percent !== undefined && isWithinShare(caller, canary.percent) ? canary.mode : mode
}

function wished(wish: string): Mode {
  if (isMode(wish)) return wish
  throw invalidArgument({ field: MODE_HEADER, description: `must be one of ${MODES.join(', ')}` })
}

function isClient(patterns: string | readonly string[], { caller, subject }: Identity): boolean {
  return fits(patterns, caller) || (subject !== undefined && fits(patterns, subject))
}

/** True if one of the patterns covers the text. */
export function fits(patterns: string | readonly string[], text: string): boolean {
  return patternsOf(patterns).some((pattern) => covers(pattern, text))
}
