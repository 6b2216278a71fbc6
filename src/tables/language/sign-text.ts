import type { Condition, ParamCondition, ParamForm } from './condition.ts'
import { anything, type DifferenceKind, type Sign } from './sign.ts'

const KINDS: Readonly<Record<Exclude<DifferenceKind, 'status'>, string>> = {
  missing: 'missing',
  extra: 'extra',
  type: 'another type',
  value: 'another value',
  order: 'another order',
}

/** Describes a sign in Markdown: `If the request has skip that is not a whole number: HTTP 200 in v1 and 400 in v2`. */
export function describeSign(sign: Sign): string {
  const said = [placeOf(sign), pairsOf(sign), countsOf(sign), itemsOf(sign), shownOf(sign), windowOf(sign)]
    .filter((part) => part !== '')
    .join('; ')
  return (sign.when ? `If the request has ${describeCondition(sign.when)}: ` : '') + said
}

function placeOf(sign: Sign): string {
  if (sign.kinds.includes('status')) return `HTTP ${sign.v1 ?? 'any'} in v1 and ${sign.v2 ?? 'any'} in v2`
  const kinds = sign.kinds.map((kind) => (kind === 'status' ? '' : KINDS[kind])).join(' or ')
  const sides = (['v1', 'v2'] as const).filter((side) => Object.hasOwn(sign, side)).map((side) => `, ${code(sign[side])} in ${side}`)
  return `${codes(sign.at, 'and')}: ${kinds}${sides.join('')}`
}

function pairsOf({ pairs = [] }: Sign): string {
  return pairs.length === 0 ? '' : `from v1 to v2 ${pairs.map(([v1, v2]) => `${code(v1)} → ${code(v2)}`).join(' or ')}`
}

function countsOf({ v2Counts }: Sign): string {
  return v2Counts ? 'v2 counts fewer than v1, and more than none' : ''
}

function itemsOf({ v2Items = {} }: Sign): string {
  return Object.entries(v2Items)
    .map(([name, values]) => `items of v2 with \`${name}\` ${values.map(code).join(' or ')}`)
    .join(' and ')
}

function shownOf({ v2Shows }: Sign): string {
  if (!v2Shows) return ''
  const members = Object.entries(v2Shows).map(([name, value]) => (value === anything ? `\`${name}\`` : `\`${name}\` = ${code(value)}`))
  return `v2 shows nothing but ${members.join(', ')}`
}

function windowOf({ otherWindow }: Sign): string {
  return otherWindow ? 'because v2 follows a window that v1 ignores' : ''
}

const FORMS: Readonly<Record<ParamForm, string>> = {
  count: 'a whole number',
  positive: 'a number above 0',
  uid: 'a uid',
}

/** Describes a condition so that "if the request has" can stand before it. */
function describeCondition(condition: Condition): string {
  return condition.map(describeParam).join(' and ')
}

function describeParam({ param, is, isNot }: ParamCondition): string {
  const values = (wanted: readonly string[] | ParamForm) => (typeof wanted === 'string' ? FORMS[wanted] : codes(wanted, 'or'))
  const name = codes([param].flat(), 'or')
  return name + (is === undefined ? '' : ` that is ${values(is)}`) + (isNot === undefined ? '' : ` that is not ${values(isNot)}`)
}

function codes(names: readonly string[], last: string): string {
  const all = names.map((name) => `\`${name}\``)
  return all.length < 2 ? all.join('') : `${all.slice(0, -1).join(', ')} ${last} ${all.at(-1)}`
}

function code(value: unknown): string {
  return `\`${JSON.stringify(value)}\``
}
