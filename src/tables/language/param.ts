import type { EnumMap } from './enums.ts'

/** One v1 query parameter and the v2 parameter that it becomes. */
export interface Param {
  readonly v2: string
  readonly kind: 'text' | 'flag' | 'time' | 'int' | 'choice'
  /** Every occurrence counts; the parameters of the other kind may be given once. */
  readonly many?: boolean
  /** v2 turned the meaning and the default round: send `not v1`, always (facts §4.2). */
  readonly negate?: boolean
  readonly of?: EnumMap
  /** The zero value asks for nothing: it is not sent. */
  readonly zeroIsNone?: true
  /** Why v2 cannot honour a flag: a request with true is v1's, and without a v1 service INVALID_ARGUMENT; false is what v2 does anyway. */
  readonly v1Only?: string
}

export type Params = Readonly<Record<string, Param | string>>

/** A boolean parameter; a row of a query is a v1 parameter and the v2 one: `{ deprecated: flagParam('deprecated') }`. */
export const flagParam = (v2: string): Param => ({ v2, kind: 'flag' })

/** A parameter that may be given many times: `{ names: textsParam('names') }`. */
export const textsParam = (v2: string): Param => ({ v2, kind: 'text', many: true })

/** An RFC 3339 time: `{ since: timeParam('since') }`. */
export const timeParam = (v2: string): Param => ({ v2, kind: 'time' })

/** A whole number of 32 bits: `{ epoch: intParam('epoch') }`. */
export const intParam = (v2: string): Param => ({ v2, kind: 'int' })

/** An enum value, by name or number: `{ kind: choiceParam('kind', orgKind) }`. */
export const choiceParam = (v2: string, of: EnumMap): Param => ({ v2, kind: 'choice', of })

/** Enum values: `{ ecosystems: choicesParam('ecosystems', ecosystem) }`. */
export const choicesParam = (v2: string, of: EnumMap): Param => ({ v2, kind: 'choice', of, many: true })

/** A flag that v2 cannot honour, and why: `{ include_upstream: v1OnlyFlag('v2 lists built artifacts alone') }`. */
export const v1OnlyFlag = (because: string): Param => ({ v2: '', kind: 'flag', v1Only: because })

/** A flag whose meaning v2 turned round: `{ exclude_referrers: negated('include_referrers') }`. */
export const negated = (v2: string): Param => ({ v2, kind: 'flag', negate: true })

/** The five members of the uidp filter, the same in both versions (facts §10.4): `query: { ...scope, name: 'name' }`. */
export const scope: Params = {
  'uidp.ancestors_of': 'uidp.ancestors_of',
  'uidp.descendants_of': 'uidp.descendants_of',
  'uidp.children_of': 'uidp.children_of',
  'uidp.in_root': flagParam('uidp.in_root'),
  'uidp.ids': textsParam('uidp.ids'),
}

export function asParam(row: Param | string): Param {
  return typeof row === 'string' ? { v2: row, kind: 'text' } : row
}
