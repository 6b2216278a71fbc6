import type { Migration } from '../migrate/migration.ts'
import { type KnownToRules, ruleWarnings } from '../migrate/modes/select.ts'

/** Returns a reader of what is wrong with the rules in force. */
export function ruleWarningsOf(
  { modes, report }: Pick<Migration, 'modes' | 'report'>,
  operations: KnownToRules['operations'],
): () => readonly string[] {
  // Beyond a number, clients are not told apart, and nothing is known of those that are missing.
  const callers = () => (report.evidence().uncounted > 0 ? [] : report.clients())
  return () => ruleWarnings(modes.state().rules, { operations, callers })
}
