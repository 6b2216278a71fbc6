import type { Caller } from '../../diff/records/record.ts'
import { suggestion } from '../../tables/check.ts'
import type { OperationKind } from '../../tables/operation.ts'
import { takesClientsOf } from './reach.ts'
import { type ModeRule, type ModeRules, patternsOf } from './rules.ts'
import { fits } from './select.ts'

/** What rules are held against. */
export interface KnownToRules {
  readonly operations: readonly { readonly id: string; readonly kind: OperationKind }[]
  /** The clients seen so far; none if they are not all known. */
  readonly callers: () => readonly Caller[]
}

/** Bounds of the work, because requests wait for it. Nobody reads more. */
const MOST_PATTERNS = 1000
const MOST_WARNINGS = 20
const LONGEST_NAME = 100

/** A rule with the operations that it fits. */
interface Placed {
  readonly rule: ModeRule
  readonly at: number
  readonly ids: ReadonlySet<string>
}

/** Returns a sentence for everything in the rules that has no effect, or another one than it seems. No sentence names a client. */
export function ruleWarnings({ rules, testers }: ModeRules, known: KnownToRules): readonly string[] {
  const patterns = rules.reduce((sum, { operations }) => sum + patternsOf(operations).length, 0)
  if (patterns > MOST_PATTERNS) return [`modes.rules have ${patterns} patterns of operations: more than ${MOST_PATTERNS} are not checked.`]
  const seen = seenClients(known)
  const warnings: string[] = []
  /** The rules that decide about something. */
  const reached: Placed[] = []
  for (const [at, rule] of rules.entries()) {
    if (warnings.length >= MOST_WARNINGS) return [...warnings.slice(0, MOST_WARNINGS), `modes.rules from ${at} on are not checked yet.`]
    const placed = { rule, at, ids: new Set(known.operations.flatMap(({ id }) => (fits(rule.operations, id) ? id : []))) }
    const idle = whyIdle(placed, reached, known)
    const said = idle === undefined ? [...strayPatterns(rule, known), ...wrongCanary(placed, reached)] : [idle]
    if (idle === undefined) reached.push(placed)
    warnings.push(...[...said, ...strangers(rule.clients, seen)].map((text) => `${nameOf(placed)} ${text}`))
  }
  return [...warnings, ...strangers(testers, seen).map((text) => `modes.testers ${text}`)]
}

function nameOf({ rule, at }: Placed): string {
  const patterns = patternsOf(rule.operations).join(', ')
  return `modes.rules.${at} (${patterns.length > LONGEST_NAME ? `${patterns.slice(0, LONGEST_NAME)}…` : patterns})`
}

/** Returns why no request meets the rule. */
function whyIdle({ rule, ids }: Placed, before: readonly Placed[], known: KnownToRules): string | undefined {
  if (ids.size === 0) return `fits no operation; ${adviceFor(patternsOf(rule.operations), known)}`
  if (known.operations.every(({ id, kind }) => kind === 'v1-only' || !ids.has(id))) {
    return 'fits only operations that v2 does not have: v1 answers them whatever the modes are.'
  }
  const takers = before.filter((earlier) => takesClientsOf(earlier.rule, rule))
  const isTaken = [...ids].every((id) => takers.some((earlier) => earlier.ids.has(id)))
  return isTaken ? 'is never reached: a rule before it fits the same requests, and the first that fits wins.' : undefined
}

function strayPatterns({ operations }: ModeRule, known: KnownToRules): readonly string[] {
  const stray = patternsOf(operations).filter((pattern) => !known.operations.some(({ id }) => fits(pattern, id)))
  return stray.slice(0, MOST_WARNINGS).map((pattern) => {
    return `has the pattern ${pattern.slice(0, LONGEST_NAME)}, which fits no operation; ${adviceFor([pattern], known)}`
  })
}

function adviceFor([pattern = '', ...others]: readonly string[], { operations }: KnownToRules): string {
  const ids = operations.map(({ id }) => id)
  return suggestion(pattern, others.length === 0 && pattern.length <= LONGEST_NAME ? ids : [], 'crosswalk operations lists them.')
}

/** A canary has an effect only if its mode differs. Circuits are those of operations, so that two canaries of one share theirs. */
function wrongCanary({ rule, ids }: Placed, before: readonly Placed[]): readonly string[] {
  const { canary, mode } = rule
  if (!canary) return []
  if (canary.mode === mode) return [`has a canary with the mode of the rule itself, ${mode}: its share changes nothing.`]
  const shares = (earlier: Placed) => earlier.rule.canary !== undefined && !takesClientsOf(earlier.rule, rule)
  const other = before.find((earlier) => shares(earlier) && [...ids].some((id) => earlier.ids.has(id)))
  return other ? [`has a canary for operations of which modes.rules.${other.at} has one too: a circuit that opens stops both.`] : []
}

/** The hash of a caller. Anything else may be a subject, which is known only with `records.subjects`. */
const HASH = /^[\da-f]{16}$/

/** Returns a reader of the hashes of the clients seen so far. They are gathered once, and only if a rule names one. */
function seenClients({ callers }: KnownToRules): () => ReadonlySet<string> {
  let seen: ReadonlySet<string> | undefined
  return () => {
    seen ??= new Set(callers().map(({ caller }) => caller))
    return seen
  }
}

function strangers(clients: string | readonly string[], seen: () => ReadonlySet<string>): readonly string[] {
  const hashes = [...patternsOf(clients).entries()].filter(([, pattern]) => HASH.test(pattern))
  if (hashes.length === 0 || seen().size === 0) return []
  const stray = hashes.filter(([, hash]) => !seen().has(hash)).map(([at]) => at + 1)
  if (stray.length === 0) return []
  const which = stray.length === 1 ? `number ${stray[0]}` : `numbers ${stray.slice(0, MOST_WARNINGS).join(', ')}`
  return [
    `names ${stray.length === 1 ? 'a client' : 'clients'} that sent nothing so far (${which}); crosswalk clients lists those that did.`,
  ]
}
