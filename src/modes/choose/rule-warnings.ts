import type { Caller } from '../../diff/records/record.ts'
import { nearest } from '../../tables/nearest.ts'
import type { OperationKind } from '../../tables/operations/operation.ts'
import { operationsOf, takesClientsOf } from './reach.ts'
import { type ModeRule, type ModeRules, patternsOf } from './rules.ts'
import { fits } from './select.ts'

/** What rules are held against. */
export interface KnownToRules {
  readonly operations: readonly { readonly id: string; readonly kind: OperationKind }[]
  /** The clients seen so far; none if they are not all known. */
  readonly callers: () => readonly Caller[]
}

/** Returns a sentence for everything in the rules that has no effect, or another one than it seems. No sentence names a client. */
export function ruleWarnings({ rules, testers }: ModeRules, known: KnownToRules): readonly string[] {
  const ofRules = rules.flatMap((rule, at) => {
    const name = nameOf(rule, at)
    const idle = whyIdle(rules, at, known)
    const said = idle === undefined ? [...strayPatterns(rule, known), ...wrongCanary(rule, rules.slice(0, at), known)] : [idle]
    return [...said, ...strangers(rule.clients, known)].map((text) => `${name} ${text}`)
  })
  return [...ofRules, ...strangers(testers, known).map((text) => `modes.testers ${text}`)]
}

function nameOf({ operations }: ModeRule, at: number): string {
  return `modes.rules.${at} (${patternsOf(operations).join(', ')})`
}

function fitting({ operations }: ModeRule, known: KnownToRules): KnownToRules['operations'] {
  return known.operations.filter(({ id }) => fits(operations, id))
}

/** Returns why no request meets the rule at this place. */
function whyIdle(rules: readonly ModeRule[], at: number, known: KnownToRules): string | undefined {
  const rule = rules[at] as ModeRule
  const fit = fitting(rule, known)
  if (fit.length === 0) return `fits no operation; ${adviceFor(patternsOf(rule.operations), known)}`
  if (fit.every(({ kind }) => kind === 'v1-only'))
    return 'fits only operations that v2 does not have: v1 answers them whatever the modes are.'
  const ids = fit.map(({ id }) => id)
  if (operationsOf(rules, at, ids).length > 0) return undefined
  return 'is never reached: a rule before it fits the same requests, and the first that fits wins.'
}

function strayPatterns({ operations }: ModeRule, known: KnownToRules): readonly string[] {
  const stray = patternsOf(operations).filter((pattern) => !known.operations.some(({ id }) => fits(pattern, id)))
  return stray.map((pattern) => `has the pattern ${pattern}, which fits no operation; ${adviceFor([pattern], known)}`)
}

function adviceFor(patterns: readonly string[], { operations }: KnownToRules): string {
  const ids = operations.map(({ id }) => id)
  const near = patterns.length === 1 && patterns[0] !== undefined ? nearest(patterns[0], ids) : undefined
  return near === undefined ? 'crosswalk operations lists them.' : `did you mean ${near}?`
}

/** A canary has an effect only if its mode differs. Circuits are those of operations, so that two canaries of one share theirs. */
function wrongCanary(rule: ModeRule, before: readonly ModeRule[], known: KnownToRules): readonly string[] {
  const { canary, mode } = rule
  if (!canary) return []
  if (canary.mode === mode) return [`has a canary with the mode of the rule itself, ${mode}: its share changes nothing.`]
  const ids = fitting(rule, known).map(({ id }) => id)
  const at = before.findIndex(
    (earlier) => earlier.canary && ids.some((id) => fits(earlier.operations, id)) && !takesClientsOf(earlier, rule),
  )
  return at < 0 ? [] : [`has a canary for operations of which modes.rules.${at} has one too: a circuit that opens stops both.`]
}

/** The hash of a caller. Anything else may be a subject, which is known only with `records.subjects`. */
const HASH = /^[\da-f]{16}$/

function strangers(clients: string | readonly string[], { callers }: KnownToRules): readonly string[] {
  const hashes = [...patternsOf(clients).entries()].filter(([, pattern]) => HASH.test(pattern))
  const seen = hashes.length === 0 ? [] : callers()
  if (seen.length === 0) return []
  const stray = hashes.filter(([, hash]) => !seen.some(({ caller }) => caller === hash)).map(([at]) => at + 1)
  if (stray.length === 0) return []
  const which = stray.length === 1 ? `number ${stray[0]}` : `numbers ${stray.join(', ')}`
  return [
    `names ${stray.length === 1 ? 'a client' : 'clients'} that sent nothing so far (${which}); crosswalk clients lists those that did.`,
  ]
}
