import { createHash } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { askAgain, invalidArgument } from '../../errors.ts'
import { entries } from '../../serve/bounds.ts'
import type { Identity } from '../../serve/request.ts'
import { BY_V1, isMode, isRead, MODE_HEADER, MODES, type Mode, SERVED_BY, type Side } from '../../serve/sides.ts'
import type { RawRequest } from '../../serve/upstream/v1.ts'
import { suggestion } from '../../tables/check.ts'
import { isObject } from '../../tables/json.ts'
import { covers, type Operation, type OperationKind } from '../../tables/operation.ts'
import { spellings } from '../../tables/query.ts'
import type { SeenAnswer } from '../compare/compare.ts'
import type { Caller } from '../records/record.ts'
import type { Rollouts } from '../rollout/rollouts.ts'
import { isV2Canary, type ModeRule, type ModeRules, ownerText, patternsOf } from './rules.ts'

/**
 * True if a caller belongs to the first `percent` of all callers. A caller's position follows from its hash alone (design §7).
 * It is therefore the same in every process and for every operation, and a larger share moves no caller back.
 */
export function isWithinShare(caller: string, percent: number): boolean {
  return placeOf(caller) < percent
}

const RANGE = 2 ** 32

/** Returns a caller's position among all callers, from 0 up to but not including 100. */
function placeOf(caller: string): number {
  const hash = /^[0-9a-f]{8}/.test(caller) ? Number.parseInt(caller.slice(0, 8), 16) : 0
  return (hash / RANGE) * 100
}

export type Positions = ReturnType<typeof createPositions>

/**
 * Tells what the circuit of an operation means for one request. `percent` is the share of the requests to compare while a circuit is open,
 * 0–100. Writes are not compared: v2 itself would have to answer them. `random` returns a number from 0 up to but not including 1.
 */
export function createPositions(given: {
  readonly isOpen: (id: string) => boolean
  readonly percent: () => number
  readonly random: () => number
}) {
  const { isOpen, percent, random } = given
  return (operation: Operation): CircuitPosition => {
    if (!isOpen(operation.id)) return 'closed'
    return isRead(operation) && 100 * random() < percent() ? 'probed' : 'open'
  }
}

/** What an open circuit means for one request: its canary gets no v2 (`open`), and it may be compared besides (`probed`). */
type CircuitPosition = 'closed' | 'open' | 'probed'

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
  return (operation, client) => {
    let fitting = known.get(operation)
    if (!fitting) {
      fitting = rules.filter(({ operations }) => fits(operations, operation))
      known.set(operation, fitting)
    }
    return fitting.find(({ clients }) => isClient(clients, client))
  }
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
function fits(patterns: string | readonly string[], text: string): boolean {
  return patternsOf(patterns).some((pattern) => covers(pattern, text))
}

/** Returns the page token that continues a list that v1 itself paged by token (facts §10.2). Only the side that issued it can read it. */
export function pageTokenOf({ paging }: Operation, url: string): string | undefined {
  if (paging === undefined) return undefined
  const names = spellings(paging.parameter)
  const found = pairsOf(url).find(([name, value]) => names.includes(name) && value !== '')
  const token = found?.[1]
  if (token === undefined) return undefined
  try {
    return decodeURIComponent(token)
  } catch {
    return token
  }
}

/** Returns a request target with another page token. */
export function withPageToken({ paging }: Operation, url: string, token: string): string {
  const names = paging ? spellings(paging.parameter) : []
  const pairs = pairsOf(url).map(([name, value, text]) =>
    names.includes(name) && value !== '' ? `${name}=${encodeURIComponent(token)}` : text,
  )
  return pairs.length === 0 ? url : `${url.slice(0, url.indexOf('?'))}?${pairs.join('&')}`
}

/** The parameters of a request target without its page token: they are the same in all requests for the pages of one list. */
function withoutPageToken({ paging }: Operation, url: string): string {
  const names = paging ? spellings(paging.parameter) : []
  return pairsOf(url)
    .flatMap(([name, , text]) => (names.includes(name) ? [] : [text]))
    .join('&')
}

