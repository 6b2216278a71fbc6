import { ANY, answerForm, ERROR_FORM, type Form, formAt, segmentsOf } from '../migrate/compare/compare.ts'
import { type DescribedDeclaration, ignoredDifference } from '../migrate/compare/expected.ts'
import { suggestion } from '../tables/check.ts'
import { covers, type Operation } from '../tables/operation.ts'
import { paramsOf } from '../tables/query.ts'
import type { IgnoreRule } from '../tables/signs.ts'
import { operationsOf, type Tables } from '../tables/tables.ts'
import { DIALECTS } from '../tables/uid.ts'

export type Declarations = { readonly declarations: readonly DescribedDeclaration[] } | { readonly problem: string }

/** Returns the differences of the tables and those that the operator ignores, or a sentence about a rule that fits nothing. */
export function declarationsWith(rules: readonly IgnoreRule[], tables: Tables): Declarations {
  const compared = operationsOf(tables).filter(({ begin }) => begin !== undefined)
  const names = rules.map(({ name }, nth) => name ?? String(nth + 1))
  const problems = rules.map((rule, nth) => problemOf(rule, names.indexOf(names[nth] ?? '') === nth, compared))
  const nth = problems.findIndex((problem) => problem !== undefined)
  if (nth >= 0) return { problem: `diff.ignore.${nth}${problems[nth]}` }
  return { declarations: [...tables.differences, ...rules.map((rule, at) => ignoredDifference(rule, names[at] ?? ''))] }
}

/** Says what is wrong with a rule, as the end of a sentence that begins with its place in the list. */
function problemOf(rule: IgnoreRule, isFirst: boolean, compared: readonly Operation[]): string | undefined {
  const patterns = [rule.operations].flat()
  const covered = compared.filter(({ id }) => patterns.some((pattern) => covers(pattern, id)))
  if (!isFirst) return '.name is the name of an earlier rule too; give each rule a name of its own.'
  return wrongPattern(patterns, compared) ?? wrongStatus(rule) ?? wrongPlace(rule, covered) ?? wrongParameter(rule, covered)
}

function wrongPattern(patterns: readonly string[], compared: readonly Operation[]): string | undefined {
  const ids = compared.map(({ id }) => id)
  const wrong = patterns.find((pattern) => !ids.some((id) => covers(pattern, id)))
  if (wrong === undefined) return undefined
  return `.operations: "${wrong}" fits no operation that v2 serves; ${suggestion(wrong, ids, 'crosswalk operations lists them.')}`
}

/** A difference of status hides the whole answer, so that such a rule must be exact. */
function wrongStatus(rule: IgnoreRule): string | undefined {
  const { at, kinds = [] } = rule
  if (at !== '') return kinds.includes('status') ? '.kinds: status is the kind of the place "" alone; leave it out.' : undefined
  if (kinds.some((kind) => kind !== 'status'))
    return '.kinds: the place "" has the kind status alone; name a place below it for other kinds.'
  return typeof rule.v1 === 'number' && typeof rule.v2 === 'number' ? undefined : ' is about the status, so it must give both: v1 and v2.'
}

function wrongPlace({ at, operations }: IgnoreRule, covered: readonly Operation[]): string | undefined {
  const forms = [ERROR_FORM, ...covered.flatMap((operation) => DIALECTS.map((dialect) => answerForm(operation, dialect)))]
  const segments = segmentsOf(at)
  const known = (length: number) => forms.flatMap((form) => formAt(form, segments.slice(0, length)) ?? [])
  if (known(segments.length).length > 0) return undefined
  const length = segments.findLastIndex((_, nth) => known(nth).length > 0)
  const above = `/${segments.slice(0, length).join('/')}`
  const there = known(length).flatMap(namesBelow)
  const members = [...new Set(there)]
  const list = members.length === 0 ? 'nothing is below it' : `there are ${members.join(', ')}`
  return `.at: no answer of ${[operations].flat().join(', ')} has "${at}"; ${suggestion(segments[length] ?? '', members, `at "${above}" ${list}.`)}`
}

function namesBelow(form: Form): readonly string[] {
  if (form.kind === 'object') return [...form.members.values()].map(({ name }) => name)
  return form.kind === 'list' || form.kind === 'map' ? [ANY] : []
}

function wrongParameter({ when = [], operations }: IgnoreRule, covered: readonly Operation[]): string | undefined {
  const known = [...new Set(covered.flatMap(paramsOf))]
  const wrong = when.flatMap(({ param }) => param).find((name) => !known.includes(name))
  if (wrong === undefined) return undefined
  const fallback = `the parameters are ${known.join(', ')}.`
  return `.when: ${[operations].flat().join(', ')} has no parameter "${wrong}"; ${suggestion(wrong, known, fallback)}`
}
