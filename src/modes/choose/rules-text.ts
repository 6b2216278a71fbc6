import { isDeepStrictEqual } from 'node:util'
import { type ModeRule, type ModeRules, patternsOf } from './rules.ts'

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

function shareText({ percent, rollout }: NonNullable<ModeRule['canary']>): string {
  if (!rollout) return `${percent} %`
  return `rollout ${rollout.name} (${rollout.steps.map((one) => `${one.percent} %`).join(', ')})`
}

function listed(parts: readonly string[]): string {
  const shown = parts.length <= MOST_PARTS ? parts : [...parts.slice(0, MOST_PARTS), `and ${parts.length - MOST_PARTS} more`]
  return shown.join('; ')
}

function cut(text: string): string {
  return text.length <= MOST_CHARACTERS ? text : `${text.slice(0, MOST_CHARACTERS)}…`
}