/** The parameters of a request target as they are written: name, value, and both. */
function pairsOf(url: string): readonly (readonly [name: string, value: string, text: string])[] {
  const at = url.indexOf('?')
  if (at < 0) return []
  return url
    .slice(at + 1)
    .split('&')
    .map((text) => {
      const [name = '', ...value] = text.split('=')
      return [name, value.join('='), text]
    })
}

/** Returns the token for the next page in a side's answer. */
export function nextTokenOf({ paging }: Operation, { body }: SeenAnswer): string | undefined {
  const names = paging ? spellings(paging.member) : []
  if (body.kind !== 'json' || !isObject(body.value)) return undefined
  const { value } = body
  return names.map((name) => value[name]).find((token): token is string => typeof token === 'string' && token !== '')
}

/** True if a request continues a list by a page token, or may: the parameters of a form are not in its target. */
export function continuesList(operation: Operation, { url, body }: Pick<RawRequest, 'url' | 'body'>): boolean {
  return operation.paging !== undefined && (body !== undefined || pageTokenOf(operation, url) !== undefined)
}

/** Lists, and callers, for which the side that issued the last page token is remembered. */
const PAGED = 10_000

export type PagingSides = ReturnType<typeof createPagingSides>

/** Knows the side that gave a caller the last page of a list that is read page by page. */
export function createPagingSides() {
  const sides = new LRUCache<string, Side>(entries(PAGED))
  // A caller may read several lists at once, which differ in their other parameters. One that changes these meanwhile is known by its last page.
  const keysOf = (operation: Operation, url: string, caller: string) => {
    const last = `${caller} ${operation.id}`
    return [`${last} ${createHash('sha256').update(withoutPageToken(operation, url)).digest('base64')}`, last]
  }
  return {
    /** Remembers the side that gave a page of such a list. */
    note(side: Side, operation: Operation, url: string, caller: string): void {
      for (const key of keysOf(operation, url, caller)) sides.set(key, side)
    },
    /** Keeps a list on the side that began it, even if the rules change meanwhile; otherwise returns the mode. */
    stay(mode: Mode, operation: Operation, url: string, caller: string): Mode {
      if (pageTokenOf(operation, url) === undefined) return mode
      const side = keysOf(operation, url, caller)
        .map((key) => sides.get(key))
        .find((one) => one !== undefined)
      return side !== undefined && side !== SERVED_BY[mode] ? side : mode
    },
  }
}

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
function takesClientsOf(earlier: ModeRule, later: ModeRule): boolean {
  const taken = patternsOf(earlier.clients)
  return taken.includes('*') || patternsOf(later.clients).every((pattern) => taken.includes(pattern))
}

/** Canaries of one operation that a sentence names. */
const MOST_OWNERS = 3

/** Names what gives v2 an operation: its canaries, or the first rule that fits it. A circuit tells it, also once other rules are in force. */
export function ownerOf({ rules }: ModeRules, operation: string): string {
  const fitting = rules.filter(({ operations }) => fits(operations, operation))
  const canaries = fitting.filter(isV2Canary)
  const owners = canaries.length > 0 ? canaries.slice(0, MOST_OWNERS) : fitting.slice(0, 1)
  return owners.length === 0 ? 'the default mode' : owners.map(ownerText).join(' and ')
}

/** What rules are held against. */
export interface KnownToRules {
  readonly operations: readonly { readonly id: string; readonly kind: OperationKind }[]
  /** The clients seen so far; none if they are not all known. */
  readonly callers: () => readonly Caller[]
}

/** Bounds of the work, because requests wait for it. */
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
    warnings.push(...[...said, ...unseenIn(rule.clients, seen)].map((text) => `${nameOf(placed)} ${text}`))
  }
  return [...warnings, ...unseenIn(testers, seen).map((text) => `modes.testers ${text}`)]
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

