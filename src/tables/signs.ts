import type { Condition, ParamCondition, ParamForm } from './query.ts'

/** The way in which two answers differ at one place. */
export const DIFFERENCE_KINDS = ['status', 'missing', 'extra', 'type', 'value', 'order'] as const
export type DifferenceKind = (typeof DIFFERENCE_KINDS)[number]

/** In `v2Shows`: any value, or none. It is equal in every copy of this module. */
export const anything: unique symbol = Symbol.for('crosswalk.anything')

/**
 * How a declared difference looks in the answers of v1 and v2 to one read. Every given member must match: the more is given, the less is
 * hidden. A request for an id that is not a uid is answered, and no other refusal of v1 is:
 *
 *     { at: [''], kinds: ['status'], v1: 400, v2: 200, when: [{ param: 'repo_id', isNot: 'uid' }] }
 */
export interface Sign {
  /** JSON Pointers in table names. The segment `*` matches any one segment, `**` any number. `''` is the whole answer, for `status`. */
  readonly at: readonly string[]
  readonly kinds: readonly DifferenceKind[]
  /** What the request must be. Absent = any request. */
  readonly when?: Condition
  /**
   * The request asks for a window that v1 ignores, in a list that v1 pages by token. A row is explained if it lies in the window of one
   * side alone; a member beside the rows, if the windows differ.
   */
  readonly otherWindow?: true
  /** The exact value on that side; for `status` its HTTP status. Absent = any value. */
  readonly v1?: unknown
  readonly v2?: unknown
  /** The values that go together, v1's first: `[['TAG_IN_GRACE', 'TAG_ACTIVE']]`. */
  readonly pairs?: readonly (readonly [v1: unknown, v2: unknown])[]
  /** v2 counts some, but fewer than v1. A count of 0 is not covered: it would hide a v2 that has lost everything. */
  readonly v2Counts?: 'fewer'
  /** v2 shows a list that is not empty, and each item has one of these values in this member. */
  readonly v2Items?: Readonly<Record<string, readonly unknown[]>>
  /**
   * All that v2 shows: in the object that lacks a member, or in its whole answer if the status differs. `{ id: anything }` says that all
   * members except the id are missing together.
   */
  readonly v2Shows?: Readonly<Record<string, unknown>>
  /** What v1 shows the same caller in another read. Crosswalk makes that read before it expects such a difference. */
  readonly provenBy?: Proof
}

/** What v1 must show of a resource: `{ read: 'iam.roles.list', uid: 'id', shows: 'nothing' }` for a role that the caller may not read. */
export interface Proof {
  /** The list that shows the resource. */
  readonly read: string
  /** The member with the uid of the resource, as sent, in the object that has or lacks what differs. */
  readonly uid: string
  /** The values of members, as sent; or `nothing`, because the caller may not read the resource. */
  readonly shows: 'nothing' | Readonly<Record<string, unknown>>
  /** The list has the same rows, so that it is asked for with the filters of the request. */
  readonly filtered?: true
}

const KINDS: Readonly<Record<Exclude<DifferenceKind, 'status'>, string>> = {
  missing: 'missing',
  extra: 'extra',
  type: 'another type',
  value: 'another value',
  order: 'another order',
}

/** Describes a sign in Markdown: `If the request has skip that is not a whole number: HTTP 200 in v1 and 400 in v2`. */
export function describeSign(sign: Sign): string {
  const said = [placeOf(sign), pairsOf(sign), countsOf(sign), itemsOf(sign), shownOf(sign), windowOf(sign), proofOf(sign)]
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

function proofOf({ provenBy }: Sign): string {
  if (!provenBy) return ''
  const { read, uid, shows } = provenBy
  const members = shows === 'nothing' ? [] : Object.entries(shows).map(([name, value]) => `\`${name}\` = ${code(value)}`)
  const shown = shows === 'nothing' ? 'does not show this' : `shows ${members.join(' and ')} for this`
  return `${read} of v1 ${shown} \`${uid}\` to the caller`
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

/** A difference that an operator knows and accepts for a time (setting `diff.ignore`). It becomes a sign like those of the tables. */
export interface IgnoreRule {
  /** In the code `ignored:<name>`. Absent = its number in the list, from 1. */
  readonly name?: string | undefined
  /** Operation ids, or patterns with `*`. */
  readonly operations: string | readonly string[]
  /** A place of the answer in table names: `/items/*` stands for every row, `''` for the status. */
  readonly at: string
  /** Absent = the status for `''`, and every other kind elsewhere. */
  readonly kinds?: readonly DifferenceKind[] | undefined
  readonly when?: Condition | undefined
  /** The exact value on that side. A rule about the status gives both. */
  readonly v1?: unknown
  readonly v2?: unknown
  readonly reason: string
  /** Milliseconds since 1970 from which it explains nothing. */
  readonly until: number
}
