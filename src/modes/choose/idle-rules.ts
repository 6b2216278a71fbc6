import { type ModeRule, type ModeRules, patternsOf } from './rules.ts'
import { fits } from './select.ts'

/** Returns a sentence for every rule without effect: it fits no operation, or earlier rules cover all that it fits. */
export function idleRules({ rules }: ModeRules, operations: readonly string[]): readonly string[] {
  return rules.flatMap((rule, at) => {
    const fitting = operations.filter((operation) => fits(rule.operations, operation))
    const name = `modes.rules.${at} (${patternsOf(rule.operations).join(', ')})`
    if (fitting.length === 0) return `${name} fits no operation; crosswalk operations lists them.`
    const before = rules.slice(0, at).filter((earlier) => takesClientsOf(earlier, rule))
    const isTaken = fitting.every((operation) => before.some((earlier) => fits(earlier.operations, operation)))
    return isTaken ? `${name} is never reached: a rule before it fits the same requests, and the first that fits wins.` : []
  })
}

/** True if the earlier rule covers every client of the later one. Whether two different patterns overlap is unknown. */
function takesClientsOf(earlier: ModeRule, later: ModeRule): boolean {
  const taken = patternsOf(earlier.clients)
  return taken.includes('*') || patternsOf(later.clients).every((pattern) => taken.includes(pattern))
}