function unseenIn(clients: string | readonly string[], seen: () => ReadonlySet<string>): readonly string[] {
  const hashes = [...patternsOf(clients).entries()].filter(([, pattern]) => HASH.test(pattern))
  if (hashes.length === 0 || seen().size === 0) return []
  const stray = hashes.filter(([, hash]) => !seen().has(hash)).map(([at]) => at + 1)
  if (stray.length === 0) return []
  const which = stray.length === 1 ? `number ${stray[0]}` : `numbers ${stray.slice(0, MOST_WARNINGS).join(', ')}`
  return [
    `names ${stray.length === 1 ? 'a client' : 'clients'} that sent nothing so far (${which}); crosswalk clients lists those that did.`,
  ]
}

export type RulesInForce = ReturnType<typeof createRulesInForce>

/** The rules as requests meet them: with the shares of rollouts. */
export function createRulesInForce(rollouts: Pick<Rollouts, 'inForce' | 'onMove' | 'round'>, given: () => ModeRules) {
  let isHeld = false
  let refusal: Select | undefined
  const listeners: ((rules: ModeRules) => void)[] = []
  const rules = () => {
    const shared = rollouts.inForce(given())
    return isHeld ? withoutCanaries(shared) : shared
  }
  const compile = () => {
    const now = rules()
    inForce.select = refusal ?? createSelect(now)
    inForce.round = isHeld ? -1 : rollouts.round()
    for (const listener of listeners) listener(now)
  }
  const inForce = {
    rules,
    /** Chooses the mode of one request. It and the round change with the rules, because every request asks for them. */
    select: createSelect(rules()),
    /** The round of rollouts to which a choice belongs; -1 while canaries are held, because their callers then tell nothing of a share. */
    round: rollouts.round(),
    /** Calls a listener with the rules now, and whenever they or their shares may be others. */
    onRules(listener: (rules: ModeRules) => void): void {
      listeners.push(listener)
      listener(rules())
    },
    /** Takes the rules anew. It ends `refuse`. */
    follow(): void {
      refusal = undefined
      compile()
    },
    /** Gives no canary an answer of v2 until it is called with false. */
    hold(held: boolean): void {
      isHeld = held
      compile()
    },
    /** Refuses every request until the rules are taken anew: nobody knows which are in force. */
    refuse(why: string): void {
      refusal = () => {
        throw askAgain('UNAVAILABLE', why)
      }
      compile()
    },
  }
  rollouts.onMove(compile)
  return inForce
}

/** Returns the rules without the canaries that v2 answers: their callers get what all others get. */
function withoutCanaries({ rules, ...rest }: ModeRules): ModeRules {
  return { ...rest, rules: rules.map((rule) => (isV2Canary(rule) ? { ...rule, canary: undefined } : rule)) }
}

/** The mode of an operation for every client that no rule names. */
export interface OperationMode {
  readonly operation: string
  readonly mode: Mode
  /** A share of these clients, 0–100, gets another mode. */
  readonly canary?: { readonly mode: Mode; readonly percent: number }
}

/** Returns the modes of operations, with the shares in force: that of an operation with an open circuit is 0. `isV1First` as in `Question`. */
export function operationModes(
  { default: byDefault, rules }: ModeRules,
  operations: readonly { readonly id: string; readonly isV1First: boolean }[],
  isOpen: (operation: string) => boolean,
): readonly OperationMode[] {
  const forAll = rules.filter(({ clients }) => patternsOf(clients).includes('*'))
  return operations.map(({ id: operation, isV1First }) => {
    const rule = forAll.find((one) => fits(one.operations, operation))
    if (!rule) return { operation, mode: isV1First ? BY_V1[byDefault] : byDefault }
    const { mode, canary } = rule
    if (canary?.percent === undefined) return { operation, mode }
    const percent = isV2Canary(rule) && isOpen(operation) ? 0 : canary.percent
    return { operation, mode, canary: { mode: canary.mode, percent } }
  })
}
