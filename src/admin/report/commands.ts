import type { ModeRule, ModeRules } from '../../migrate/modes/rules.ts'
import type { RolloutStatus } from '../../migrate/rollout/machine.ts'
import { BY_V1, COMPARING, type Mode, SERVED_BY } from '../../serve/sides.ts'
import { shellQuoted } from '../../tables/check.ts'
import { covers } from '../../tables/operation.ts'
import { DIFFERENCE_KINDS } from '../../tables/signs.ts'
import type { Difference } from './difference.ts'
import type { InForce } from './history.ts'

/** How the admin port is reached: the address that the page was opened by, and whether the port asks for a token. */
export interface AdminAddress {
  /** `http://127.0.0.1:8081` */
  readonly origin: string
  readonly hasToken: boolean
}

/** Returns the command that puts other rules in force, unless somebody else changed those with this tag since. */
export function putModes(admin: AdminAddress, { rules, tag }: { readonly rules: ModeRules; readonly tag: string }): string {
  const options = [
    ...authorization(admin),
    `-H 'Content-Type: application/json'`,
    `-H 'If-Match: "${tag}"'`,
    `-d ${shellQuoted(rulesText(rules))}`,
  ]
  return [`curl -sS --fail-with-body -X PUT ${word(`${admin.origin}/modes`)}`, ...options].join(' \\\n  ')
}

/** Returns the command that steers a rollout. */
export function postRollout(admin: AdminAddress, name: string, command: string): string {
  const url = word(`${admin.origin}/rollouts/${encodeURIComponent(name)}/${command}`)
  return [`curl -sS --fail-with-body -X POST ${url}`, ...authorization(admin)].join(' \\\n  ')
}

/** Returns a command of Crosswalk that asks this admin port. It reads the token from its environment. */
export function askCrosswalk({ origin, hasToken }: AdminAddress, words: readonly string[]): string {
  const token = hasToken ? 'CROSSWALK_ADMIN_TOKEN="$ADMIN_TOKEN" ' : ''
  return `${token}crosswalk ${[...words, '--admin', origin].map(word).join(' ')}`
}

/** Returns the rules as JSON with one line for each rule, without what they say by default. */
function rulesText({ default: byDefault, rules, testers }: ModeRules): string {
  if (rules.length === 0 && testers.length === 0) return JSON.stringify({ default: byDefault })
  const lines = rules.map(({ operations, clients, ...rest }) => {
    return `    ${JSON.stringify({ operations, ...(clients !== '*' && { clients }), ...rest })}`
  })
  const members = [
    `  "default": ${JSON.stringify(byDefault)}`,
    ...(lines.length > 0 ? [`  "rules": [\n${lines.join(',\n')}\n  ]`] : []),
    ...(testers.length > 0 ? [`  "testers": ${JSON.stringify(testers)}`] : []),
  ]
  return `{\n${members.join(',\n')}\n}`
}

function authorization({ hasToken }: AdminAddress): readonly string[] {
  return hasToken ? ['-H "Authorization: Bearer $ADMIN_TOKEN"'] : []
}

/** Returns a word of a command, quoted if a shell would read more than its letters. */
export function word(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : shellQuoted(text)
}

/** What one rule does to an operation. */
interface RuleEffect {
  /** Its place among the rules; absent for the default. */
  readonly rule?: number
  /** False: the rule is for some clients alone. */
  readonly allClients: boolean
  readonly mode: Mode
  /** A share of the callers gets another mode. */
  readonly share?: {
    /** Share in force, 0–100: 0 while the circuit is open. */
    readonly percent: number
    /** Share that the rule or its rollout asks for. */
    readonly wanted: number
    readonly mode: Mode
    readonly rollout?: RolloutStatus
  }
}

/** What is in force for one operation. */
export interface Effect {
  /** Rules for some clients first. The last one is for all others. */
  readonly rules: readonly [...RuleEffect[], RuleEffect]
  /** Why its circuit is open, if it is. */
  readonly circuit?: string
}

