import { type ModeRule, patternsOf } from './rules.ts'
import { fits } from './select.ts'

/** Returns the operations that the rule at this place may decide about. */
export function operationsOf(rules: readonly ModeRule[], at: number, operations: readonly string[]): readonly string[] {
  const patterns = rules[at]?.operations ?? []
  return operations.filter((operation) => fits(patterns, operation) && !isTaken(rules, at, operation))
}

/** True if earlier rules decide about the operation for every client of the rule. */
function isTaken(rules: readonly ModeRule[], at: number, operation: string): boolean {
  const rule = rules[at]
  return rule !== undefined && rules.slice(0, at).some((one) => fits(one.operations, operation) && takesClientsOf(one, rule))
}

/** True if the earlier rule covers every client of the later one. Whether two different patterns overlap is unknown. */
export function takesClientsOf(earlier: ModeRule, later: ModeRule): boolean {
  const taken = patternsOf(earlier.clients)
  return taken.includes('*') || patternsOf(later.clients).every((pattern) => taken.includes(pattern))
}
