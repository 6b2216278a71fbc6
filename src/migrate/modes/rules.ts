import { isDeepStrictEqual } from 'node:util'
import { z } from 'zod'
import { isMode, MODES, SERVED_BY } from '../../serve/sides.ts'
import { MOST_ROLLOUTS, refused, rolloutSchema } from '../rollout/plan.ts'

const WRONG_MODE = `must be one of ${MODES.join(', ')}`
const mode = z.enum(MODES, refused(WRONG_MODE))

const WRONG_TESTER = 'must be a pattern, and not empty'
const WRONG_PATTERNS = 'must be a pattern or a list of patterns, none of them empty'
const pattern = z.string().min(1, WRONG_PATTERNS)

/** One pattern or several; `*` stands for any text. */
const patterns = z.union([pattern, z.array(pattern).min(1, WRONG_PATTERNS)], { error: WRONG_PATTERNS })

const WRONG_PERCENT = 'must be a number from 0 to 100'
const percent = z.number({ error: WRONG_PERCENT }).min(0, WRONG_PERCENT).max(100, WRONG_PERCENT)

/** A share of the callers gets another mode: a fixed one, or one that a rollout raises by itself. */
export const canarySchema = z.strictObject(
  { percent: percent.optional(), mode, rollout: rolloutSchema.optional() },
  refused('must be an object {"mode", "percent"} or {"mode", "rollout"}'),
)

const WRONG_FACTOR = 'must be a number from 1 to 1000'
const factor = z.number(refused(WRONG_FACTOR)).min(1, WRONG_FACTOR).max(1000, WRONG_FACTOR).optional()

/** How many times as long as v1 v2 may take, by quantile: `{ p99: 1.5 }`. */
const guardrail = z
  .strictObject({ p50: factor, p90: factor, p99: factor }, refused('must be an object {"p50", "p90", "p99"}'))
  .refine((given) => Object.values(given).some((one) => one !== undefined), 'needs p50, p90 or p99')

const canary = canarySchema.extend({ guardrail: guardrail.optional() }).superRefine((value, check) => {
  const { percent: fixed, rollout } = value
  if (fixed === undefined && rollout === undefined) wrong(check, 'percent', `${WRONG_PERCENT}, unless the canary has a rollout`)
  if (fixed !== undefined && rollout !== undefined)
    wrong(check, 'percent', 'must be left out beside a rollout, which sets the share itself')
  if (rollout && value.mode !== 'diff-v2') wrong(check, 'mode', 'must be diff-v2 beside a rollout: v1 must be asked too, to judge v2')
})

const rule = z
  .strictObject(
    {
      /** Operation ids: `registry.*`, `iam.groups.list`. */
      operations: patterns.default('*'),
      /** Hashes of callers, as `crosswalk clients` shows them, or subjects of their tokens. */
      clients: patterns.default('*'),
      mode,
      canary: canary.optional(),
    },
    refused('must be an object {"operations", "clients", "mode", "canary"}'),
  )
  .superRefine((value, check) => {
    if (value.canary?.guardrail && !isV2Canary(value)) {
      wrong(check, ['canary', 'guardrail'], 'must be left out unless v1 answers the others and v2 the share: it compares their times')
    }
    if (value.canary?.rollout === undefined || SERVED_BY[value.mode] === 'v1') return
    wrong(check, 'mode', 'must be v1 or diff-v1 beside a rollout, which moves callers from v1 to v2')
  })

function wrong(check: z.RefinementCtx, path: string | readonly (string | number)[], message: string): void {
  check.addIssue({ code: 'custom', path: [path].flat(), message })
}

/** The schema of the setting `modes`, and of `GET /modes` and `PUT /modes` on the admin port. */
export const modesSchema = z.strictObject(
  {
    /** Required: a change of one rule that omits the default must not move every other operation to v2. */
    default: z.enum(MODES, refused(WRONG_MODE)),
    /** The first rule that fits decides. */
    rules: z.array(rule, refused('must be a list of rules')).superRefine(checkRollouts).default([]),
    /** Clients that may choose a mode with the header `x-crosswalk-mode`. */
    testers: z.array(z.string(refused(WRONG_TESTER)).min(1, WRONG_TESTER), refused('must be a list of patterns')).default([]),
  },
  refused('must be an object {"default", "rules", "testers"}'),
)