/** Returns what is in force for an operation. The first rule that fits decides, as for a request. */
export function effectOn(operation: string, now: Pick<InForce, 'rules' | 'rollouts' | 'circuits' | 'v1First' | 'hasV1'>): Effect {
  const circuit = now.circuits[operation]
  const open = circuit === undefined ? {} : { circuit }
  if (!now.hasV1) return { rules: [{ allClients: true, mode: 'v2' }], ...open }
  const fitting = now.rules.rules.flatMap((rule, at) => {
    const fits = [rule.operations].flat().some((pattern) => covers(pattern, operation))
    return fits ? [effectOf(rule, at, now.rollouts, circuit !== undefined)] : []
  })
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

/** The mode of those clients. A share of all of them leaves none to the mode of its rule. */
export function modeForMost(effect: Effect): Mode {
  const { mode, share } = forMost(effect)
  return share?.percent === 100 ? share.mode : mode
}

function effectOf({ clients, mode, canary }: ModeRule, rule: number, rollouts: InForce['rollouts'], isOpen: boolean): RuleEffect {
  const allClients = [clients].flat().includes('*')
  if (!canary) return { rule, allClients, mode }
  const rollout = rollouts.find(({ name }) => name === canary.rollout?.name)
  const wanted = canary.percent ?? rollout?.percent ?? 0
  const isHeld = isOpen && SERVED_BY[canary.mode] === 'v2' && SERVED_BY[mode] === 'v1'
  return { rule, allClients, mode, share: { percent: isHeld ? 0 : wanted, wanted, mode: canary.mode, ...(rollout && { rollout }) } }
}

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

/** Gives a share of an operation's callers to v2, which is compared with v1. All other rules stay as they are, and so does its guardrail. */
export function withShare(rules: ModeRules, operation: string, effect: Effect, percent: number): ModeRules {
  const base = { operations: operation, clients: '*', mode: 'diff-v2' as const }
  const canary = { ...guardrailOf(rules, effect), percent, mode: 'diff-v2' as const }
  return withOwnRule(rules, effect, percent === 100 ? base : { ...base, mode: 'diff-v1', canary })
}

/** The canary of the rule that decides for most clients. */
function canaryOf({ rules }: ModeRules, effect: Effect): ModeRule['canary'] {
  return rules[forMost(effect).rule ?? rules.length]?.canary
}

function guardrailOf(rules: ModeRules, effect: Effect): Pick<NonNullable<ModeRule['canary']>, 'guardrail'> {
  const { guardrail } = canaryOf(rules, effect) ?? {}
  return guardrail ? { guardrail } : {}
}

/** Compares an operation for the clients that no rule names. The same side answers each of them as before. */
export function withComparison(rules: ModeRules, operation: string, effect: Effect): ModeRules {
  const canary = canaryOf(rules, effect)
  const own = { operations: operation, clients: '*', mode: compared(forMost(effect).mode) }
  return withOwnRule(rules, effect, canary ? { ...own, canary: { ...canary, mode: compared(canary.mode) } } : own)
}

/** The same mode with the other side asked, too. */
export function compared(mode: Mode): Mode {
  return `diff-${SERVED_BY[mode]}`
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
  const canary = { ...guardrailOf(rules, effect), mode: 'diff-v2' as const, rollout }
  return withOwnRule(rules, effect, { operations: operation, clients: '*', mode: 'diff-v1', canary })
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

/** Days for which a suggested rule holds. */
const DAYS = 90

/** True if the difference can be declared: it counts as wrong, and has a place. Other kinds say that there was nothing to compare. */
export function isDeclarable({ kind, state }: Difference): boolean {
  return DIFFERENCE_KINDS.some((one) => one === kind) && (state === 'unexplained' || state === 'transient')
}

/** Returns a rule of `diff.ignore` for a configuration file: the difference is accepted until a date, without a build. */
export function ignoreText(operation: string, { where, kind, examples }: Difference, now: number): string {
  const [example] = examples
  const place = kind === 'status' ? { at: '', v1: example?.v1, v2: example?.v2 } : { at: where, kinds: [kind] }
  const until = new Date(now + DAYS * 86_400_000).toISOString().slice(0, 10)
  const rule = { operations: operation, ...place, reason: 'Say why clients can accept it.', until }
  return JSON.stringify({ diff: { ignore: [rule] } }, null, 2)
}

/** Returns a row of `mappings/differences.ts`: the difference belongs to what v2 is. */
export function declarationText(operation: string, { where, kind, examples }: Difference): string {
  const [example] = examples
  const place = kind === 'status' ? '' : where
  const words = `${operation} ${place || 'status'}`.toLowerCase().match(/[a-z0-9]+/g)
  const code = words?.join('-') ?? 'difference'
  const values = kind === 'status' ? `, v1: ${JSON.stringify(example?.v1)}, v2: ${JSON.stringify(example?.v2)}` : ''
  return `{
  code: '${code}',
  operations: ['${operation}'],
  seen: 'Say what a client sees.',
  because: 'Say why v2 answers so.',
  test: 'Name the contract case that shows it.',
  signs: [{ at: [${JSON.stringify(place)}], kinds: ['${kind}']${values} }],
},`
}