/** The name of a rollout is its key. */
function checkRollouts(rules: readonly ModeRule[], check: z.RefinementCtx): void {
  const names = rules.map((one) => one.canary?.rollout?.name)
  for (const [at, name] of names.entries()) {
    if (name === undefined) continue
    const path = [at, 'canary', 'rollout', 'name']
    if (names.indexOf(name) < at) wrong(check, path, 'is the name of an earlier rollout too')
    if (names.slice(0, at).filter(Boolean).length === MOST_ROLLOUTS) wrong(check, path, `is one too many: ${MOST_ROLLOUTS} are allowed`)
  }
}

export type ModeRule = z.infer<typeof rule>
export type ModeRules = z.infer<typeof modesSchema>
/** Rules as people write them: what has a default may be absent. `{ default: 'v2', rules: [{ operations: 'iam.*', mode: 'diff-v1' }] }` */
export type WrittenModes = z.input<typeof modesSchema>

/** Returns one pattern or several as a list. */
export function patternsOf(patterns: string | readonly string[]): readonly string[] {
  return typeof patterns === 'string' ? [patterns] : patterns
}

/** v2 answers everything. */
export const ALL_V2: ModeRules = { default: 'v2', rules: [], testers: [] }

/** Reads a mode's name alone, as flags and the environment give it, as the default of all operations. */
export function asModeRules(value: unknown): unknown {
  if (isMode(value)) return { default: value }
  if (typeof value !== 'string' || !value.startsWith('{')) return value
  try {
    return JSON.parse(value)
  } catch {
    return value
  }
}

/** Reads the rules, or says in one sentence why they are wrong. */
export function readModeRules(value: unknown): ModeRules | { readonly problem: string } {
  const read = modesSchema.safeParse(value)
  if (read.success) return read.data
  const said = read.error.issues.map(({ path, message }) => (path.length > 0 ? `${path.join('.')} ${message}` : message))
  return { problem: `The modes are wrong: ${said.join('; ')}.` }
}

/** True if some request could be answered by v1 or compared with it. */
export function needV1({ default: byDefault, rules }: ModeRules): boolean {
  const modes = [byDefault, ...rules.flatMap(({ mode: base, canary }) => (canary ? [base, canary.mode] : [base]))]
  return modes.some((one) => one !== 'v2')
}

/** True if a rule serves a share of its callers from v2 and the others from v1. */
export function isV2Canary({ mode: base, canary }: Pick<ModeRule, 'mode' | 'canary'>): boolean {
  return canary !== undefined && SERVED_BY[canary.mode] === 'v2' && SERVED_BY[base] === 'v1'
}

/** Names what a rule gives v2, and no client: `rollout iam`, `the canary of iam.*`, `the mode of iam.*`. */
export function ownerText(rule: ModeRule): string {
  if (rule.canary?.rollout) return `rollout ${rule.canary.rollout.name}`
  return `the ${isV2Canary(rule) ? 'canary' : 'mode'} of ${nameOf(rule, false)}`
}

/** Parts that a line tells; the others are counted. A record has a bounded length, and so has a line that people read. */
const MOST_PARTS = 40
const MOST_CLIENTS = 5
const MOST_CHARACTERS = 120

/** Describes the rules in one line. The subjects of clients are told only if they may be shown. */
export function describeRules({ default: byDefault, rules, testers }: ModeRules, subjects = false): string {
  const parts = rules.map((rule) => `${nameOf(rule, subjects)} ${bodyOf(rule)}`)
  return listed([...parts, `everything else ${byDefault}`, ...(testers.length > 0 ? [testersOf(testers, subjects)] : [])])
}

/**
 * Describes in one line what differs between two sets of rules:
 * `iam.*: diff-v1 → diff-v1, 5 % diff-v2; default: unchanged`.
 */
export function describeChange(before: ModeRules, after: ModeRules, subjects = false): string {
  if (isDeepStrictEqual(before, after)) return 'nothing differs'
  const [old, fresh] = [byName(before.rules, subjects), byName(after.rules, subjects)]
  const names = [...new Set([...fresh.keys(), ...old.keys()])]
  const kept = (rules: ReadonlyMap<string, ModeRule>) => [...rules.keys()].filter((name) => old.has(name) && fresh.has(name))
  return listed([
    ...names.flatMap((name) => changeOf(name, old.get(name), fresh.get(name))),
    ...(isDeepStrictEqual(kept(old), kept(fresh)) ? [] : ['the rules are in another order']),
    ...(isDeepStrictEqual(before.testers, after.testers)
      ? []
      : [`testers: ${testersOf(before.testers, subjects)} → ${testersOf(after.testers, subjects)}`]),
    `default: ${before.default === after.default ? 'unchanged' : `${before.default} → ${after.default}`}`,
  ])
}

function changeOf(name: string, old: ModeRule | undefined, fresh: ModeRule | undefined): readonly string[] {
  if (isDeepStrictEqual(old, fresh)) return []
  const [from, to] = [old, fresh].map((rule) => (rule ? bodyOf(rule) : 'no rule'))
  if (from !== to) return [`${name}: ${from} → ${to}`]
  if (isDeepStrictEqual(old?.canary, fresh?.canary)) return [`${name}: other clients`]
  return [`${name}: ${to}, with other conditions`]
}

/** The rules by what they apply to. A second rule for the same gets a number. */
function byName(rules: readonly ModeRule[], subjects: boolean): ReadonlyMap<string, ModeRule> {
  const named = new Map<string, ModeRule>()
  const counts = new Map<string, number>()
  for (const rule of rules) {
    const name = nameOf(rule, subjects)
    const nth = (counts.get(name) ?? 0) + 1
    counts.set(name, nth)
    named.set(nth === 1 ? name : `${name} (${nth})`, rule)
  }
  return named
}

function nameOf({ operations, clients }: ModeRule, subjects: boolean): string {
  const who = clients === '*' ? '' : ` for ${clientsOf(patternsOf(clients), subjects)}`
  return cut(patternsOf(operations).join(' ')) + who
}

/** Hashes of callers name nobody, and are in records anyway. */
const HASH = /^[\da-f]{8,}\*?$/

function clientsOf(patterns: readonly string[], subjects: boolean): string {
  const shown = patterns.filter((pattern) => subjects || HASH.test(pattern)).slice(0, MOST_CLIENTS)
  const others = patterns.length - shown.length
  const rest = others === 1 ? 'another client' : `${others} other clients`
  if (shown.length === 0) return others === 1 ? '1 client' : `${others} clients`
  return cut(shown.join(', ')) + (others === 0 ? '' : ` and ${rest}`)
}

function testersOf(testers: readonly string[], subjects: boolean): string {
  return testers.length === 0 ? 'no testers' : `testers ${clientsOf(testers, subjects)}`
}

function bodyOf({ mode, canary }: ModeRule): string {
  return canary ? `${mode}, ${shareText(canary)} ${canary.mode}` : mode
}

function shareText({ percent, rollout, guardrail }: NonNullable<ModeRule['canary']>): string {
  const limits = Object.entries(guardrail ?? {}).map(([quantile, times]) => `, ${quantile} ≤ ${times} ×`)
  if (!rollout) return `${percent} %${limits.join('')}`
  return `rollout ${rollout.name} (${rollout.steps.map((one) => `${one.percent} %`).join(', ')}${limits.join('')})`
}

function listed(parts: readonly string[]): string {
  const shown = parts.length <= MOST_PARTS ? parts : [...parts.slice(0, MOST_PARTS), `and ${parts.length - MOST_PARTS} more`]
  return shown.join('; ')
}

function cut(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`
}

/** What answers of the admin port say beside the rules. A PUT ignores it, so that an answer can be changed and sent back. */
export const BESIDE_RULES: ReadonlySet<string> = new Set([
  'page',
  'circuits',
  'rollouts',
  'warnings',
  'drift',
  'version',
  'changed',
  'obeyed',
  'missing',
])
